//! What is known of a file that is changed in place.

use crate::rootfile::{self, FreeSegment};

/// What an existing file says.
pub(super) struct Existing {
    /// Its header.
    pub header: rootfile::Header,
    /// The first bytes of the file.
    pub start: Vec<u8>,
    /// Its free segments.
    pub free: Vec<FreeSegment>,
}

/// The list of streamer infos.
pub(super) struct InfoRecord {
    /// The uncompressed object.
    pub payload: Vec<u8>,
    /// Size of its key, from which places in it count.
    pub keylen: u16,
    /// Whether it is not in the file yet.
    pub changed: bool,
}
