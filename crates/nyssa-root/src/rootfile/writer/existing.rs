//! Holds the parts of an existing file that the writer needs to change it in place.

use crate::rootfile::{self, FreeSegment};

/// The parts of an existing file that an update needs.
pub(super) struct ExistingFile {
    /// The header of the file.
    pub header: rootfile::Header,
    /// The first sector of the file. A shorter file is whole.
    pub start: Vec<u8>,
    /// The free segments of the file.
    pub free: Vec<FreeSegment>,
}

/// The list of streamer infos.
pub(super) struct InfoRecord {
    /// The uncompressed object.
    pub payload: Vec<u8>,
    /// The size of its key. References in the list count from the start of the key.
    pub keylen: u16,
    /// The object for a key with 64-bit positions, if the list must still be written.
    pub large: Vec<u8>,
    /// Whether the list must still be written.
    pub changed: bool,
}
