//! Opens an Arrow IPC file or stream, and decodes its record batches.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, MetadataVersion};
use arrow_schema::{Field, SchemaRef};
use bytes::Bytes;
use nyssa_io::Source;
use nyssa_root::arrow::Cutter;
use nyssa_root::error::{Error, Result};
use nyssa_root::guard::to_usize;

use super::blocks::{Blocks, check_claims};
use crate::columns::Columns;
use crate::guard::{guarded, of_arrow};
use crate::metadata::About;
use crate::shown::fit;
use crate::table::{Head, Table};

/// The record batches of a file or stream.
pub(crate) struct Batches {
    decoder: FileDecoder,
    /// The types as the file has them.
    pub(super) schema: SchemaRef,
    pub(super) version: MetadataVersion,
    pub(super) dictionaries: Vec<Block>,
    pub(super) blocks: Vec<Block>,
}

/// Opens a file or stream.
///
/// # Errors
/// `OutOfSpecification` for damage; `Unsupported` for dictionaries that change; `Io`.
pub(crate) fn open(source: &Arc<dyn Source>) -> Result<Table<Batches>> {
    guarded(|| {
        let found = Blocks::find(source)?;
        let decoder = found.decoder(source)?;
        let rows = found.batches.iter().map(|(_, rows)| Ok(*rows));
        let too_many = || Error::out_of_spec("the batches have more than 2^64 entries");
        let head = Head {
            clusters: Head::clusters(rows, too_many)?,
            columns: Columns::new(&found.schema, |_, field| Ok(field.clone())),
            about: About::new(source, found.schema.metadata()),
            source: Arc::clone(source),
        };
        let Blocks { schema, version, dictionaries, batches } = found;
        let blocks = batches.into_iter().map(|(block, _)| block).collect();
        Ok(Table { head, values: Batches { decoder, schema, version, dictionaries, blocks } })
    })
}

impl Batches {
    /// Decodes a batch.
    ///
    /// # Errors
    /// `OutOfSpecification` for a damaged batch.
    pub(super) fn batch(&self, index: usize, bytes: Bytes) -> Result<RecordBatch> {
        let block = &self.blocks[index];
        check_claims(block, &bytes)?;
        let batch =
            self.decoder.read_record_batch(block, &Buffer::from(bytes)).map_err(of_arrow)?;
        batch.ok_or_else(missing)
    }

    /// Decodes some rows of a batch, in the types of the columns.
    ///
    /// # Errors
    /// `OutOfSpecification` for a damaged batch.
    pub(super) fn decode(
        &self,
        (index, rows): (usize, Range<u64>),
        bytes: &mut [Bytes],
        columns: &[(usize, Field)],
    ) -> Result<Vec<ArrayRef>> {
        let batch = self.batch(index, bytes.first_mut().map(std::mem::take).unwrap_or_default())?;
        let (start, count) = (to_usize(rows.start, "entry")?, rows.end - rows.start);
        let count = to_usize(count, "entries")?;
        if batch.num_rows() < start + count {
            return Err(Error::out_of_spec("a record batch is shorter than its head says"));
        }
        let column = |(column, field): &(usize, Field)| {
            let array = batch.columns().get(*column).ok_or_else(missing)?;
            Cutter::default().cut(&fit(array, field)?, start, count)
        };
        columns.iter().map(column).collect()
    }
}

fn missing() -> Error {
    Error::out_of_spec("a record batch is missing")
}
