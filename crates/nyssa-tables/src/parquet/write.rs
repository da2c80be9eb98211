//! Writes a Parquet file. The columns of a row group are encoded and compressed on all threads, and each page has a
//! checksum.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::SchemaRef;
use nyssa_root::Context;
use nyssa_root::compression::{Algorithm, Compression};
use nyssa_root::effort::Effort;
use nyssa_root::error::{Error, Result};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves,
};
use parquet::basic::{self, GzipLevel, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use rayon::prelude::*;

use super::checksums::{Chunk, Pages, Stores};
use super::chunks::positive;
use crate::guard::not_written;
use crate::output::{SinkWrite, TableOptions, TableReport};

/// The level of zstd if the user names none.
const ZSTD_LEVEL: i32 = 3;

/// The writer of a leaf in a row group, and the pages that it has made.
type Leaf = (ArrowColumnWriter, Pages);

/// A Parquet file that is being written.
pub(crate) struct Writer {
    file: SerializedFileWriter<SinkWrite>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// The places of the pages of the row group that begins.
    stores: Stores,
    /// The leaves of each column in the open row group.
    open: Option<Vec<Vec<Leaf>>>,
    groups: usize,
    group_bytes: u64,
    memory: u64,
    context: Context,
}

impl Writer {
    /// Begins the file.
    ///
    /// # Errors
    /// `InvalidArgument` for a compression that Parquet does not have; `Unsupported` for types that it does not have.
    pub(crate) fn new(
        sink: SinkWrite,
        schema: &SchemaRef,
        options: &TableOptions,
        context: &Context,
    ) -> Result<Self> {
        let metadata = schema.metadata().iter();
        let metadata = metadata.map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
        let mut metadata: Vec<KeyValue> = metadata.collect();
        metadata.sort_by(|a, b| a.key.cmp(&b.key));
        let properties = WriterProperties::builder()
            .set_compression(compression(options.compression, options.effort)?)
            .set_created_by(concat!("nyssa version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(metadata))
            .build();
        let stores = Stores::default();
        let how = ArrowWriterOptions::new().with_properties(properties);
        let how = how.with_page_store_factory(Arc::new(stores.clone()));
        let writer = ArrowWriter::try_new_with_options(sink, Arc::clone(schema), how);
        let (file, factory) =
            writer.and_then(ArrowWriter::into_serialized_writer).map_err(not_written)?;
        let TableOptions { group_bytes, memory, .. } = *options;
        let (schema, context) = (Arc::clone(schema), context.clone());
        let (open, groups) = (None, 0);
        Ok(Self { file, factory, schema, stores, open, groups, group_bytes, memory, context })
    }

    /// Appends rows. A row group ends when it is large enough.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written.
    pub(crate) fn take(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        if arrays.first().is_none_or(|array| array.is_empty()) {
            return Ok(());
        }
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.columns()?,
        };
        let fields = self.schema.fields();
        let write = |((writers, array), field): ((&mut Vec<Leaf>, _), _)| {
            let leaves = compute_leaves(field, array)?;
            writers.iter_mut().zip(&leaves).try_for_each(|((writer, _), leaf)| writer.write(leaf))
        };
        let all = open.par_iter_mut().zip(arrays).zip(fields.par_iter().map(AsRef::as_ref));
        self.context.pool().install(|| all.try_for_each(write)).map_err(not_written)?;
        let sum = |size: fn(&ArrowColumnWriter) -> usize| {
            open.iter().flatten().map(|(writer, _)| size(writer)).sum::<usize>() as u64
        };
        let full = sum(ArrowColumnWriter::get_estimated_total_bytes) >= self.group_bytes
            || sum(ArrowColumnWriter::memory_size) >= self.memory;
        self.open = Some(open);
        if full { self.end_group() } else { Ok(()) }
    }

    /// Returns the writers of the columns of a new row group.
    fn columns(&self) -> Result<Vec<Vec<Leaf>>> {
        let leaves = self.factory.create_column_writers(self.groups).map_err(not_written)?;
        let leaves = leaves.into_iter().zip(self.stores.take());
        let descriptor = self.file.schema_descr();
        let roots = (0..descriptor.num_columns()).map(|leaf| descriptor.get_column_root_idx(leaf));
        let mut columns: Vec<Vec<_>> = self.schema.fields().iter().map(|_| Vec::new()).collect();
        for (root, leaf) in roots.zip(leaves) {
            if let Some(column) = columns.get_mut(root) {
                column.push(leaf);
            }
        }
        Ok(columns)
    }

    fn end_group(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let leaves: Vec<Leaf> = open.into_iter().flatten().collect();
        let close = |(writer, pages): Leaf| Chunk::new(writer, &pages);
        let chunks = || leaves.into_par_iter().map(close).collect::<Result<Vec<_>>>();
        let chunks = self.context.pool().install(chunks)?;
        let write = |file: &mut SerializedFileWriter<SinkWrite>| {
            let mut group = file.next_row_group()?;
            for Chunk { close, bytes } in chunks {
                group.append_column(&bytes, close)?;
            }
            group.close().map(drop)
        };
        write(&mut self.file).map_err(not_written)?;
        self.groups += 1;
        Ok(())
    }

    /// Ends the file, and returns its sink.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written.
    pub(crate) fn finish(mut self) -> Result<(SinkWrite, TableReport)> {
        self.end_group()?;
        let descriptor = self.file.schema_descr();
        let mut report = TableReport { groups: self.groups as u64, ..TableReport::default() };
        let mut columns = vec![0; self.schema.fields().len()];
        for group in self.file.flushed_row_groups() {
            for (leaf, chunk) in group.columns().iter().enumerate() {
                let bytes = positive(chunk.compressed_size());
                report.compressed_bytes += bytes;
                report.uncompressed_bytes += positive(chunk.uncompressed_size());
                let root = descriptor.get_column_root_idx(leaf);
                if let Some(sum) = columns.get_mut(root) {
                    *sum += bytes;
                }
            }
        }
        report.columns = columns.into_iter().map(Some).collect();
        Ok((self.file.into_inner().map_err(not_written)?, report))
    }
}

/// Returns the codec of Parquet for a compression.
fn compression(compression: Compression, effort: Effort) -> Result<basic::Compression> {
    let level = i32::from(compression.level);
    Ok(match compression.algorithm {
        _ if level == 0 => basic::Compression::UNCOMPRESSED,
        Algorithm::Zstd => {
            // ROOT's level 5 is level 10 of libzstd.
            let level = if effort == Effort::Auto { ZSTD_LEVEL } else { 2 * level };
            basic::Compression::ZSTD(ZstdLevel::try_new(level).map_err(not_written)?)
        }
        Algorithm::Zlib => {
            let level = GzipLevel::try_new(u32::from(compression.level)).map_err(not_written)?;
            basic::Compression::GZIP(level)
        }
        Algorithm::Lz4 => basic::Compression::LZ4_RAW,
        Algorithm::Lzma => {
            return Err(Error::invalid_argument(
                "Parquet has no lzma: take zstd, zlib, lz4 or none",
            ));
        }
    })
}
