//! Adds the changes of an update to the file, so that a crash at any moment leaves the old file or the new one.
//!
//! ```text
//! 1. behind the old end     new records, key lists, free list           sync
//! 2. byte 0                 header: new end, new free list              sync
//! 3. a directory record     position of its new key list                sync
//! ```
//!
//! Before step 2 the file is unchanged, with unused bytes after its end. After step 2 it has an unused gap. Step 3
//! is the commit. Steps 2 and 3 each change bytes within one sector of the disk, so each is atomic. They are one step
//! if the record lies in the sector of the header, as the record of the top directory does in nearly all files.
//!
//! One directory record is changed, not more: if several directories have changed, those below are written anew behind
//! the old end, up to the one that all of them lie in. The keys of their objects stay as they are, and still name the
//! former place of the directory.
//!
//! No old record is overwritten. The records that are replaced stay in the file, and are not listed as free, because
//! they are in use until the commit.

use bstr::ByteSlice;

use super::directory::{Directory, RECORD_SIZE};
use super::existing::ExistingFile;
use super::file::RootFileWriter;
use super::header::{BEGIN, Header};
use super::key::Key;
use super::patch::Patch;
use crate::error::{Error, Result};
use crate::rootfile::FreeSegment;
use crate::rootfile::encode::LARGE_FILE;

impl RootFileWriter {
    /// Does the steps, or nothing if nothing changed. The caller commits the sink.
    pub(super) fn commit_update(&mut self, existing: &ExistingFile) -> Result<()> {
        let Some(switched) = self.move_directories()? else { return Ok(()) };
        for index in 0..self.directories.len() {
            let directory = &self.directories[index];
            if directory.stored.is_none() && !directory.deleted {
                self.finish_directory(index)?;
            }
        }
        let (at, size) = self.key_list(switched)?;
        let patches = self.directories[switched].patches(at, size)?;
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
        let mut header = header.serialize()?;
        header.resize(BEGIN as usize, 0);
        let mut start = existing.start.clone();
        let header = Patch { offset: 0, bytes: header };
        let mut later = Vec::new();
        for patch in std::iter::once(header).chain(patches) {
            if !patch.apply(&mut start) {
                later.push(patch);
            }
        }
        for patch in Patch::between(0, &existing.start, &start).into_iter().chain(later) {
            self.out.sync()?;
            self.out.overwrite(patch.offset, &patch.bytes)?;
        }
        Ok(())
    }

    /// Moves changed directories behind the old end, until the record of only one of them has to change in place.
    /// Returns its index, or `None` if nothing changed.
    fn move_directories(&mut self) -> Result<Option<usize>> {
        loop {
            let changed = |dir: &Directory| dir.stored.is_some() && dir.changed && !dir.deleted;
            // A directory comes after the directory that it lies in.
            let last = self.directories.iter().rposition(changed);
            let Some(last) = last else { return Ok(None) };
            let is_alone = !self.directories[..last].iter().any(changed);
            match self.directories[last].parent {
                Some(parent) if !is_alone || !self.directories[last].is_in_one_sector() => {
                    self.move_directory(last, parent)?;
                }
                _ => return Ok(Some(last)),
            }
        }
    }

    /// Writes the record of a directory anew. The list of its parent gets the new key.
    fn move_directory(&mut self, index: usize, parent: usize) -> Result<()> {
        let moved = &self.directories[index];
        let lists = |key: &Key| key.seek == moved.seek;
        let place = self.directories[parent].keys.iter().position(lists).ok_or_else(|| {
            Error::out_of_spec(format!("no directory lists directory {:?}", moved.name))
        })?;
        let former = &self.directories[parent].keys[place];
        let key = Key {
            datime: former.datime,
            ..self.key(
                &former.class,
                former.name.as_bstr(),
                former.title.as_bstr(),
                former.parent,
                former.cycle,
                RECORD_SIZE as u64,
            )
        };
        self.append(&key, &[&[0; RECORD_SIZE]])?;
        let moved = &mut self.directories[index];
        (moved.seek, moved.record) = (key.seek, key.payload());
        let former = moved.stored.take().unwrap_or_default();
        if let Some(created) = former.get(CREATED..).and_then(|rest| rest.first_chunk()) {
            moved.datime = u32::from_be_bytes(*created);
        }
        let uuid = former.get(if is_large(&former) { UUID_LARGE } else { UUID_SMALL }..);
        moved.uuid = uuid.and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
        self.directories[parent].keys[place] = key;
        self.directories[parent].changed = true;
        Ok(())
    }
}

/// The offset of the time of creation in a directory record.
const CREATED: usize = 2;
/// The offset of the size of the key list in a directory record. The offsets of other fields follow.
const NBYTES_KEYS: usize = 10;
const SEEK_DIR: usize = 18;
const SEEK_KEYS_SMALL: usize = 26;
const SEEK_KEYS_LARGE: usize = 34;
/// The end of the fields of the small form. The UUID follows: a version and 16 bytes.
const END_SMALL: usize = 30;
const UUID_SIZE: usize = 18;
const UUID_SMALL: usize = END_SMALL + 2;
const UUID_LARGE: usize = 44;

/// Returns whether a directory record has 64-bit positions.
fn is_large(record: &[u8]) -> bool {
    record.first_chunk().is_some_and(|version| u16::from_be_bytes(*version) > 1000)
}

impl Directory {
    /// Returns whether the whole record lies in one sector of the disk.
    fn is_in_one_sector(&self) -> bool {
        let bytes = self.stored.clone().unwrap_or_default();
        Patch { offset: self.record, bytes }.is_atomic()
    }

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
        let is_large = is_large(old);
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
