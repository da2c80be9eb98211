//! Makes folders for files that are needed for a short time.

use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// A folder in the folder of the system for temporary files. It is removed with its files when this is dropped.
#[derive(Debug)]
pub struct ScratchFolder(tempfile::TempDir);

impl ScratchFolder {
    /// Makes an empty folder.
    ///
    /// # Errors
    /// The errors of the system, such as a full disk.
    pub fn new() -> Result<Self> {
        let made = tempfile::Builder::new().prefix("nyssa-").tempdir();
        let place = || std::env::temp_dir().display().to_string();
        made.map(Self).map_err(|error| Error::new(place(), "make a folder in", error))
    }

    /// Returns the path of a file of this name in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}
