//! Gives the bytes of a source to the Parquet library: chunks of columns that were fetched, or one piece after the other.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use nyssa_io::Source;
use nyssa_root::error::Error;
use nyssa_root::guard::to_usize;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};

use crate::guard::of_parquet;

/// The bytes that are read at once where a chunk was not fetched before.
const PIECE: u64 = 256 << 10;

/// Returns the numbers of the leaves of a column, which have a chunk each in a row group.
pub(super) fn leaves(metadata: &ParquetMetaData, column: usize) -> impl Iterator<Item = usize> {
    let schema = metadata.file_metadata().schema_descr();
    (0..schema.num_columns()).filter(move |&leaf| schema.get_column_root_idx(leaf) == column)
}

/// Returns the bytes of a column chunk.
pub(super) fn range((start, length): (u64, u64)) -> Range<u64> {
    start..start.saturating_add(length)
}

/// Returns a number that the file should not have as negative.
pub(super) fn positive(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// The bytes of a file.
#[derive(Clone)]
pub(super) struct Chunks {
    source: Arc<dyn Source>,
    /// The fetched bytes, each with its first byte in the file.
    fetched: Vec<(u64, Bytes)>,
    /// Why the source could not be read. The library makes a text of this error.
    failed: Arc<Mutex<Option<nyssa_io::Error>>>,
}

impl Chunks {
    pub(super) fn new(source: &Arc<dyn Source>, fetched: Vec<(u64, Bytes)>) -> Self {
        Self { source: Arc::clone(source), fetched, failed: Arc::default() }
    }

    /// Returns the error of the source if it could not be read, or else the error of the library.
    pub(super) fn cause(&self, of_library: impl FnOnce() -> Error) -> Error {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        failed.map_or_else(of_library, Error::from)
    }

    /// Returns bytes of the file.
    ///
    /// # Errors
    /// `OutOfSpecification` for bytes after its end; `Io`.
    pub(super) fn bytes(&self, wanted: Range<u64>) -> nyssa_root::error::Result<Bytes> {
        let count = to_usize(wanted.end - wanted.start, "bytes")?;
        self.get_bytes(wanted.start, count).map_err(|error| self.cause(|| of_parquet(error)))
    }

    /// Returns the fetched bytes from byte `start` on.
    fn known(&self, start: u64) -> Option<Bytes> {
        self.fetched.iter().find_map(|(first, bytes)| {
            let at = usize::try_from(start.checked_sub(*first)?).ok()?;
            (at < bytes.len()).then(|| bytes.slice(at..))
        })
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        if range.end > self.source.size() {
            return Err(ParquetError::EOF("the file ends before its data".to_owned()));
        }
        let all = nyssa_io::fetch::read_all(&self.source, std::slice::from_ref(&range));
        let mut all = all.map_err(|error| {
            let message = error.to_string();
            *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            ParquetError::General(message)
        })?;
        Ok(all.pop().unwrap_or_default())
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.source.size()
    }
}

impl ChunkReader for Chunks {
    type T = Pieces;

    fn get_read(&self, start: u64) -> Result<Pieces> {
        Ok(Pieces { chunks: self.clone(), at: start, piece: self.known(start).unwrap_or_default() })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        match self.known(start) {
            Some(bytes) if bytes.len() >= length => Ok(bytes.slice(..length)),
            _ => self.read(start..start.saturating_add(length as u64)),
        }
    }
}

/// Reads on from one byte of the file.
pub(super) struct Pieces {
    chunks: Chunks,
    /// The place of the first byte of `piece`.
    at: u64,
    piece: Bytes,
}

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() {
            let end = self.chunks.source.size().min(self.at.saturating_add(PIECE));
            if self.at >= end {
                return Ok(0);
            }
            self.piece = match self.chunks.known(self.at) {
                Some(known) => known,
                None => self.chunks.read(self.at..end).map_err(io::Error::other)?,
            };
        }
        let count = into.len().min(self.piece.len());
        into[..count].copy_from_slice(&self.piece.split_to(count));
        self.at += count as u64;
        Ok(count)
    }
}
