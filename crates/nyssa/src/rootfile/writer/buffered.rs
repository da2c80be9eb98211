//! Buffers what goes to a sink, so that small writes, such as key headers and checksums, cost no system calls.

use nyssa_io::Sink;

use crate::error::{Error, Result};

/// Writes of at least this many bytes go directly to the sink.
const DIRECT: usize = 128 << 10;
/// The buffer is flushed when it reaches this size.
const CAPACITY: usize = 1 << 20;

/// A sink with a buffer, and the position of its end.
pub(super) struct Buffered {
    sink: Box<dyn Sink>,
    /// The position of the first buffered byte.
    start: u64,
    buffer: Vec<u8>,
}

impl Buffered {
    /// Starts at byte `start` of the sink.
    pub fn new(sink: Box<dyn Sink>, start: u64) -> Self {
        Self { sink, start, buffer: Vec::new() }
    }

    /// Returns the position of the next byte.
    pub fn end(&self) -> u64 {
        self.start + self.buffer.len() as u64
    }

    /// Returns the name of the sink.
    pub fn name(&self) -> &str {
        self.sink.name()
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let end = self.end().checked_add(bytes.len() as u64).filter(|&end| end <= i64::MAX as u64);
        if end.is_none() {
            return Err(Error::limit("the file would exceed 2^63 bytes"));
        }
        if bytes.len() >= DIRECT {
            self.flush()?;
            write_at(self.sink.as_mut(), self.start, bytes)?;
            self.start += bytes.len() as u64;
            return Ok(());
        }
        if self.buffer.len() + bytes.len() > CAPACITY {
            self.flush()?;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Skips `len` bytes, which read as zeros.
    pub fn skip(&mut self, len: u64) -> Result<()> {
        self.flush()?;
        self.start = self
            .start
            .checked_add(len)
            .filter(|&end| end <= i64::MAX as u64)
            .ok_or_else(|| Error::limit("the file would exceed 2^63 bytes"))?;
        Ok(())
    }

    /// Replaces bytes that were written before.
    pub fn overwrite(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.flush()?;
        write_at(self.sink.as_mut(), offset, bytes)
    }

    /// Makes all written bytes durable before later ones are written.
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        let _span = tracing::trace_span!("write").entered();
        Ok(self.sink.sync()?)
    }

    /// Makes the file visible.
    pub fn commit(mut self) -> Result<()> {
        self.flush()?;
        let _span = tracing::trace_span!("write").entered();
        Ok(self.sink.commit()?)
    }

    fn flush(&mut self) -> Result<()> {
        if !self.buffer.is_empty() {
            write_at(self.sink.as_mut(), self.start, &self.buffer)?;
            self.start += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }
}

fn write_at(sink: &mut dyn Sink, offset: u64, bytes: &[u8]) -> Result<()> {
    let _span = tracing::trace_span!("write", bytes_in = bytes.len() as u64).entered();
    Ok(sink.write_at(offset, bytes)?)
}
