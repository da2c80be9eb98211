//! Finds the pages of column chunks by their headers.

use std::sync::Arc;

use bytes::Bytes;
use nyssa_io::Source;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use parquet::basic::{CompressionCodec, Type};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::schema::types::ColumnDescriptor;
use rayon::prelude::*;

use super::chunks::Chunks;
use super::page_header::PageHeader;
use super::read::{RowGroups, positive, range};
use crate::layout::{Layout, Leaf, StoredPage};
use crate::table::Head;

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

/// Returns the name of a compression as reports have it.
fn codec(codec: CompressionCodec) -> &'static str {
    match codec {
        CompressionCodec::UNCOMPRESSED => "none",
        CompressionCodec::SNAPPY => "snappy",
        CompressionCodec::GZIP => "zlib",
        CompressionCodec::LZO => "lzo",
        CompressionCodec::BROTLI => "brotli",
        CompressionCodec::LZ4 | CompressionCodec::LZ4_RAW => "lz4",
        CompressionCodec::ZSTD => "zstd",
    }
}

fn leaf(descriptor: &ColumnDescriptor, column: usize) -> Leaf {
    let physical = descriptor.physical_type();
    let bits = match physical {
        Type::BOOLEAN => 1,
        Type::INT32 | Type::FLOAT => 32,
        Type::INT64 | Type::DOUBLE => 64,
        Type::INT96 => 96,
        Type::BYTE_ARRAY => 0,
        Type::FIXED_LEN_BYTE_ARRAY => {
            u16::try_from(descriptor.type_length().saturating_mul(8)).unwrap_or(0)
        }
    };
    Leaf { path: descriptor.path().string(), column, stored_type: physical.to_string(), bits }
}

/// Says how the values of a file are stored, by the headers of its pages.
///
/// # Errors
/// `OutOfSpecification` for damaged headers; `Cancelled`; `Io`.
pub(super) fn layout(groups: &RowGroups, head: &Head, context: &Context) -> Result<Layout> {
    let metadata = groups.metadata.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let column = |leaf: usize| schema.get_column_root_idx(leaf);
    let leaves = schema.columns().iter().enumerate();
    let leaves = leaves.map(|(index, descriptor)| leaf(descriptor, column(index))).collect();
    let all: Vec<(usize, usize)> = (0..metadata.num_row_groups())
        .flat_map(|cluster| (0..schema.num_columns()).map(move |leaf| (cluster, leaf)))
        .collect();
    let source: &Arc<dyn Source> = &head.source;
    let of_chunk = |&(cluster, leaf): &(usize, usize)| {
        context.check()?;
        let chunk = metadata.row_group(cluster).column(leaf);
        let codec = codec(chunk.compression_codec());
        let mut found = Vec::new();
        pages(chunk, &Chunks::new(source, Vec::new()), |offset, header| {
            let length = header.length as u64;
            found.push(StoredPage {
                leaf,
                cluster,
                offset,
                bytes: length.saturating_add(header.stored),
                uncompressed: length.saturating_add(header.uncompressed),
                values: header.column_values(),
                encoding: header.encoding(),
                codec,
            });
            Ok(())
        })
        .in_field(&schema.column(leaf).path().string())?;
        Ok(found)
    };
    let pages = context
        .pool()
        .install(|| all.par_iter().map(of_chunk).collect::<Result<Vec<Vec<StoredPage>>>>())?;
    Ok(Layout { leaves, pages: pages.concat() })
}

impl Chunks {
    /// Returns bytes of the file.
    ///
    /// # Errors
    /// `OutOfSpecification` for bytes after its end; `Io`.
    pub(super) fn bytes(&self, wanted: std::ops::Range<u64>) -> Result<Bytes> {
        use parquet::file::reader::ChunkReader;

        let count = nyssa_root::guard::to_usize(wanted.end - wanted.start, "bytes")?;
        self.get_bytes(wanted.start, count).map_err(|error| match self.failure() {
            Some(failed) => failed.into(),
            None => crate::guard::of_parquet(error),
        })
    }
}
