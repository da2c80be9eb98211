//! Makes folders for files that are needed for a short time.

use std::io;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// A folder in the folder of the system for temporary files. It is removed with its files when this is dropped.
#[derive(Debug)]
pub struct ScratchFolder(tempfile::TempDir);

impl ScratchFolder {
    /// Makes an empty folder.
    ///
    /// # Errors
    /// The folder cannot be made, for example on a full disk.
    pub fn new() -> Result<Self> {
        let made = tempfile::Builder::new().prefix("nyssa-").tempdir();
        made.map(Self).map_err(|error| of_temporary_files(&error))
    }

    /// Returns the error of a file in this folder as an error of the folder of the system, which users know. Returns
    /// `None` for an error of another file.
    pub fn explain(&self, error: &Error) -> Option<Error> {
        let is_here = Path::new(&error.resource).starts_with(self.path());
        is_here.then(|| of_temporary_files(&error.source))
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

fn of_temporary_files(error: &io::Error) -> Error {
    let same = match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    };
    let folder = std::env::temp_dir().display().to_string();
    Error::new(folder, "write to the folder for temporary files (TMPDIR),", same)
}
