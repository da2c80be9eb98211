//! Keeps the pages of a column chunk until its row group is written, and gives each page its checksum, which the library
//! does not write.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use nyssa_root::error::{Error, Result};
use parquet::arrow::arrow_writer::{
    ArrowColumnWriter, PageKey, PageStore, PageStoreArgs, PageStoreFactory,
};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

use super::page_header::PageHeader;
use crate::guard::not_written;

/// The parts of a column chunk in the order in which the library makes them: a header, then its page.
#[derive(Debug, Default)]
struct Parts {
    all: Vec<Bytes>,
    bytes: usize,
}

/// The parts of a column chunk, which its writer and this crate have together.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages(Arc<Mutex<Parts>>);

/// Makes a place for the parts of each column chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct Stores(Arc<Mutex<Vec<Pages>>>);

impl Stores {
    /// Returns the places that were made since the last call, in the order of the leaves.
    pub(super) fn take(&self) -> Vec<Pages> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl PageStoreFactory for Stores {
    fn create(&self, _args: &PageStoreArgs<'_>) -> ParquetResult<Box<dyn PageStore>> {
        let pages = Pages::default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(pages.clone());
        Ok(Box::new(pages))
    }
}

impl PageStore for Pages {
    fn put(&mut self, value: Bytes) -> ParquetResult<PageKey> {
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        parts.bytes += value.len();
        parts.all.push(value);
        Ok(PageKey::new(parts.all.len() as u64 - 1))
    }

    fn take(&mut self, key: PageKey) -> ParquetResult<Bytes> {
        let parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let part = usize::try_from(key.get()).ok().and_then(|index| parts.all.get(index));
        part.cloned().ok_or_else(|| ParquetError::General("a page is missing".to_owned()))
    }

    fn memory_size(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }
}

/// A column chunk that can be appended to a row group.
pub(super) struct Chunk {
    pub(super) close: ColumnCloseResult,
    /// The headers and pages in the order of the file.
    pub(super) bytes: ChunkBytes,
}

impl Chunk {
    /// Ends a column chunk, whose parts are in `pages`. All pages get their checksum, the dictionary comes first, and the
    /// places of the pages follow from this.
    ///
    /// # Errors
    /// Returns an error if the values cannot be encoded.
    pub(super) fn new(writer: ArrowColumnWriter, pages: &Pages) -> Result<Self> {
        let mut close = writer.close().map_err(not_written)?.close().clone();
        let mut parts = pages.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = std::mem::take(&mut parts.all);
        let (mut dictionary, mut data, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        let mut added = 0;
        for pair in all.chunks(2) {
            let [header, page] = pair else {
                return Err(Error::invalid_argument("a page header has no page"));
            };
            let known = PageHeader::parse(header)?;
            let new = Bytes::from(known.with_checksum(header, crc32fast::hash(page)));
            added += (new.len() - header.len()) as u64;
            let size = new.len() + page.len();
            let list = if known.is_dictionary() { &mut dictionary } else { &mut data };
            list.extend([new, page.clone()]);
            if !known.is_dictionary() {
                sizes.push(size);
            }
        }
        let first = dictionary.iter().map(Bytes::len).sum::<usize>();
        let more = added.cast_signed();
        let known = close.metadata;
        let (stored, plain) = (known.compressed_size() + more, known.uncompressed_size() + more);
        close.metadata = known
            .into_builder()
            .set_total_compressed_size(stored)
            .set_total_uncompressed_size(plain)
            .set_dictionary_page_offset((first > 0).then_some(0))
            .set_data_page_offset(first as i64)
            .build()
            .map_err(not_written)?;
        close.bytes_written += added;
        let mut at = first;
        let locations = close.offset_index.iter_mut().flat_map(|index| &mut index.page_locations);
        for (location, size) in locations.zip(sizes) {
            location.offset = at as i64;
            location.compressed_page_size = i32::try_from(size)
                .map_err(|_| Error::limit("a page of Parquet has at most 2 GiB"))?;
            at += size;
        }
        dictionary.extend(data);
        Ok(Self { close, bytes: ChunkBytes(dictionary) })
    }
}

/// The bytes of a column chunk, in pieces.
#[derive(Clone)]
pub(super) struct ChunkBytes(Vec<Bytes>);

impl Length for ChunkBytes {
    fn len(&self) -> u64 {
        self.0.iter().map(|part| part.len() as u64).sum()
    }
}

impl ChunkReader for ChunkBytes {
    type T = Self;

    fn get_read(&self, start: u64) -> ParquetResult<Self> {
        let mut left = usize::try_from(start)?;
        let mut rest = Vec::with_capacity(self.0.len());
        for part in &self.0 {
            let skipped = left.min(part.len());
            rest.push(part.slice(skipped..));
            left -= skipped;
        }
        // The next piece is the last one of the list.
        rest.reverse();
        Ok(Self(rest))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let mut bytes = Vec::new();
        self.get_read(start)?.take(length as u64).read_to_end(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// Reads the pieces of [`ChunkReader::get_read`].
impl Read for ChunkBytes {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.0.last().is_some_and(Bytes::is_empty) {
            self.0.pop();
        }
        let Some(piece) = self.0.last_mut() else { return Ok(0) };
        let count = into.len().min(piece.len());
        into[..count].copy_from_slice(&piece.split_to(count));
        Ok(count)
    }
}
