//! Changes a local file in place.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use super::lock::{Lock, lock};
use super::position::{read_exact_at, write_all_at};
use super::source::{LocalSource, check_file};
use crate::{Error, Result, Sink};

/// The number of first bytes that are compared to find changes by another program.
const HEAD: u64 = 1 << 10;

/// An existing local file to which data are added. Bytes after the old content can be written freely: dropping
/// the sink without a commit removes them again. After the first write into the old content they are not
/// removed any more. These writes must be in an order, with [`Sink::sync`] between the steps, in which every
/// step leaves a valid file.
///
/// If the system supports it, the file is locked until this is dropped.
#[derive(Debug)]
pub(crate) struct LocalUpdate {
    name: String,
    file: File,
    /// The number of bytes of the file when it was opened.
    size: u64,
    /// The end of the old content.
    keep: u64,
    /// The end of the file with the added bytes.
    end: u64,
    /// The first bytes of the file when it was opened.
    head: Vec<u8>,
    /// Whether the old content was written to.
    changed: bool,
}

impl LocalUpdate {
    /// Opens `path` for reading and writing.
    ///
    /// # Errors
    /// `IsADirectory`; `InvalidInput` for another thing that is not a regular file; `WouldBlock` if another
    /// program has locked it; an error of the system.
    pub(crate) fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let failed = |error| Error::new(&name, "open for writing", error);
        check_file(path).map_err(failed)?;
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
        if lock(&file) == Lock::Taken {
            let reason = "another program is writing to it";
            return Err(failed(io::Error::new(io::ErrorKind::WouldBlock, reason)));
        }
        let size = file.metadata().map_err(failed)?.len();
        let head = head(&file, size).map_err(failed)?;
        Ok(Self { name, file, size, keep: size, end: size, head, changed: false })
    }

    /// Opens the current file for reading.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(crate) fn source(&self) -> Result<LocalSource> {
        let file = self.file.try_clone();
        file.and_then(|file| LocalSource::of(self.name.clone(), file))
            .map_err(|error| Error::new(&self.name, "open", error))
    }

    /// Sets the end of the old content, if it is before the end of the file. Bytes after it can be
    /// overwritten.
    #[must_use]
    pub(crate) fn keep(mut self, end: u64) -> Self {
        self.keep = end.min(self.size);
        self
    }

    /// Returns an error if another program has changed the first bytes or the end of the file.
    fn check_unchanged(&self) -> io::Result<()> {
        let is_ours = self.file.metadata()?.len() <= self.end;
        if is_ours && head(&self.file, self.size)? == self.head {
            return Ok(());
        }
        Err(io::Error::other("another program has changed it since it was opened"))
    }
}

impl Sink for LocalUpdate {
    fn name(&self) -> &str {
        &self.name
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        let failed = |error| {
            let action = format!("write {} bytes at byte {offset} of", data.len());
            Error::new(&self.name, action, error)
        };
        if !self.changed {
            // This is also checked before bytes are added, because another program could have written there.
            self.check_unchanged().map_err(failed)?;
        }
        self.changed |= offset < self.keep;
        self.end = self.end.max(offset.saturating_add(data.len() as u64));
        write_all_at(&self.file, data, offset).map_err(failed)
    }

    fn sync(&mut self) -> Result<()> {
        self.file.sync_data().map_err(|error| Error::new(&self.name, "sync", error))
    }

    fn commit(mut self: Box<Self>) -> Result<()> {
        let done = self.file.sync_all();
        // From now on, added bytes must not be removed.
        self.changed = true;
        done.map_err(|error| Error::new(&self.name, "finish writing", error))
    }
}

impl Drop for LocalUpdate {
    fn drop(&mut self) {
        // The added bytes are unused. If they cannot be removed, they do no harm. Bytes that another program
        // has added are not removed.
        if !self.changed && self.check_unchanged().is_ok() {
            let _ = self.file.set_len(self.size);
        }
    }
}

fn head(file: &File, size: u64) -> io::Result<Vec<u8>> {
    let mut head = vec![0; size.min(HEAD) as usize];
    read_exact_at(file, &mut head, 0)?;
    Ok(head)
}
