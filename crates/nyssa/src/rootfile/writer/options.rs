//! What a caller can choose about a file.

use crate::compression::Compression;

/// Environment variable with a Unix time in seconds that replaces the current time, for
/// reproducible files (reproducible-builds.org).
pub const EPOCH_VARIABLE: &str = "SOURCE_DATE_EPOCH";

/// Options of a new file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Compression of the streamer info list, also recorded in the file's header.
    pub compression: Compression,
    /// Name recorded in the file; `None` takes the last part of the sink's name.
    pub name: Option<String>,
    /// The file's UUID; `None` draws one.
    pub uuid: Option<[u8; 16]>,
    /// Creation time of file and keys, Unix seconds; `None` takes [`EPOCH_VARIABLE`], else now.
    pub time: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self { compression: Compression::DEFAULT, name: None, uuid: None, time: None }
    }
}
