//! Changes a local file in place.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::lock::{Lock, lock};
use super::position::{read_exact_at, write_all_at};
use super::source::{LocalSource, check_file};
use crate::earlier::EarlierError;
use crate::{Error, Result, Sink, WriteAt};

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
    file: Arc<Changed>,
    /// The end of the old content.
    keep: u64,
    /// Whether the old content was written to.
    changed: bool,
}

/// The file that is changed, to which other threads may add bytes.
#[derive(Debug)]
struct Changed {
    name: String,
    file: File,
    /// The number of bytes of the file when it was opened.
    size: u64,
    /// The end of the file with the added bytes.
    end: AtomicU64,
    /// The first bytes of the file when it was opened.
    head: Vec<u8>,
    /// The error of a write. The changes must not be committed then.
    failed: EarlierError,
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
        let (end, failed) = (AtomicU64::new(size), EarlierError::default());
        let file = Arc::new(Changed { name, file, size, end, head, failed });
        Ok(Self { file, keep: size, changed: false })
    }

    /// Opens the current file for reading.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(crate) fn source(&self) -> Result<LocalSource> {
        let Changed { name, file, .. } = &*self.file;
        let file = file.try_clone();
        file.and_then(|file| LocalSource::of(name.clone(), file))
            .map_err(|error| Error::new(name, "open", error))
    }

    /// Sets the end of the old content, if it is before the end of the file. Bytes after it can be
    /// overwritten.
    #[must_use]
    pub(crate) fn keep(mut self, end: u64) -> Self {
        self.keep = end.min(self.file.size);
        self
    }
}

impl Changed {
    /// Returns an error if another program has changed the first bytes or the end of the file.
    fn check_unchanged(&self) -> io::Result<()> {
        // The end is read after the size: each write sets it first.
        let is_ours = self.file.metadata()?.len() <= self.end.load(Ordering::SeqCst);
        if is_ours && head(&self.file, self.size)? == self.head {
            return Ok(());
        }
        Err(io::Error::other("another program has changed it since it was opened"))
    }

    /// Writes bytes. With `check`, the old content must be as it was.
    fn write(&self, offset: u64, data: &[u8], check: bool) -> Result<()> {
        let write = || {
            if check {
                // This is also checked before bytes are added, because another program could have written there.
                self.check_unchanged()?;
            }
            let end = offset.saturating_add(data.len() as u64);
            self.end.fetch_max(end, Ordering::SeqCst);
            write_all_at(&self.file, data, offset)
        };
        write().map_err(|error| {
            self.failed.keep(&error);
            let action = format!("write {} bytes at byte {offset} of", data.len());
            Error::new(&self.name, action, error)
        })
    }
}

impl WriteAt for Changed {
    fn write_at(&self, offset: u64, data: &[u8]) -> Result<()> {
        self.write(offset, data, true)
    }
}

impl Sink for LocalUpdate {
    fn name(&self) -> &str {
        &self.file.name
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        let check = !self.changed;
        self.changed |= offset < self.keep;
        self.file.write(offset, data, check)
    }

    fn sync(&mut self) -> Result<()> {
        let Changed { name, file, failed, .. } = &*self.file;
        failed.check().and_then(|()| file.sync_data()).map_err(|e| Error::new(name, "sync", e))
    }

    fn beside(&self) -> Option<Arc<dyn WriteAt>> {
        Some(Arc::<Changed>::clone(&self.file))
    }

    fn commit(mut self: Box<Self>) -> Result<()> {
        let Changed { name, file, failed, .. } = &*self.file;
        let done = failed.check().and_then(|()| file.sync_all());
        let done = done.map_err(|error| Error::new(name, "finish writing", error));
        // From now on, added bytes must not be removed.
        self.changed = true;
        done
    }
}

impl Drop for LocalUpdate {
    fn drop(&mut self) {
        // The added bytes are unused. If they cannot be removed, they do no harm. Bytes that another program
        // has added are not removed. Without added bytes, the file keeps its time.
        let Changed { file, size, end, .. } = &*self.file;
        let has_added = end.load(Ordering::SeqCst) > *size;
        if !self.changed && has_added && self.file.check_unchanged().is_ok() {
            let _ = file.set_len(*size);
        }
    }
}

fn head(file: &File, size: u64) -> io::Result<Vec<u8>> {
    let mut head = vec![0; size.min(HEAD) as usize];
    read_exact_at(file, &mut head, 0)?;
    Ok(head)
}
