//! Reads an Arrow IPC file or stream as a dataset, whose clusters are the record batches. Batches are fetched whole, and
//! decoded on all threads.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, MetadataVersion};
use arrow_schema::{Field, SchemaRef};
use bytes::Bytes;
use nyssa_data::dataset::{Arrays, Format};
use nyssa_io::Source;
use nyssa_root::Context;
use nyssa_root::arrow::Cutter;
use nyssa_root::error::{Error, Result};
use nyssa_root::fetch::on_all_threads;
use nyssa_root::guard::to_usize;
use nyssa_root::problem::DatasetCheck;

use super::blocks::{Blocks, check_claims, range_of};
use crate::columns::Columns;
use crate::guard::{guarded, of_arrow};
use crate::layout::Layout;
use crate::metadata::About;
use crate::shown::fit;
use crate::table::{Head, Table, Values, joined};

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
            columns: Columns::new(&found.schema, |_, field| field.clone())?,
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
    fn decode(
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

impl Values for Batches {
    const FORMAT: Format = Format::Arrow;

    fn layout(&self, head: &Head, _context: &Context) -> Result<Layout> {
        guarded(|| super::layout::layout(self, head))
    }

    fn check(&self, head: &Head, context: &Context) -> Result<DatasetCheck> {
        super::verify::check(self, head, context)
    }

    fn read(
        &self,
        head: &Head,
        columns: &[(usize, Field)],
        entries: &Range<u64>,
        context: &Context,
    ) -> Result<Arrays> {
        let mut units = Vec::new();
        for (index, rows) in head.parts(entries) {
            units.push((vec![range_of(&self.blocks[index], head.source.size())?], (index, rows)));
        }
        let work = |_: &mut (), unit: (usize, Range<u64>), bytes: Result<&mut [Bytes]>| {
            let (index, bytes) = (unit.0, bytes?);
            Ok((index, guarded(|| self.decode(unit, bytes, columns))?))
        };
        let mut batches = on_all_threads(&head.source, units, context, || (), work)?;
        batches.sort_by_key(|(index, _)| *index);
        let column = |(number, (_, field)): (usize, &(usize, Field))| {
            let parts = batches.iter().filter_map(|(_, arrays)| arrays.get(number).cloned());
            joined(&parts.collect::<Vec<_>>(), field)
        };
        columns.iter().enumerate().map(column).collect()
    }
}
