//! A local file to read.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;

use super::buffers::Buffer;
use super::position::read_exact_at;
use crate::coalesce::coalesce;
use crate::source::check_range;
use crate::{Error, Limits, Result, Source};

/// Reading over a gap of this many bytes costs about as much as another system call.
const COALESCE_GAP: u64 = 16 << 10;

/// Most bytes that are merged into one read: the ranges of one read share a buffer, which lives as
/// long as any of them.
const MERGED_BYTES: u64 = 8 << 20;

/// A local file, opened once and read at offsets from any thread. Its size is that at opening.
#[derive(Debug)]
pub struct LocalSource {
    name: String,
    /// `None` once it is closed.
    file: RwLock<Option<Arc<File>>>,
    size: u64,
}

/// What is known of a file that is not there.
fn missing(path: &Path, error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return error;
    }
    if path.as_os_str().is_empty() {
        return io::Error::new(error.kind(), "the name is empty");
    }
    if let Ok(target) = fs::read_link(path) {
        let why = format!("it is a link to {}, which is not there", target.display());
        return io::Error::new(error.kind(), why);
    }
    match path.to_str().and_then(|text| text.split_once("://")) {
        Some(("file", local)) => {
            io::Error::new(error.kind(), format!("name it without file://, as {local}"))
        }
        Some((scheme, _)) if scheme.chars().all(|c| c.is_ascii_alphanumeric()) => {
            let why = format!("files are read from this machine, not by {scheme}; copy it first");
            io::Error::new(io::ErrorKind::Unsupported, why)
        }
        _ => error,
    }
}

/// Refuses what is no regular file.
pub(super) fn check_file(path: &Path) -> io::Result<()> {
    let found = fs::metadata(path)?;
    if found.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file"));
    }
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(())
}

impl LocalSource {
    /// Opens `path`.
    ///
    /// # Errors
    /// The system's, `IsADirectory`, `InvalidInput` for another thing that is no regular file, and
    /// `Unsupported` for a URL.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let failed = |error| Error::new(&name, "open", error);
        // Before opening: that would wait forever on a pipe without a writer.
        check_file(path).map_err(|error| failed(missing(path, error)))?;
        let file = File::open(path).map_err(failed)?;
        Self::of(name.clone(), file).map_err(failed)
    }

    /// A source of an open file.
    pub(super) fn of(name: String, file: File) -> io::Result<Self> {
        let size = file.metadata()?.len();
        Ok(Self { name, file: RwLock::new(Some(Arc::new(file))), size })
    }

    fn file(&self) -> Result<Arc<File>> {
        let file = self.file.read().unwrap_or_else(PoisonError::into_inner).clone();
        file.ok_or_else(|| {
            let reason = "it is closed; open it again";
            Error::new(&self.name, "read", io::Error::new(io::ErrorKind::InvalidInput, reason))
        })
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
        Limits { max_ranges: usize::MAX, max_range_bytes: u64::MAX, coalesce_gap: COALESCE_GAP }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        for range in ranges {
            check_range(&self.name, self.size, range)?;
        }
        let file = self.file()?;
        let mut out = vec![Bytes::new(); ranges.len()];
        for merged in coalesce(ranges, COALESCE_GAP, MERGED_BYTES) {
            let bytes = self.read(&file, &merged.range)?;
            let base = merged.range.start;
            for index in merged.members {
                let range = &ranges[index];
                // Within `bytes`, whose length is a `usize`.
                out[index] =
                    bytes.slice((range.start - base) as usize..(range.end - base) as usize);
            }
        }
        Ok(out)
    }

    fn close(&self) {
        // Reads that go on hold the file until they end.
        self.file.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn check_open(&self) -> Result<()> {
        self.file().map(drop)
    }
}
