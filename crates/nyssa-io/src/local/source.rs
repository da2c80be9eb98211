//! Reads a local file.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use bytes::Bytes;

use super::buffers::Buffer;
use super::cached::is_cached;
use super::position::{cut, read_exact_at};
use crate::source::{check_range, closed};
use crate::{Cost, Error, Limits, Result, Source};

/// The limits of bytes in the cache of the system. A read costs one system call, which takes as long as copying
/// about 16 KiB.
const CACHED: Limits = Limits {
    cost: Cost {
        latency: Duration::ZERO,
        range: Duration::from_micros(4),
        bandwidth: 4_096_000_000,
    },
    ..Limits::NONE
};
/// The limits of bytes on a disk. Disks of today reach their full speed only when several reads wait for them,
/// of about a megabyte each. Decision 0018 has the measurements.
const ON_DISK: Limits = Limits {
    max_ranges: 16,
    concurrency: 8,
    cost: Cost {
        latency: Duration::from_micros(200),
        range: Duration::from_micros(20),
        bandwidth: 1_024_000_000,
    },
    ..Limits::NONE
};

/// A local file, opened once and read at offsets from any thread. Its size is the size when it was opened.
///
/// After each read, the time of the last change and the size of the open file are compared with those when it was opened.
/// If they differ, the bytes of the read are not given out, so that old and new bytes are never mixed. A change is not seen
/// if the system gives it the same time as the change before the opening: Linux counts in steps of up to 10 ms, network
/// file systems may tell a time that is some seconds old, and some writers set the time back. A file that is replaced by
/// another one under its name stays the old file.
#[derive(Debug)]
pub struct LocalSource {
    name: String,
    /// The open file. `None` once it is closed.
    file: RwLock<Option<Arc<File>>>,
    size: u64,
    /// The time of the last change when the file was opened. `None` for a file that this process changes itself.
    modified: Option<SystemTime>,
}

/// Adds an explanation to the error of a missing file.
fn missing(path: &Path, error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return error;
    }
    if path.as_os_str().is_empty() {
        return io::Error::new(error.kind(), "the name is empty");
    }
    if let Ok(target) = fs::read_link(path) {
        let why = format!("it is a symbolic link to {}, which does not exist", target.display());
        return io::Error::new(error.kind(), why);
    }
    error
}

/// Returns an error if the path is not a regular file.
pub(super) fn check_file(path: &Path) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file"));
    }
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(())
}

impl LocalSource {
    /// Opens `path`.
    ///
    /// # Errors
    /// `NotFound`; `PermissionDenied`; `IsADirectory`; `InvalidInput` for another thing that is not a regular file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        Self::open_as(name, path)
    }

    /// Opens `path`. Messages call it `name`.
    pub(crate) fn open_as(name: String, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let failed = |error| Error::new(&name, "open", error);
        // This is checked before opening, because opening a pipe without a writer would wait forever.
        check_file(path).map_err(|error| failed(missing(path, error)))?;
        let file = File::open(path).map_err(failed)?;
        let source = Self::of(name.clone(), file).map_err(failed)?;
        // Some systems have no such times.
        let modified = source.file()?.metadata().and_then(|now| now.modified()).ok();
        Ok(Self { modified, ..source })
    }

    /// Makes a source of an open file, which this process may change.
    pub(super) fn of(name: String, file: File) -> io::Result<Self> {
        let size = file.metadata()?.len();
        Ok(Self { name, file: RwLock::new(Some(Arc::new(file))), size, modified: None })
    }

    /// Refuses what was read of a file that was changed after it was opened.
    fn check_unchanged(&self, file: &File, ranges: &[Range<u64>]) -> Result<()> {
        let Some(modified) = self.modified else { return Ok(()) };
        let changed = |now: fs::Metadata| {
            if now.modified().is_ok_and(|time| time == modified) && now.len() == self.size {
                return None;
            }
            let why = "it was changed after it was opened; open it again";
            Some(match now.len() < self.size {
                true => cut(file, self.size),
                false => io::Error::new(io::ErrorKind::InvalidData, why),
            })
        };
        let action = || match ranges {
            [range] => format!("read bytes {} to {} of", range.start, range.end),
            _ => format!("read {} ranges of", ranges.len()),
        };
        match file.metadata().map_or_else(Some, changed) {
            Some(error) => Err(Error::new(&self.name, action(), error)),
            None => Ok(()),
        }
    }

    fn file(&self) -> Result<Arc<File>> {
        let file = self.file.read().unwrap_or_else(PoisonError::into_inner).clone();
        file.ok_or_else(|| closed(&self.name))
    }

    fn read(&self, file: &File, range: &Range<u64>) -> Result<Bytes> {
        let failed = |error| {
            Error::new(&self.name, format!("read bytes {} to {} of", range.start, range.end), error)
        };
        let len = usize::try_from(range.end - range.start)
            .map_err(|_| failed(io::ErrorKind::OutOfMemory.into()))?;
        let mut buffer = Buffer::new(len);
        read_exact_at(file, buffer.bytes_mut(), range.start).map_err(failed)?;
        Ok(Bytes::from_owner(buffer))
    }
}

impl Source for LocalSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn limits(&self) -> Limits {
        CACHED
    }

    fn limits_of(&self, units: &[Vec<Range<u64>>]) -> Limits {
        match self.file() {
            Ok(file) if !is_cached(&file, units) => ON_DISK,
            _ => CACHED,
        }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        for range in ranges {
            check_range(&self.name, self.size, range)?;
        }
        let file = self.file()?;
        let bytes = ranges.iter().map(|range| self.read(&file, range)).collect::<Result<_>>()?;
        self.check_unchanged(&file, ranges)?;
        Ok(bytes)
    }

    fn close(&self) {
        // Reads in other threads keep the file open until they end.
        self.file.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn check_open(&self) -> Result<()> {
        self.file().map(drop)
    }
}
