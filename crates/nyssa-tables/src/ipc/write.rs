//! Writes an Arrow IPC file (Feather, version 2). Each step of rows becomes a record batch.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::SchemaRef;
use nyssa_root::compression::{Algorithm, Compression};
use nyssa_root::effort::Effort;
use nyssa_root::error::{Error, Result};

use crate::guard::not_written;
use crate::output::{SinkWrite, TableOptions, TableReport};

/// An Arrow IPC file that is being written.
pub(crate) struct Writer {
    file: FileWriter<SinkWrite>,
    schema: SchemaRef,
    report: TableReport,
}

impl Writer {
    /// Begins the file.
    ///
    /// # Errors
    /// `InvalidArgument` for a compression that Arrow IPC does not have; an error if the sink cannot be written.
    pub(crate) fn new(sink: SinkWrite, schema: &SchemaRef, options: &TableOptions) -> Result<Self> {
        let ipc = ipc_options(options.compression, options.effort)?;
        let file = FileWriter::try_new_with_options(sink, schema, ipc).map_err(not_written)?;
        Ok(Self { file, schema: Arc::clone(schema), report: TableReport::default() })
    }

    /// Appends rows.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written.
    pub(crate) fn take(&mut self, arrays: Vec<ArrayRef>, rows: usize) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        let bytes = arrays.iter().map(|array| array.get_array_memory_size() as u64).sum::<u64>();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options);
        batch.and_then(|batch| self.file.write(&batch)).map_err(not_written)?;
        self.report.groups += 1;
        self.report.uncompressed_bytes += bytes;
        Ok(())
    }

    /// Ends the file, and returns its sink.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written.
    pub(crate) fn finish(mut self) -> Result<(SinkWrite, TableReport)> {
        self.file.finish().map_err(not_written)?;
        let columns = vec![None; self.schema.fields().len()];
        let report = TableReport { columns, ..self.report };
        Ok((self.file.into_inner().map_err(not_written)?, report))
    }
}

fn ipc_options(compression: Compression, effort: Effort) -> Result<IpcWriteOptions> {
    let codec = match compression.algorithm {
        _ if compression.level == 0 => None,
        Algorithm::Zstd => Some(CompressionType::ZSTD),
        Algorithm::Lz4 => Some(CompressionType::LZ4_FRAME),
        Algorithm::Zlib | Algorithm::Lzma => {
            return Err(Error::invalid_argument(
                "Arrow IPC has neither zlib nor lzma: take zstd, lz4 or none",
            ));
        }
    };
    let options = IpcWriteOptions::default().try_with_compression(codec).map_err(not_written)?;
    // ROOT's level 5 is level 10 of libzstd.
    let level = 2 * i32::from(compression.level);
    let is_stated = codec == Some(CompressionType::ZSTD) && effort == Effort::Full;
    options.try_with_compression_level(is_stated.then_some(level)).map_err(not_written)
}
