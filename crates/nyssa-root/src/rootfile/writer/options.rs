//! Defines the options of a file that is written.

use crate::compression::Compression;

/// The name of the environment variable that has a Unix time in seconds. It replaces the current time, so that
/// files are reproducible (reproducible-builds.org).
pub(super) const EPOCH_VARIABLE: &str = "SOURCE_DATE_EPOCH";

/// The options of a new file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOptions {
    /// The compression of the streamer info list. The header of the file also records it.
    pub compression: Compression,
    /// The name that the file records. `None` takes the last part of the sink's name.
    pub name: Option<String>,
    /// The title of the file.
    pub title: String,
    /// The UUID of the file. `None` makes a random UUID.
    pub uuid: Option<[u8; 16]>,
    /// The time stamp of the file and its keys, in Unix seconds. `None` takes `SOURCE_DATE_EPOCH`, or else the
    /// current time.
    pub time: Option<u64>,
    /// Whether a thread writes to the sink while the caller goes on. Up to 32 MiB then wait in memory, and an error of the
    /// sink comes at a later call, at the latest from `finish`. The bytes are the same.
    pub write_behind: bool,
}

impl Default for FileOptions {
    fn default() -> Self {
        let compression = Compression::DEFAULT;
        Self {
            compression,
            name: None,
            title: String::new(),
            uuid: None,
            time: None,
            write_behind: false,
        }
    }
}
