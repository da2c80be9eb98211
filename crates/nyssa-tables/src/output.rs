//! What the writers of all tables share: options, reports, and bytes to a sink.

use std::io::{self, Write};

use nyssa_data::dataset::Format;
use nyssa_io::Sink;
use nyssa_root::compression::Compression;
use nyssa_root::effort::Effort;

/// The options of a table that is written.
#[derive(Clone, Debug)]
pub struct TableOptions {
    /// Parquet or Arrow IPC.
    pub format: Format,
    /// The compression of pages, or of the buffers of a record batch.
    pub compression: Compression,
    /// Whether the level counts. With [`Effort::Auto`] zstd takes its own default, level 3.
    pub effort: Effort,
    /// The stored bytes after which a row group of Parquet ends.
    pub group_bytes: u64,
    /// The largest memory of an open row group, in bytes.
    pub memory: u64,
    /// The name of the TTree or RNTuple, which the metadata keep.
    pub object: String,
    /// Its title or description.
    pub description: String,
}

/// The facts about a table that is complete.
#[derive(Clone, Debug, Default)]
pub struct TableReport {
    /// The number of entries.
    pub entries: u64,
    /// The number of row groups, or of record batches.
    pub groups: u64,
    /// The bytes of the columns before compression.
    pub uncompressed_bytes: u64,
    /// The stored bytes of the columns.
    pub compressed_bytes: u64,
    /// The stored bytes of each column. Arrow IPC does not know them.
    pub columns: Vec<Option<u64>>,
    /// The size of the file in bytes.
    pub file_bytes: u64,
}

/// Writes one byte after the other into a sink.
pub(crate) struct SinkWrite {
    pub(crate) sink: Box<dyn Sink>,
    pub(crate) at: u64,
}

impl Write for SinkWrite {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.write_at(self.at, bytes).map_err(|error| {
            let kind = error.source.kind();
            io::Error::new(kind, error)
        })?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
