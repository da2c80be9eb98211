//! Reads and writes directory records and key lists (`TDirectoryFile`).

use std::collections::HashMap;

use crate::cursor::Cursor;
use crate::error::Result;
use crate::rootfile::key::KeyEntry;

/// A directory record whose version is above this stores 64-bit positions.
const LARGE_VERSION: u16 = 1000;

/// The path and the keys of each directory that was listed, by the position of its key.
pub(super) type Lists = HashMap<u64, (String, Vec<KeyEntry>)>;

/// The record of a directory. It says where the key list of the directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directory {
    /// The time of its last change, as ROOT stores times.
    pub modified: u32,
    /// The size of the key list record in bytes.
    pub nbytes_keys: u32,
    /// The size in bytes from the key of the directory to its record.
    pub nbytes_name: u32,
    /// The position of the key of the directory itself.
    pub seek: u64,
    /// The position of the parent directory. It is 0 at the top.
    pub parent: u64,
    /// The position of the key list record; 0 when there is none.
    pub seek_keys: u64,
}

impl Directory {
    /// The maximum size of a record, without its UUID.
    pub const MAX_SIZE: u64 = 42;

    /// Parses a directory record.
    ///
    /// # Errors
    /// `OutOfSpecification` when bytes are missing.
    pub fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        let large = cursor.be_u16()? > LARGE_VERSION;
        let _created = cursor.be_u32()?;
        let modified = cursor.be_u32()?;
        let nbytes_keys = cursor.be_u32()?;
        let nbytes_name = cursor.be_u32()?;
        let position = |cursor: &mut Cursor<'_>| {
            if large { cursor.be_u64() } else { cursor.be_u32().map(u64::from) }
        };
        let seek = position(cursor)?;
        let parent = position(cursor)?;
        let seek_keys = position(cursor)?;
        Ok(Self { modified, nbytes_keys, nbytes_name, seek, parent, seek_keys })
    }
}

/// Parses a key list record at byte `seek` of its file: a key, the number of keys, the keys. `directory` is the
/// path of the directory, which is empty at the top.
///
/// # Errors
/// `OutOfSpecification` when the list ends early or a key contradicts itself.
pub(super) fn parse_keys(record: &[u8], seek: u64, directory: &str) -> Result<Vec<KeyEntry>> {
    parse_list(record, seek, directory).map(|(keys, _)| keys)
}

/// Parses a key list record at byte `seek` of its file: a key, the number of keys, the keys. Also returns the first
/// key after the last listed key, if there is any. uproot leaves zeros there, or keys that it deleted. `directory` is
/// the path of the directory, which is empty at the top.
///
/// # Errors
/// `OutOfSpecification` when the list ends early or a key contradicts itself.
pub(super) fn parse_list(
    record: &[u8],
    seek: u64,
    directory: &str,
) -> Result<(Vec<KeyEntry>, Option<KeyEntry>)> {
    let mut cursor = Cursor::new(record, seek);
    let own = KeyEntry::parse_whole(&mut cursor)?;
    cursor.seek(usize::from(own.keylen))?;
    let start = cursor.clone();
    let count = cursor.be_i32()?;
    if count < 0 {
        return Err(start.error(format!("a directory of {count} keys")));
    }
    let mut keys = Vec::new();
    for _ in 0..count {
        let mut key = KeyEntry::parse(&mut cursor)?;
        key.path = key.path_in(directory);
        keys.push(key);
    }
    let more = KeyEntry::parse(&mut cursor).ok().filter(|key| key.nbytes > 0);
    Ok((keys, more))
}
