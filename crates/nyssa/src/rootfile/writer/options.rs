//! Options of a file that is written.

use crate::compression::Compression;

/// Environment variable with a Unix time in seconds. It replaces the current time, so that files are
/// reproducible (reproducible-builds.org).
pub const EPOCH_VARIABLE: &str = "SOURCE_DATE_EPOCH";

/// Options of a new file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Compression of the streamer info list. The header of the file also records it.
    pub compression: Compression,
    /// Name that the file records. `None` takes the last part of the sink's name.
    pub name: Option<String>,
    /// UUID of the file. `None` makes a random one.
    pub uuid: Option<[u8; 16]>,
    /// Time stamp of the file and its keys, in Unix seconds. `None` takes [`EPOCH_VARIABLE`], or else the
    /// current time.
    pub time: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self { compression: Compression::DEFAULT, name: None, uuid: None, time: None }
    }
}
