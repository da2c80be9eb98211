//! Finds the pages of column chunks by their headers.

use nyssa_root::error::{Error, Result, ResultExt};
use parquet::file::metadata::ColumnChunkMetaData;

use super::chunks::{Chunks, positive, range};
use super::page_header::PageHeader;

/// The bytes that are read for a header, and as many as one with long statistics may have.
const HEADER_BYTES: [u64; 3] = [512, 64 << 10, 16 << 20];

/// Reads the headers of the pages of a column chunk, until they have all its values. `see` gets the first byte of each
/// header in the file, and the header.
///
/// # Errors
/// `OutOfSpecification` for pages that do not fit the chunk; an error of `see`; `Io`.
pub(super) fn pages(
    chunk: &ColumnChunkMetaData,
    chunks: &Chunks,
    mut see: impl FnMut(u64, &PageHeader) -> Result<()>,
) -> Result<()> {
    let (range, values) = (range(chunk.byte_range()), positive(chunk.num_values()));
    let (mut at, mut seen) = (range.start, 0u64);
    while seen < values {
        if at >= range.end {
            let message = format!("the pages have {seen} of the {values} values of their column");
            return Err(Error::out_of_spec(message)).at(|place| place.offset = Some(at));
        }
        let header = header(chunks, at, range.end).at(|place| place.offset = Some(at))?;
        let size = (header.length as u64).saturating_add(header.stored);
        let end = at.checked_add(size).filter(|&end| end <= range.end).ok_or_else(|| {
            let error = Error::out_of_spec("a page ends after its column");
            error.at(|place| place.offset = Some(at))
        })?;
        see(at, &header)?;
        seen = seen.saturating_add(header.column_values());
        at = end;
    }
    Ok(())
}

fn header(chunks: &Chunks, at: u64, end: u64) -> Result<PageHeader> {
    let mut last = Error::out_of_spec("a page header is too long");
    for most in HEADER_BYTES {
        let count = most.min(end - at);
        match PageHeader::parse(&chunks.bytes(at..at + count)?) {
            Err(error) if count < end - at => last = error,
            done => return done,
        }
    }
    Err(last)
}
