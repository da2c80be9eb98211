//! Defines the options of a file that is written.

use crate::compression::Compression;

/// The name of the environment variable that has a Unix time in seconds. It replaces the current time, so that
/// files are reproducible (reproducible-builds.org).
pub const EPOCH_VARIABLE: &str = "SOURCE_DATE_EPOCH";

/// The options of a new file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOptions {
    /// The compression of the streamer info list. The header of the file also records it.
    pub compression: Compression,
    /// The name that the file records. `None` takes the last part of the sink's name.
    pub name: Option<String>,
    /// The UUID of the file. `None` makes a random one.
    pub uuid: Option<[u8; 16]>,
    /// The time stamp of the file and its keys, in Unix seconds. `None` takes `SOURCE_DATE_EPOCH`, or else the
    /// current time.
    pub time: Option<u64>,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self { compression: Compression::DEFAULT, name: None, uuid: None, time: None }
    }
}
