//! Writes directory records and key lists (`TDirectoryFile`).

use bstr::{BStr, BString};

use super::header::put_uuid;
use super::key::Key;
use crate::error::{Error, Result};
use crate::rootfile::encode::{self, LARGE_FILE};

/// The class version of `TDirectoryFile`. A record with 64-bit positions adds 1000.
const VERSION: u16 = 5;
/// The size in bytes of a directory record. It does not depend on the size of positions.
pub(super) const RECORD_SIZE: usize = 60;
/// The class name of subdirectories in key lists.
pub(super) const CLASS: &str = "TDirectory";

/// A directory while its file is written.
pub(super) struct Directory {
    /// The name of the directory. The top directory has the name of the file.
    pub name: BString,
    /// The title of the directory. It is empty for the top directory.
    pub title: BString,
    /// The time stamp.
    pub datime: u32,
    /// The index of the parent directory.
    pub parent: Option<usize>,
    /// The position of its key.
    pub seek: u64,
    /// The position of its record.
    pub record: u64,
    /// The UUID.
    pub uuid: [u8; 16],
    /// The keys in the order of the key list.
    pub keys: Vec<Key>,
    /// The record in the file, when the file is changed in place.
    pub stored: Option<Vec<u8>>,
    /// Whether keys were added or changed.
    pub changed: bool,
    /// Whether the directory was deleted, so that it is not written.
    pub deleted: bool,
}

impl Directory {
    /// Returns the class name in the key of its key list.
    pub(super) fn class(&self) -> &'static str {
        if self.parent.is_some() { CLASS } else { "TFile" }
    }

    /// Adds a key before older keys of its name, so that the newest cycle comes first.
    pub(super) fn list(&mut self, key: Key) {
        self.changed = true;
        let older = |other: &Key| other.name == key.name && other.cycle < key.cycle;
        let older = self.keys.iter().position(older);
        self.keys.insert(older.unwrap_or(self.keys.len()), key);
    }

    /// Returns the cycle number for a new object of this name.
    ///
    /// # Errors
    /// `LimitExceeded` after 65535 objects.
    pub(super) fn next_cycle(&self, name: &BStr) -> Result<u16> {
        let newest = self.keys.iter().filter(|key| key.name == name).map(|key| key.cycle).max();
        newest
            .unwrap_or(0)
            .checked_add(1)
            .ok_or_else(|| Error::limit(format!("too many objects named {name:?}")))
    }

    /// Serializes the payload of the key list record.
    pub(super) fn key_list(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        encode::size(&mut out, self.keys.len(), "key list")?;
        self.keys.iter().try_for_each(|key| key.serialize(&mut out))?;
        Ok(out)
    }

    /// Serializes the directory record. It always has [`RECORD_SIZE`] bytes; the small form is padded.
    pub(super) fn serialize(&self, place: &RecordPlace) -> Result<Vec<u8>> {
        let large = place.seek_keys > LARGE_FILE || self.seek > LARGE_FILE;
        let mut out = Vec::with_capacity(RECORD_SIZE);
        out.extend_from_slice(&(VERSION + if large { 1000 } else { 0 }).to_be_bytes());
        out.extend_from_slice(&self.datime.to_be_bytes());
        out.extend_from_slice(&place.datime.to_be_bytes());
        encode::size(&mut out, place.nbytes_keys, "key list")?;
        encode::size(&mut out, (self.record - self.seek) as usize, "directory name")?;
        encode::position(&mut out, self.seek, large)?;
        encode::position(&mut out, place.parent_seek, large)?;
        encode::position(&mut out, place.seek_keys, large)?;
        put_uuid(&mut out, &self.uuid);
        out.resize(RECORD_SIZE, 0);
        Ok(out)
    }
}

/// The parts of a directory record that the writer knows only at the end.
pub(super) struct RecordPlace {
    /// The time stamp of the last change.
    pub datime: u32,
    /// The position of the parent's key. It is 0 at the top.
    pub parent_seek: u64,
    /// The position of the key list's record.
    pub seek_keys: u64,
    /// The size of the key list's record.
    pub nbytes_keys: usize,
}
