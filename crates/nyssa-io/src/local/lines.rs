//! Adds lines to a local text file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;

use super::finished::{directory, sync_directory};
use super::source::check_file;
use crate::{Error, Result};

/// A local text file that gets more lines.
///
/// Each line is written by one call at the end of the file, and is on the disk before the next one. A line that a full
/// disk or the end of the process has cut stays where it is: the next line begins on a line of its own.
#[derive(Debug)]
pub(crate) struct LocalLines {
    name: String,
    file: File,
    /// Whether the file ends in the middle of a line.
    cut: bool,
}

impl LocalLines {
    /// Opens the file at `path`, which is made if it does not exist, and returns its content.
    ///
    /// # Errors
    /// `IsADirectory`; `InvalidInput` for another thing that is not a regular file; an error of the system.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<u8>)> {
        let name = path.display().to_string();
        let open = || {
            let new = match check_file(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => true,
                checked => checked.map(|()| false)?,
            };
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
            // Several processes may add lines. One that has the file for itself is a campaign.
            if matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
                let message = "another process uses the file for itself: wait until it ends";
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, message));
            }
            if new {
                sync_directory(directory(path))?;
            }
            let mut content = Vec::new();
            file.read_to_end(&mut content)?;
            Ok((file, content))
        };
        let (file, content) =
            open().map_err(|error: io::Error| Error::new(&name, "open for writing", error))?;
        let cut = content.last().is_some_and(|&last| last != b'\n');
        Ok((Self { name, file, cut }, content))
    }

    /// Adds a line.
    ///
    /// # Errors
    /// The file cannot be written, for example on a full disk.
    pub(crate) fn add(&mut self, line: &str) -> Result<()> {
        let line = format!("{}{line}\n", if self.cut { "\n" } else { "" });
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        self.cut = written.is_err();
        written.map_err(|error| Error::new(&self.name, "write", error))
    }
}
