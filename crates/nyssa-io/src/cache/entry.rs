//! Writes the folder of one resource: the description of the resource, an index, and the data file that it
//! points into.
//!
//! An entry only grows. Bytes are written to the data file before their records are written to the index, under
//! a lock of the index. A process can therefore be killed at any moment: bytes without a record are never read,
//! and a record that is not complete is ignored, and cut off by the next process that adds something. Readers
//! take no lock.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::thread;
use std::time::{Instant, SystemTime};

use bytes::Bytes;

use super::blocks::Blocks;
use super::identity::Identity;
use super::index::{Index, RangePart};
use super::record::{BLOCK_BYTES, Form, RECORD_BYTES, Record};
use super::trusted;
use crate::heuristics::cache;
use crate::local::{Lock, is_at, is_cached, lock, write_all_at};

/// The name of the file that describes the resource. The time of its last change is the time of the last use.
pub(super) const ABOUT: &str = "about.json";
/// The name of the index.
pub(super) const INDEX: &str = "index";
/// The name of the data file.
pub(super) const DATA: &str = "data";
/// The largest size of an index of any resource, beyond [`INDEX_PART`].
const FEW_INDEX_BYTES: u64 = 16 << 20;
/// The bytes of a resource for each byte of its index: a record for each KiB.
const INDEX_PART: u64 = 16;
/// The number of bytes of an index that are read at once.
const INDEX_BYTES: u64 = 64 << 14;

/// The state of the folder of one resource, as this process knows it.
pub(super) struct Entry {
    pub path: PathBuf,
    identity: Identity,
    seed: u64,
    index: File,
    data: File,
    loaded: RwLock<Loaded>,
    /// A lock that is held by the thread that adds something.
    adding: Mutex<()>,
}

#[derive(Default)]
struct Loaded {
    index: Index,
    /// The number of bytes of the index that were read.
    read: u64,
    /// The number of records in them that are damaged.
    damaged: u64,
}

/// The bytes to add, and the record that describes them. Its place is not known yet.
pub(super) struct New {
    pub record: Record,
    pub bytes: Bytes,
}

impl New {
    /// Makes the record for bytes of a range of the resource.
    pub(super) fn stored(range: &Range<u64>, bytes: Bytes) -> Self {
        let length = range.end - range.start;
        let (form, place, checksum) = (Form::Stored, 0, 0);
        let record = Record {
            form,
            offset: range.start,
            length,
            place,
            bytes: length,
            size: length,
            checksum,
        };
        Self { record, bytes }
    }

    /// Makes the record for the unpacked form of a range, which has `size` bytes before it is compressed.
    pub(super) fn unpacked(range: &Range<u64>, form: Form, size: u64, bytes: Bytes) -> Self {
        let (offset, length, place, checksum) = (range.start, range.end - range.start, 0, 0);
        let record =
            Record { form, offset, length, place, bytes: bytes.len() as u64, size, checksum };
        Self { record, bytes }
    }
}

/// The result of adding bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// The bytes are in the folder now.
    Done,
    /// Other processes held the lock for too long. Nothing was added.
    Busy,
    /// The folder was removed, and perhaps made again.
    Gone,
    /// There is no space for the bytes.
    Full,
    /// The file system has no locks.
    NoLocks,
}

impl Entry {
    /// Opens the folder of a resource in the cache folder `cache`, and makes it if `writes`.
    ///
    /// # Errors
    /// The folder cannot be made or read; `InvalidData` if it belongs to another resource.
    pub(super) fn open(cache: &Path, identity: Identity, writes: bool) -> io::Result<Self> {
        let path = cache.join(identity.folder());
        if writes {
            trusted::make_folder(&path)?;
        }
        trusted::check_folder(&path)?;
        match read_about(&path) {
            Some(other) if other != identity => {
                return Err(io::Error::new(ErrorKind::InvalidData, "it is of another resource"));
            }
            Some(_) => {}
            None if writes => write_about(&path, &identity)?,
            None => {}
        }
        let open = |name| open_file(&path.join(name), writes);
        let (index, data) = (open(INDEX)?, open(DATA)?);
        let entry = Self::of(path, identity, index, data)?;
        entry.touch();
        Ok(entry)
    }

    /// Opens the folder of a resource to examine it. This does not count as a use.
    ///
    /// # Errors
    /// `NotFound` if there is none; the folder cannot be read.
    pub(super) fn look(cache: &Path, identity: Identity) -> io::Result<Self> {
        let path = cache.join(identity.folder());
        trusted::check_folder(&path)?;
        let (index, data) = (trusted::open(&path.join(INDEX))?, trusted::open(&path.join(DATA))?);
        Self::of(path, identity, index, data)
    }

    fn of(path: PathBuf, identity: Identity, index: File, data: File) -> io::Result<Self> {
        // This is the lower half of the key.
        let seed = identity.key() as u64;
        let (loaded, adding) = (RwLock::default(), Mutex::default());
        let entry = Self { path, identity, seed, index, data, loaded, adding };
        entry.refresh()?;
        Ok(entry)
    }

    /// Records that the resource is in use now. A process that may only read the cache cannot record it.
    pub(super) fn touch(&self) {
        let about = trusted::options().write(true).open(self.path.join(ABOUT));
        let _ = about.and_then(|about| about.set_modified(SystemTime::now()));
    }

    /// Reads the records that were added since the last call. Returns true if there are any.
    ///
    /// # Errors
    /// The file of the records cannot be read.
    pub(super) fn refresh(&self) -> io::Result<bool> {
        let end = self.index.metadata()?.len();
        if end > most_index_bytes(self.identity.size) {
            let why = "its index is larger than one of its file can be";
            return Err(io::Error::new(ErrorKind::InvalidData, why));
        }
        if end.saturating_sub(self.loaded().read) < RECORD_BYTES as u64 {
            return Ok(false);
        }
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = Vec::new();
        while loaded.read < end {
            buffer.clear();
            let wanted = (end - loaded.read).min(INDEX_BYTES);
            let mut rest = At { file: &self.index, place: loaded.read }.take(wanted);
            rest.read_to_end(&mut buffer)?;
            let records = buffer.chunks_exact(RECORD_BYTES);
            if records.len() == 0 {
                break;
            }
            loaded.read += (records.len() * RECORD_BYTES) as u64;
            for record in records {
                match Record::decode(record, self.seed, self.identity.size) {
                    Some(record) => loaded.index.insert(record),
                    None => loaded.damaged += 1,
                }
            }
        }
        Ok(true)
    }

    /// Divides ranges into parts that are kept and parts that are not.
    pub(super) fn parts(&self, ranges: &[Range<u64>]) -> Vec<Vec<RangePart>> {
        let loaded = self.loaded();
        ranges.iter().map(|range| loaded.index.parts(range)).collect()
    }

    /// Returns whether the system has the bytes of a plan in its memory, and needs no disk to read them.
    pub(super) fn is_in_memory(&self, units: &[Vec<Range<u64>>]) -> bool {
        let ranges = || units.iter().flatten().filter(|range| !range.is_empty());
        let step = ranges().count().div_ceil(cache::LOOKS).max(1);
        let places = self.with_index(|index| {
            let place = |range: &Range<u64>| match index.parts(range).first() {
                Some(RangePart::Known(_, record)) => Some(record.places()),
                _ => None,
            };
            ranges().step_by(step).filter_map(place).collect::<Vec<_>>()
        });
        is_cached(&self.data, &[places])
    }

    /// Calls `look` with the index.
    pub(super) fn with_index<R>(&self, look: impl FnOnce(&Index) -> R) -> R {
        look(&self.loaded().index)
    }

    /// Returns the number of records that are damaged.
    pub(super) fn damaged_records(&self) -> u64 {
        self.loaded().damaged
    }

    /// Reads the bytes of records. Records whose bytes are damaged are forgotten.
    pub(super) fn read(&self, records: Vec<Record>) -> Blocks {
        let blocks = Blocks::read(&self.data, records);
        if !blocks.damaged().is_empty() {
            let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
            blocks.damaged().iter().for_each(|record| loaded.index.forget(record));
        }
        blocks
    }

    /// Adds the bytes and records that are not in the folder yet. `room` tells whether so many bytes may be
    /// added.
    ///
    /// # Errors
    /// The folder cannot be written, for example on a full disk. In this case nothing was added.
    pub(super) fn add(&self, new: &[New], room: impl FnOnce(u64) -> bool) -> io::Result<Added> {
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let open = |name| trusted::options().write(true).open(self.path.join(name));
        let (index, data) = match (open(INDEX), open(DATA)) {
            (Ok(index), Ok(data)) => (index, data),
            (Err(error), _) | (_, Err(error)) if error.kind() == ErrorKind::NotFound => {
                return Ok(Added::Gone);
            }
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        match locked(&index) {
            Lock::Ours => {}
            Lock::Taken => return Ok(Added::Busy),
            Lock::Unknown => return Ok(Added::NoLocks),
        }
        // Closing the file would not unlock it while a child of this process has it.
        let _locked = Locked(&index);
        let is_same = is_at(&self.index, &self.path.join(INDEX))
            && is_at(&self.data, &self.path.join(DATA))
            && is_at(&index, &self.path.join(INDEX));
        if !is_same {
            return Ok(Added::Gone);
        }
        self.refresh()?;
        let new = self.unknown(new);
        let bytes = new.iter().map(|item| item.bytes.len() + RECORD_BYTES).sum::<usize>() as u64;
        if new.is_empty() {
            return Ok(Added::Done);
        }
        let index_bytes = index.metadata()?.len() + (new.len() * RECORD_BYTES) as u64;
        if index_bytes > most_index_bytes(self.identity.size) || !room(bytes) {
            return Ok(Added::Full);
        }
        let records = write(&index, &data, self.seed, &new)?;
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        loaded.read += (records.len() * RECORD_BYTES) as u64;
        records.into_iter().for_each(|record| loaded.index.insert(record));
        Ok(Added::Done)
    }

    /// Returns the blocks and the unpacked forms in `new` that are not kept yet.
    fn unknown(&self, new: &[New]) -> Vec<New> {
        let loaded = self.loaded();
        let mut unknown = Vec::new();
        for item in new {
            let range = item.record.range();
            if item.record.form != Form::Stored {
                if loaded.index.unpacked(&range).is_none() {
                    unknown.push(New { record: item.record, bytes: item.bytes.clone() });
                }
                continue;
            }
            for part in loaded.index.parts(&range) {
                let RangePart::Missing(part) = part else { continue };
                let starts = (part.start..part.end).step_by(BLOCK_BYTES as usize);
                unknown.extend(starts.map(|start| {
                    let block = start..part.end.min(start + BLOCK_BYTES);
                    // These numbers are at most the length of bytes in memory.
                    let within =
                        (block.start - range.start) as usize..(block.end - range.start) as usize;
                    New::stored(&block, item.bytes.slice(within))
                }));
            }
        }
        unknown
    }

    fn loaded(&self) -> RwLockReadGuard<'_, Loaded> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the largest size of the index of a resource of `size` bytes. It is in memory, so a larger one is damaged.
fn most_index_bytes(size: u64) -> u64 {
    FEW_INDEX_BYTES + size / INDEX_PART
}

/// Writes bytes at the end of the data file, and then their records at the end of the index. If something
/// cannot be written, the bytes that were written are removed again.
fn write(index: &File, data: &File, seed: u64, new: &[New]) -> io::Result<Vec<Record>> {
    let torn = index.metadata()?.len();
    let (end, start) = (torn - torn % RECORD_BYTES as u64, data.metadata()?.len());
    if end != torn {
        index.set_len(end)?;
    }
    let mut place = start;
    let mut records = Vec::with_capacity(new.len());
    let mut encoded = Vec::with_capacity(new.len() * RECORD_BYTES);
    for item in new {
        let checksum = xxhash_rust::xxh3::xxh3_64(&item.bytes);
        let record = Record { place, checksum, ..item.record };
        place += record.bytes;
        encoded.extend_from_slice(&record.encode(seed));
        records.push(record);
    }
    let written = write_bytes(data, new, start).and_then(|()| write_all_at(index, &encoded, end));
    if let Err(error) = written {
        let _ = index.set_len(end);
        let _ = data.set_len(start);
        return Err(error);
    }
    Ok(records)
}

/// Writes the bytes one after the other.
fn write_bytes(data: &File, new: &[New], mut place: u64) -> io::Result<()> {
    for item in new {
        write_all_at(data, &item.bytes, place)?;
        place += item.bytes.len() as u64;
    }
    Ok(())
}

/// Locks a file, and waits for a short time while others have it locked.
fn locked(file: &File) -> Lock {
    let end = Instant::now() + cache::PATIENCE;
    loop {
        match lock(file) {
            Lock::Taken if Instant::now() < end => thread::sleep(cache::PAUSE),
            done => return done,
        }
    }
}

struct Locked<'a>(&'a File);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// A reader of a file from a place on, which does not change the position that other users of the file share.
struct At<'a> {
    file: &'a File,
    place: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = crate::local::read_at(self.file, buffer, self.place)?;
        self.place += size as u64;
        Ok(size)
    }
}

/// Reads the description of the resource of a folder. Returns `None` if there is none, or if it is damaged.
pub(super) fn read_about(folder: &Path) -> Option<Identity> {
    trusted::check_folder(folder).ok()?;
    serde_json::from_slice(&trusted::read(&folder.join(ABOUT)).ok()?).ok()
}

/// Writes the description of a resource. Other processes see all of it or nothing.
fn write_about(folder: &Path, identity: &Identity) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".about-").tempfile_in(folder)?;
    serde_json::to_writer_pretty(&mut file, identity)?;
    let_others_read(file.as_file())?;
    file.persist(folder.join(ABOUT)).map_err(|error| error.error)?;
    Ok(())
}

/// Lets all users read a new file who may read the folder of the cache.
pub(super) fn let_others_read(_file: &File) -> io::Result<()> {
    #[cfg(unix)]
    _file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    Ok(())
}

fn open_file(path: &Path, writes: bool) -> io::Result<File> {
    match trusted::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound && writes => {
            trusted::options().read(true).write(true).create(true).truncate(false).open(path)
        }
        opened => opened,
    }
}
