//! Holds all that the writer knows of a file that it changes in place.

use crate::rootfile::{self, FreeSegment};

/// Holds the parts of an existing file that an update needs.
pub(super) struct ExistingFile {
    /// Its header.
    pub header: rootfile::Header,
    /// Holds the first bytes of the file.
    pub start: Vec<u8>,
    /// Lists its free segments.
    pub free: Vec<FreeSegment>,
}

/// The list of streamer infos.
pub(super) struct InfoRecord {
    /// The uncompressed object.
    pub payload: Vec<u8>,
    /// The size of its key. References in the list count from the start of the key.
    pub keylen: u16,
    /// Says whether the list must still be written.
    pub changed: bool,
}
