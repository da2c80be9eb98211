//! Finds the records of a file without its lists, one after the other, as `TFile::Recover` does. This recovers files
//! whose writer ended before it closed them, and finds keys that no list has.
//!
//! The first record follows the header, and each record follows the previous record. A record begins with its size,
//! which is negative for free space. A record names its directory.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use nyssa_io::Source;

use crate::cursor::Cursor;
use crate::error::{Error, Result};
use crate::fetch::read_one;
use crate::rootfile::directory::Directory;
use crate::rootfile::free_segments::FreeSegment;
use crate::rootfile::key::KeyEntry;

/// The number of bytes that are read of each record. This is enough for nearly every key.
const KEY_BYTES: u64 = 512;
/// The maximum size of a key with its three strings. A longer text is not taken for a key.
const LONGEST_KEY: u64 = 1 << 16;
/// The minimum size of a record: a key without names.
pub(super) const SHORTEST_RECORD: u64 = 26;
/// The minimum size of free space: its size field.
const SHORTEST_GAP: u64 = 4;
/// The classes of records that no directory lists. A directory record describes itself; trees and RNTuples know
/// their baskets and pages.
const UNLISTED: [&str; 3] = ["TFile", "TBasket", "RBlob"];
/// The warning for a file that was recovered.
const NOT_CLOSED: &str =
    "the file was not closed: objects that were not complete when its writer ended are missing";
/// The name of the list of streamer infos.
const STREAMER_INFO: &str = "StreamerInfo";
/// The class of the list of streamer infos.
pub(super) const INFO_CLASS: &str = "TList";

/// The records of a file that a directory would list or the header would name.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The records of objects and directories, in the order of the file.
    keys: Vec<KeyEntry>,
    /// The last list of streamer infos.
    pub info: Option<KeyEntry>,
    /// The first byte behind the records that follow each other.
    pub end: u64,
}

impl Scan {
    /// Goes through the records in `range`, and reads only their keys. It stops at the first record that is not
    /// complete. It skips the `free` segments, which are sorted.
    ///
    /// # Errors
    /// `Io` if the file cannot be read.
    pub(super) fn of(
        source: &Arc<dyn Source>,
        range: Range<u64>,
        free: &[FreeSegment],
    ) -> Result<Self> {
        let mut scan = Self { end: range.start, ..Self::default() };
        while let Some(left) =
            range.end.checked_sub(scan.end).filter(|&left| left >= SHORTEST_RECORD)
        {
            let at = scan.end;
            if let Some(gap) = gap_at(free, at) {
                scan.end = gap.last.saturating_add(1);
                continue;
            }
            let start = read_one(source, at..at + left.min(KEY_BYTES))?;
            let nbytes = Cursor::new(&start, at).be_i32()?;
            let step = u64::from(nbytes.unsigned_abs());
            let least = if nbytes < 0 { SHORTEST_GAP } else { SHORTEST_RECORD };
            if step < least || step > left {
                break;
            }
            if nbytes > 0 {
                let key = KeyEntry::parse(&mut Cursor::new(&start, at)).or_else(|_| {
                    let longest = read_one(source, at..at + step.min(LONGEST_KEY))?;
                    KeyEntry::parse(&mut Cursor::new(&longest, at))
                });
                match key {
                    Ok(key) if key.seek == at => scan.add(source, key)?,
                    _ => break,
                }
            }
            scan.end = at + step;
        }
        Ok(scan)
    }

    fn add(&mut self, source: &Arc<dyn Source>, key: KeyEntry) -> Result<()> {
        if UNLISTED.contains(&&*key.class) {
            return Ok(());
        }
        if key.name == STREAMER_INFO && key.class == INFO_CLASS {
            self.info = Some(key);
        } else if !key.is_directory() || is_record(source, &key)? {
            self.keys.push(key);
        }
        Ok(())
    }

    /// Returns what is wrong with a file of `size` bytes whose records had to be searched for.
    pub(super) fn not_closed(&self, size: u64) -> String {
        if size.saturating_sub(self.end) < SHORTEST_RECORD {
            return NOT_CLOSED.to_owned();
        }
        format!(
            "{NOT_CLOSED}; no complete record begins at byte {}, and what lies behind it, up to byte {size}, was not \
             searched",
            self.end
        )
    }

    /// Returns the keys of objects and directories, in the order of the file.
    pub(super) fn keys(&self) -> &[KeyEntry] {
        &self.keys
    }

    /// Returns the keys of the directory whose record is at byte `directory`. `path` is the path of the directory. A key
    /// that was written again is returned once, where it was written last: an update moves directories and trees.
    pub(super) fn keys_in(&self, directory: u64, path: &str) -> Vec<KeyEntry> {
        let keys = || self.keys.iter().filter(|key| key.parent == directory);
        let last: HashMap<_, u64> = keys().map(|key| ((&key.name, key.cycle), key.seek)).collect();
        let newest = keys().filter(|key| last.get(&(&key.name, key.cycle)) == Some(&key.seek));
        newest.map(|key| KeyEntry { path: key.path_in(path), ..key.clone() }).collect()
    }
}

/// Returns the free segment that contains byte `at`, if there is any among the sorted segments.
pub(super) fn gap_at(free: &[FreeSegment], at: u64) -> Option<&FreeSegment> {
    let after = free.partition_point(|gap| gap.first <= at);
    free[..after].last().filter(|gap| gap.last >= at)
}

/// Returns whether a record of the class of directories is a directory. A key list has the same class.
fn is_record(source: &Arc<dyn Source>, key: &KeyEntry) -> Result<bool> {
    let start = key.seek + u64::from(key.keylen);
    let end = key.end().min(start + Directory::MAX_SIZE);
    if end <= start {
        return Ok(false);
    }
    let record = read_one(source, start..end)?;
    let directory = Directory::parse(&mut Cursor::new(&record, start));
    Ok(directory.is_ok_and(|directory| directory.seek == key.seek))
}

/// Returns the error for a file that has no key list and no complete object.
pub(super) fn no_object() -> Error {
    Error::out_of_spec(
        "the file has no list of keys: it was not closed, and no object in it is complete",
    )
}
