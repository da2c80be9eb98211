//! Collects bytes for a sink in blocks, so that small writes, such as key headers and checksums, cost no system
//! calls.

use std::sync::Arc;

use nyssa_io::{Sink, WriteAt};

use super::behind::{Behind, write_at};
use crate::error::{Error, Kind, Result};
use crate::heuristics::container;

/// The name of what is written, for messages.
const FILE: &str = "file";

/// A sink with a buffer, and the position of its end.
pub(super) struct Buffered {
    name: String,
    output: Output,
    /// The way to the sink for other threads, if it has one.
    beside: Option<Arc<dyn WriteAt>>,
    /// The position of the first buffered byte.
    start: u64,
    buffer: Vec<u8>,
}

/// The way to the sink.
enum Output {
    /// The caller writes.
    Here(Box<dyn Sink>),
    /// A thread writes.
    Behind(Behind),
    /// An earlier write has failed.
    Failed(Error),
}

impl Buffered {
    /// Starts at byte `start` of the sink. With `behind`, a thread writes to the sink, so that errors come at a later call.
    pub(super) fn new(sink: Box<dyn Sink>, start: u64, behind: bool) -> Self {
        let name = sink.name().to_owned();
        let output = match behind {
            true => Behind::start(sink).map_or_else(Output::Here, Output::Behind),
            false => Output::Here(sink),
        };
        // The thread that writes behind the caller writes all, and makes it durable in time.
        let beside = match &output {
            Output::Here(sink) => sink.beside(),
            Output::Behind(_) | Output::Failed(_) => None,
        };
        Self { name, output, beside, start, buffer: Vec::new() }
    }

    /// Returns the position of the next byte.
    pub(super) fn end(&self) -> u64 {
        self.start + self.buffer.len() as u64
    }

    /// Returns the name of the sink.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the way to the sink for other threads, if it has one.
    pub(super) fn beside(&self) -> Option<&Arc<dyn WriteAt>> {
        self.beside.as_ref()
    }

    /// Checks that no write has failed.
    ///
    /// # Errors
    /// The reason of an earlier error.
    pub(super) fn check(&self) -> Result<()> {
        match &self.output {
            Output::Failed(error) => Err(error.later(FILE)),
            Output::Here(_) | Output::Behind(_) => Ok(()),
        }
    }

    /// Appends bytes.
    pub(super) fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        let end = self.end().checked_add(bytes.len() as u64).filter(|&end| end <= i64::MAX as u64);
        if end.is_none() {
            return Err(Error::limit("the file would exceed 2^63 bytes"));
        }
        while !bytes.is_empty() {
            if let Output::Here(sink) = &mut self.output
                && self.buffer.is_empty()
                && bytes.len() >= container::BLOCK
            {
                write_at(sink.as_mut(), self.start, bytes)?;
                self.start += bytes.len() as u64;
                return Ok(());
            }
            let (now, later) =
                bytes.split_at(bytes.len().min(container::BLOCK - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            bytes = later;
            if self.buffer.len() == container::BLOCK {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Skips `len` bytes, which read as zeros until somebody writes them beside this.
    pub(super) fn skip(&mut self, len: u64) -> Result<()> {
        self.flush()?;
        self.start = self
            .start
            .checked_add(len)
            .filter(|&end| end <= i64::MAX as u64)
            .ok_or_else(|| Error::limit("the file would exceed 2^63 bytes"))?;
        Ok(())
    }

    /// Replaces bytes that were written before.
    pub(super) fn overwrite(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.flush()?;
        self.output.write(offset, bytes.to_vec()).map(drop)
    }

    /// Makes all written bytes durable before later bytes are written.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.flush()?;
        let mut sink = self.output.take()?;
        let _stage = nyssa_observe::stage!("write");
        let synced = sink.sync().map_err(Error::from);
        self.output = match &synced {
            Ok(()) => Output::Here(sink),
            Err(error) => Output::Failed(error.clone()),
        };
        synced
    }

    /// Makes the file visible.
    pub(super) fn commit(mut self) -> Result<()> {
        self.flush()?;
        self.beside = None;
        let sink = self.output.take()?;
        let _stage = nyssa_observe::stage!("write");
        Ok(sink.commit()?)
    }

    fn flush(&mut self) -> Result<()> {
        if !self.buffer.is_empty() {
            let bytes = std::mem::take(&mut self.buffer);
            let len = bytes.len() as u64;
            self.buffer = self.output.write(self.start, bytes)?;
            self.start += len;
        }
        Ok(())
    }
}

impl Output {
    /// Writes bytes, and returns empty memory for the next bytes.
    fn write(&mut self, offset: u64, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
        let written = match self {
            Self::Here(sink) => write_at(sink.as_mut(), offset, &bytes).map(|()| {
                bytes.clear();
                bytes
            }),
            Self::Behind(thread) => thread.write(offset, bytes),
            Self::Failed(error) => return Err(error.later(FILE)),
        };
        written.inspect_err(|error| *self = Self::Failed(error.clone()))
    }

    /// Returns the sink, to which all bytes are written. The caller puts it back.
    fn take(&mut self) -> Result<Box<dyn Sink>> {
        let taken = Self::Failed(Error::new(Kind::Io, "the sink was not put back"));
        match std::mem::replace(self, taken) {
            Self::Here(sink) => Ok(sink),
            Self::Behind(mut thread) => {
                thread.end().inspect_err(|error| *self = Self::Failed(error.clone()))
            }
            Self::Failed(error) => {
                let later = error.later(FILE);
                *self = Self::Failed(error);
                Err(later)
            }
        }
    }
}
