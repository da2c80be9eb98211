//! Adds to an existing file in place.
//!
//! ```text
//! 1. behind the old end   new records, key lists, free list          sync
//! 2. byte 0               header: new end, new free list             sync
//! 3. directory record     position of its new key list               sync
//! ```
//!
//! Before step 2 the file is unchanged, with unused bytes after its end. After step 2 it has an unused gap.
//! Step 3 is the commit. Steps 2 and 3 each change bytes within one sector of the disk, so each is atomic. No
//! old record is overwritten. The records that are replaced stay in the file, and are not listed as free,
//! because they are in use until the commit.

use bstr::ByteSlice;
use nyssa_io::Sink;

use super::buffered::Buffered;
use super::datime::datime;
use super::directory::{self, Directory};
use super::existing::{ExistingFile, InfoRecord};
use super::file::RootFileWriter;
use super::header::{BEGIN, Header};
use super::key::Key;
use super::options::FileOptions;
use super::patch::Patch;
use crate::compression::Compression;
use crate::error::{Error, Result, ResultExt};
use crate::fetch::read_one;
use crate::rootfile::encode::LARGE_FILE;
use crate::rootfile::name::name_of;
use crate::rootfile::{FreeSegment, KeyEntry, RootFile};

impl RootFileWriter {
    /// Opens `file` for an update; `sink` changes it in place, see [`nyssa_io::Update`]. [`RootFileWriter::finish`]
    /// adds the written objects to the file. A crash at any moment leaves the old file or the new file. Only
    /// compression and time of the `options` are used.
    ///
    /// # Errors
    /// `Unsupported` for files of a form that cannot be changed in place; an error if the file is damaged or cannot
    /// be read.
    pub fn update(sink: Box<dyn Sink>, file: &RootFile, options: FileOptions) -> Result<Self> {
        Self::update_file(sink, file, options).in_file(file.name())
    }

    fn update_file(sink: Box<dyn Sink>, file: &RootFile, options: FileOptions) -> Result<Self> {
        let header = file.header().clone();
        if file.was_recovered() {
            return Err(Error::unsupported(
                "the file was not closed: convert or rewrite what is in it to a new one first",
            ));
        }
        if header.begin != BEGIN {
            return Err(Error::unsupported(format!(
                "the first record lies at byte {}, where ROOT puts it at {BEGIN}: copy the file first",
                header.begin
            )));
        }
        let start = read_one(file.source(), 0..BEGIN)?.to_vec();
        let info = file.streamer_info().in_object("StreamerInfo")?;
        let info = info.map(|(payload, keylen)| InfoRecord {
            payload,
            keylen,
            large: Vec::new(),
            changed: false,
        });
        let free = file.free_segments()?;
        let out = Buffered::new(sink, header.end, options.write_behind);
        let datime = datime(options.time)?;
        let existing = Some(ExistingFile { header, start, free });
        let mut writer = Self { out, options, datime, directories: Vec::new(), info, existing };
        writer.load(file)?;
        Ok(writer)
    }

    /// Reads all directories of the file.
    fn load(&mut self, file: &RootFile) -> Result<()> {
        let header = file.header();
        let begin = read_one(file.source(), BEGIN..BEGIN + u64::from(header.nbytes_name))?;
        let top = KeyEntry::parse(&mut crate::cursor::Cursor::new(&begin, BEGIN))?;
        let record = BEGIN + u64::from(header.nbytes_name);
        self.load_directory(file, &top, None, BEGIN, record)?;
        self.directories[0].uuid = header.uuid;
        for entry in file.walk()? {
            let parent = self.directories.iter().position(|dir| dir.seek == entry.parent);
            let parent = parent.ok_or_else(|| {
                Error::unsupported(
                    "a key that does not say which directory it is in: copy the file first",
                )
                .at(|place| place.object = Some(entry.path.clone()))
            })?;
            self.directories[parent].keys.push(Key::of(&entry).in_object(&entry.path)?);
            if entry.is_directory() {
                let record = entry.seek + u64::from(entry.keylen);
                self.load_directory(file, &entry, Some(parent), entry.seek, record)?;
            }
        }
        Ok(())
    }

    fn load_directory(
        &mut self,
        file: &RootFile,
        entry: &KeyEntry,
        parent: Option<usize>,
        seek: u64,
        record: u64,
    ) -> Result<()> {
        let end = file.header().end.min(record + directory::RECORD_SIZE as u64);
        let stored = read_one(file.source(), record..end)?.to_vec();
        self.directories.push(Directory {
            name: entry.name.clone(),
            title: entry.title.clone(),
            datime: entry.datime,
            parent,
            seek,
            record,
            uuid: [0; 16],
            keys: Vec::new(),
            stored: Some(stored),
            changed: false,
            deleted: false,
        });
        Ok(())
    }

    /// Writes an object that replaces the object with the same name and cycle. `make` makes its bytes for a key of a
    /// given size.
    ///
    /// # Errors
    /// `NotFound` when there is no such object; `LimitExceeded` for objects beyond 2 GiB; an error if the sink cannot
    /// be written.
    pub fn replace_object(
        &mut self,
        dir: &str,
        (name, cycle): (&str, u16),
        make: impl FnOnce(usize) -> Result<Vec<u8>>,
        compression: Compression,
    ) -> Result<()> {
        let missing = || Error::not_found(format!("there is no {name};{cycle} to replace"));
        let dir = self.directory_at(dir).ok_or_else(missing)?;
        let bytes = name_of(name);
        let same = |key: &Key| key.name == bytes && key.cycle == cycle;
        let place = self.directories[dir].keys.iter().position(same).ok_or_else(missing)?;
        let Key { class, title, parent, .. } = self.directories[dir].keys[place].clone();
        let key = self.key(&class, bytes.as_bstr(), title.as_bstr(), parent, cycle, 0);
        let payload = make(key.size())?;
        let key = self.append_object(key, &payload, compression)?;
        self.directories[dir].keys[place] = key;
        self.directories[dir].changed = true;
        Ok(())
    }

    /// Does the three steps, or nothing if nothing changed. The caller commits the sink.
    pub(super) fn commit_update(&mut self, existing: &ExistingFile) -> Result<()> {
        if !self.directories.iter().any(|directory| directory.changed) {
            return Ok(());
        }
        let mut patches = Vec::new();
        for index in 0..self.directories.len() {
            let directory = &self.directories[index];
            match &directory.stored {
                _ if directory.deleted => {}
                None => self.finish_directory(index)?,
                Some(_) if directory.changed => {
                    let (at, size) = self.key_list(index)?;
                    patches.extend(self.directories[index].patches(at, size)?);
                }
                Some(_) => {}
            }
        }
        let info = match existing.header.seek_info {
            seek if seek != 0 && !self.info.as_ref().is_some_and(|info| info.changed) => {
                (seek, existing.header.nbytes_info as usize)
            }
            _ => self.write_streamer_info()?,
        };
        let gaps = existing.free.iter().filter(|gap| gap.last < existing.header.end);
        let gaps: Vec<FreeSegment> = gaps.copied().collect();
        let free = self.free_segments(&gaps)?;
        let end = self.out.end();
        let header = Header {
            version: existing.header.version,
            large: existing.header.large || end > LARGE_FILE,
            end,
            free,
            free_count: gaps.len() + 1,
            nbytes_name: existing.header.nbytes_name as usize,
            compression: existing.header.compression.cast_unsigned(),
            info,
            uuid: existing.header.uuid,
        };
        let mut start = header.serialize()?;
        start.resize(existing.start.len(), 0);
        if let Some(patch) = Patch::between(0, &existing.start, &start) {
            self.out.sync()?;
            self.out.overwrite(patch.offset, &patch.bytes)?;
        }
        for patch in patches {
            self.out.sync()?;
            self.out.overwrite(patch.offset, &patch.bytes)?;
        }
        Ok(())
    }
}

impl Key {
    /// Makes the key of an object that stays at its place.
    fn of(entry: &KeyEntry) -> Result<Self> {
        let key = Self {
            stored: u64::from(entry.nbytes - u32::from(entry.keylen)),
            objlen: entry.objlen.into(),
            datime: entry.datime,
            cycle: entry.cycle,
            seek: entry.seek,
            parent: entry.parent,
            class: entry.class.clone(),
            name: entry.name.clone(),
            title: entry.title.clone(),
            small: !entry.is_large,
            tail: 0,
        };
        if key.size() != usize::from(entry.keylen) {
            return Err(Error::unsupported(format!(
                "its key has {} bytes where ROOT writes {}: copy the file first",
                entry.keylen,
                key.size()
            )));
        }
        Ok(key)
    }
}

/// The offset of the size of the key list in a directory record. The offsets of other fields follow.
const NBYTES_KEYS: usize = 10;
const SEEK_DIR: usize = 18;
const SEEK_KEYS_SMALL: usize = 26;
const SEEK_KEYS_LARGE: usize = 34;
/// The end of the fields of the small form. The UUID follows.
const END_SMALL: usize = 30;
const UUID_SIZE: usize = 18;

impl Directory {
    /// Makes the changes that set the position and size of the key list to `seek` and `nbytes`, in order.
    fn patches(&self, seek: u64, nbytes: usize) -> Result<Vec<Patch>> {
        let old = self.stored.as_deref().unwrap_or_default();
        let torn = || {
            Error::unsupported(format!(
                "the record of directory {:?} at byte {} lies across two sectors of the disk, so \
                 that it cannot be changed in one piece: write a new file instead",
                self.name, self.record
            ))
        };
        let is_large = old.first_chunk::<2>().is_some_and(|v| u16::from_be_bytes(*v) > 1000);
        let nbytes = i32::try_from(nbytes).map_err(|_| Error::limit("a key list beyond 2 GiB"))?;
        let mut new = old.to_vec();
        let short =
            || Error::out_of_spec(format!("the record of directory {:?} is short", self.name));
        if seek > LARGE_FILE && !is_large {
            new = enlarge(old).ok_or_else(short)?;
        }
        let count = new.get_mut(NBYTES_KEYS..NBYTES_KEYS + 4).ok_or_else(short)?;
        count.copy_from_slice(&nbytes.to_be_bytes());
        if new.len() == old.len() && (is_large || seek > LARGE_FILE) {
            let place = new.get_mut(SEEK_KEYS_LARGE..SEEK_KEYS_LARGE + 8).ok_or_else(short)?;
            place.copy_from_slice(&seek.to_be_bytes());
        } else {
            let place = new.get_mut(SEEK_KEYS_SMALL..SEEK_KEYS_SMALL + 4).ok_or_else(short)?;
            let seek = u32::try_from(seek).map_err(|_| Error::limit("a position beyond 4 GiB"))?;
            place.copy_from_slice(&seek.to_be_bytes());
        }
        let whole = Patch::between(self.record, old, &new);
        if whole.as_ref().is_none_or(Patch::is_atomic) {
            return Ok(whole.into_iter().collect());
        }
        // This takes two steps: the old list can still be read when its recorded size is larger.
        let grows = old[NBYTES_KEYS..NBYTES_KEYS + 4] < new[NBYTES_KEYS..NBYTES_KEYS + 4];
        let split = NBYTES_KEYS + 4;
        let size = Patch::between(self.record, &old[..split], &new[..split]);
        let place = Patch::between(self.record + split as u64, &old[split..], &new[split..]);
        let steps: Vec<Patch> = size.into_iter().chain(place).collect();
        let same_form = old[..2] == new[..2];
        match same_form && grows && steps.iter().all(Patch::is_atomic) {
            true => Ok(steps),
            false => Err(torn()),
        }
    }
}

/// Converts a directory record of the small form to the large form, in the space that ROOT reserves for it.
fn enlarge(old: &[u8]) -> Option<Vec<u8>> {
    let version = u16::from_be_bytes(*old.first_chunk()?).checked_add(1000)?;
    let mut new = version.to_be_bytes().to_vec();
    new.extend_from_slice(old.get(2..SEEK_DIR)?);
    for position in old.get(SEEK_DIR..END_SMALL)?.chunks(4) {
        new.extend_from_slice(&[0; 4]);
        new.extend_from_slice(position);
    }
    new.extend_from_slice(old.get(END_SMALL..END_SMALL + UUID_SIZE)?);
    (new.len() <= old.len()).then(|| {
        new.resize(old.len(), 0);
        new
    })
}
