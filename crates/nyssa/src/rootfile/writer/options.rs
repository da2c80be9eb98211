//! What a caller can choose about a file.

use crate::compression::Compression;
use crate::error::{Error, Result};
use crate::rntuple::format::DEFAULT_MAX_KEY_SIZE;

/// Environment variable with a Unix time in seconds that replaces the current time, for
/// reproducible files (reproducible-builds.org).
pub const EPOCH_VARIABLE: &str = "SOURCE_DATE_EPOCH";

/// Options of a new file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Compression of the streamer info list, also recorded in the file's header.
    pub compression: Compression,
    /// Largest payload of one blob key, bytes; larger blobs are split.
    pub max_key_size: u64,
    /// Name recorded in the file; `None` takes the last part of the sink's name.
    pub name: Option<String>,
    /// The file's UUID; `None` draws one.
    pub uuid: Option<[u8; 16]>,
    /// Creation time of file and keys, Unix seconds; `None` takes [`EPOCH_VARIABLE`], else now.
    pub time: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            compression: Compression::DEFAULT,
            max_key_size: DEFAULT_MAX_KEY_SIZE,
            name: None,
            uuid: None,
            time: None,
        }
    }
}

impl Options {
    /// Checks that the numbers make sense.
    pub(super) fn check(&self) -> Result<()> {
        let most = DEFAULT_MAX_KEY_SIZE;
        if self.max_key_size == 0 || self.max_key_size > most {
            return Err(Error::invalid_argument(format!(
                "the maximum key size is {}, but has to be 1 to {most} bytes",
                self.max_key_size
            )));
        }
        Ok(())
    }
}
