//! Holds all that the writer knows of a file that it changes in place.

use crate::rootfile::{self, FreeSegment};

/// Holds the parts of an existing file that an update needs.
pub(super) struct ExistingFile {
    /// Is its header.
    pub header: rootfile::Header,
    /// Holds the first bytes of the file.
    pub start: Vec<u8>,
    /// Lists its free segments.
    pub free: Vec<FreeSegment>,
}

/// Is the list of streamer infos.
pub(super) struct InfoRecord {
    /// Is the uncompressed object.
    pub payload: Vec<u8>,
    /// Is the size of its key. References in the list count from the start of the key.
    pub keylen: u16,
    /// Says whether the list must still be written.
    pub changed: bool,
}
