//! Contains sources and sinks in memory, for tests and for data that are never on a disk.

use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::earlier::EarlierError;
use crate::source::check_range;
use crate::{Error, Limits, Result, Sink, Source, WriteAt};

/// A source in memory. Ranges are shared and not copied.
#[derive(Clone, Debug)]
pub struct MemorySource {
    name: String,
    data: Bytes,
}

impl MemorySource {
    /// Makes a source of `data`. Messages call it `name`.
    pub fn new(name: impl Into<String>, data: impl Into<Bytes>) -> Self {
        Self { name: name.into(), data: data.into() }
    }
}

impl Source for MemorySource {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> u64 {
        self.data.len() as u64
    }

    fn limits(&self) -> Limits {
        Limits::NONE
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let read = |range: &Range<u64>| {
            check_range(&self.name, self.size(), range)?;
            Ok(self.data.slice(range.start as usize..range.end as usize))
        };
        ranges.iter().map(read).collect()
    }
}

/// A sink in memory. The bytes can be taken from the [`MemoryHandle`] after the commit.
#[derive(Debug)]
pub struct MemorySink {
    data: Arc<Data>,
    committed: MemoryHandle,
}

/// The bytes of a sink, which other threads may write.
#[derive(Debug)]
struct Data {
    name: String,
    bytes: Mutex<Vec<u8>>,
    failed: EarlierError,
}

/// A handle to the bytes of a [`MemorySink`] after the commit.
#[derive(Clone, Debug, Default)]
pub struct MemoryHandle(Arc<Mutex<Option<Vec<u8>>>>);

impl MemorySink {
    /// Makes an empty sink, and the handle to its bytes. Messages call it `name`.
    pub fn new(name: impl Into<String>) -> (Self, MemoryHandle) {
        let committed = MemoryHandle::default();
        let data =
            Data { name: name.into(), bytes: Mutex::default(), failed: EarlierError::default() };
        (Self { data: Arc::new(data), committed: committed.clone() }, committed)
    }
}

impl MemoryHandle {
    /// Returns whether the sink has been committed and the bytes were not taken yet.
    pub fn is_ready(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Takes the committed bytes. They are empty before the commit, and if they were taken already.
    pub fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }
}

impl Data {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WriteAt for Data {
    fn write_at(&self, offset: u64, data: &[u8]) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        let failed = || {
            let action = format!("write {} bytes at byte {offset} of", data.len());
            let error = io::ErrorKind::OutOfMemory.into();
            self.failed.keep(&error);
            Error::new(&self.name, action, error)
        };
        let start = usize::try_from(offset).map_err(|_| failed())?;
        let end = start.checked_add(data.len()).ok_or_else(failed)?;
        let mut bytes = self.bytes();
        let more = end.saturating_sub(bytes.len());
        bytes.try_reserve(more).map_err(|_| failed())?;
        let size = bytes.len() + more;
        bytes.resize(size, 0);
        bytes[start..end].copy_from_slice(data);
        Ok(())
    }
}

impl Sink for MemorySink {
    fn name(&self) -> &str {
        &self.data.name
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        self.data.write_at(offset, data)
    }

    fn beside(&self) -> Option<Arc<dyn WriteAt>> {
        Some(Arc::<Data>::clone(&self.data))
    }

    fn commit(self: Box<Self>) -> Result<()> {
        let failed = |error| Error::new(self.name(), "finish writing", error);
        self.data.failed.check().map_err(failed)?;
        let bytes = std::mem::take(&mut *self.data.bytes());
        *self.committed.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(bytes);
        Ok(())
    }
}
