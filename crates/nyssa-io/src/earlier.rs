//! Keeps the reason why a write failed, for the error of the commit.

use std::io;
use std::sync::{Arc, OnceLock};

/// The first error of the writes to a file. Its clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlierError(Arc<OnceLock<(io::ErrorKind, String)>>);

impl EarlierError {
    /// Keeps the reason of an error, if it is the first.
    pub(crate) fn keep(&self, error: &io::Error) {
        self.0.get_or_init(|| (error.kind(), error.to_string()));
    }

    /// Checks that no write has failed.
    ///
    /// # Errors
    /// The kind and the reason of the first error.
    pub(crate) fn check(&self) -> io::Result<()> {
        self.0.get().map_or(Ok(()), |(kind, reason)| {
            Err(io::Error::new(*kind, format!("an earlier write to it failed: {reason}")))
        })
    }
}
