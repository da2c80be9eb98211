//! Says how the values of a Parquet file are stored, by the headers of its pages.

use std::sync::Arc;

use nyssa_io::Source;
use nyssa_root::Context;
use nyssa_root::error::{Result, ResultExt};
use parquet::basic::{CompressionCodec, Type};
use parquet::schema::types::ColumnDescriptor;
use rayon::prelude::*;

use super::chunks::Chunks;
use super::pages::pages;
use super::read::RowGroups;
use crate::layout::{Layout, Leaf, StoredPage};
use crate::table::Head;

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
