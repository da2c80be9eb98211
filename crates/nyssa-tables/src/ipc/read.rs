//! Reads an Arrow IPC file or stream as a dataset, whose clusters are the record batches. Batches are fetched whole, and
//! decoded on all threads.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::Block;
use arrow_ipc::reader::FileDecoder;
use arrow_schema::Field;
use bytes::Bytes;
use nyssa_data::dataset::{Arrays, ColumnInfo, Dataset, Format, check_entries};
use nyssa_io::{OpenOptions, Source};
use nyssa_root::Context;
use nyssa_root::arrow::Cutter;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::fetch::on_all_threads;
use nyssa_root::guard::to_usize;

use super::blocks::{Blocks, check_claims, range_of};
use crate::columns::Columns;
use crate::guard::{guarded, of_arrow};
use crate::metadata::About;
use crate::parquet::read::joined;
use crate::shown::fit;

/// An open Arrow IPC file or stream.
pub(crate) struct Reader {
    source: Arc<dyn Source>,
    decoder: FileDecoder,
    batches: Vec<Block>,
    /// The entries of each batch.
    clusters: Vec<Range<u64>>,
    columns: Columns,
    about: About,
}

impl Reader {
    /// Opens the file or stream.
    ///
    /// # Errors
    /// `OutOfSpecification` for damage; `Unsupported` for dictionaries that change; `Io`.
    pub(crate) fn open(source: &Arc<dyn Source>) -> Result<Self> {
        guarded(|| {
            let blocks = Blocks::find(source)?;
            let decoder = blocks.decoder(source)?;
            let mut end = 0u64;
            let clusters = blocks.batches.iter().map(|(_, rows)| {
                let start = end;
                let more = || Error::out_of_spec("the batches have more than 2^64 entries");
                end = end.checked_add(*rows).ok_or_else(more)?;
                Ok(start..end)
            });
            let clusters = clusters.collect::<Result<_>>()?;
            let columns = Columns::new(&blocks.schema, |_, field| field.clone())?;
            let about = About::new(source, blocks.schema.metadata());
            let batches = blocks.batches.into_iter().map(|(block, _)| block).collect();
            let source = Arc::clone(source);
            Ok(Self { source, decoder, batches, clusters, columns, about })
        })
    }

    /// Decodes some rows of a batch, in the types of the columns.
    fn decode(
        &self,
        (index, rows): (usize, Range<u64>),
        bytes: &mut [Bytes],
        columns: &[(usize, Field)],
    ) -> Result<Vec<ArrayRef>> {
        let bytes = bytes.first_mut().map(std::mem::take).unwrap_or_default();
        let block = &self.batches[index];
        check_claims(block, &bytes)?;
        let batch =
            self.decoder.read_record_batch(block, &Buffer::from(bytes)).map_err(of_arrow)?;
        let missing = || Error::out_of_spec("a record batch is missing");
        let batch: RecordBatch = batch.ok_or_else(missing)?;
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

impl Dataset for Reader {
    fn format(&self) -> Format {
        Format::Arrow
    }

    fn name(&self) -> &str {
        &self.about.object
    }

    fn file(&self) -> &str {
        self.source.name()
    }

    fn location(&self) -> &Path {
        self.source.location()
    }

    fn num_entries(&self) -> u64 {
        self.clusters.last().map_or(0, |cluster| cluster.end)
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns.items
    }

    fn title(&self, column: &str) -> String {
        self.columns.title(column)
    }

    fn description(&self) -> String {
        self.about.description.clone()
    }

    fn close(&self) {
        self.source.close();
    }

    fn check_open(&self, _entries: &Range<u64>) -> Result<()> {
        Ok(self.source.check_open()?)
    }

    fn open_options(&self) -> Vec<OpenOptions> {
        self.source.options().cloned().into_iter().collect()
    }

    fn clusters(&self) -> Vec<Range<u64>> {
        self.clusters.iter().filter(|cluster| !cluster.is_empty()).cloned().collect()
    }

    fn read(&self, names: &[&str], entries: Range<u64>, context: &Context) -> Result<Arrays> {
        check_entries(&entries, self.num_entries())?;
        self.source.check_open()?;
        let columns = self.columns.find(names).in_file(self.file())?;
        let mut units = Vec::new();
        for (index, cluster) in self.clusters.iter().enumerate() {
            let (from, to) = (entries.start.max(cluster.start), entries.end.min(cluster.end));
            if from < to {
                let range = range_of(&self.batches[index], self.source.size())?;
                units.push((vec![range], (index, from - cluster.start..to - cluster.start)));
            }
        }
        let work = |_: &mut (), unit: (usize, Range<u64>), bytes: Result<&mut [Bytes]>| {
            let (index, bytes) = (unit.0, bytes?);
            Ok((index, guarded(|| self.decode(unit, bytes, &columns))?))
        };
        let batches = on_all_threads(&self.source, units, context, || (), work);
        let mut batches = batches.in_file(self.file()).in_object(self.name())?;
        batches.sort_by_key(|(index, _)| *index);
        let column = |(number, (_, field)): (usize, &(usize, Field))| {
            let parts = batches.iter().filter_map(|(_, arrays)| arrays.get(number).cloned());
            joined(&parts.collect::<Vec<_>>(), field)
        };
        columns.iter().enumerate().map(column).collect()
    }
}
