//! Reads and seals batches of the fields of a cluster, while earlier batches are written.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use arrow_array::ArrayRef;
use nyssa_data::dataset::Dataset;
use nyssa_data::view::Selected;
use nyssa_rntuple::page::SealedColumn;
use nyssa_rntuple::schema::{Column, FieldId, Schema};
use nyssa_rntuple::seal::{SealSettings, Sealer};
use nyssa_rntuple::write::Writer;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::pipeline::{Next, Pipeline, Plan, Threads};

use super::sizes::Sizes;
use crate::heuristics::{job, rewrite};
use crate::job::clusters::{Clusters, PlannedCluster};
use crate::job::cutting::Cutter;
use crate::job::largest_part::{LargestPart, entries_of};

/// The input of a rewrite, and how its batches are made.
pub(super) struct Batches<'a> {
    pub selected: &'a Selected<&'a dyn Dataset>,
    pub sizes: &'a Sizes,
    /// The fields with their own data: name in the source and id in the output. They are in the order of the sizes.
    pub fields: &'a [(String, FieldId)],
    pub schema: &'a Schema,
    pub settings: &'a SealSettings,
    /// The largest size in bytes of the decoded and sealed data that are in memory at the same time.
    pub memory: u64,
    /// The largest data of a batch.
    pub largest: &'a LargestPart,
    pub context: &'a Context,
}

/// Some fields of one cluster.
#[derive(Clone, Debug, Default)]
struct Batch {
    entries: Range<u64>,
    /// The indices of fields.
    fields: Range<usize>,
    /// The number of decoded bytes of the batch.
    bytes: u64,
    first: bool,
    last: bool,
}

/// The sizes of the output, and notes.
pub(super) struct Written {
    /// The compressed bytes by field.
    pub field_bytes: Vec<u64>,
    /// The numbers of bytes before and after compression, by column.
    pub column_bytes: Vec<(u64, u64)>,
    /// Notes on the clusters.
    pub notes: Vec<String>,
}

impl Batches<'_> {
    /// Writes all clusters.
    ///
    /// # Errors
    /// `Cancelled`; an error if the input cannot be read or the sink cannot be written.
    pub(super) fn run(&self, cutter: Cutter, writer: &mut Writer) -> Result<Written> {
        let sealer = Sealer::default();
        let quiet = self.context.quiet();
        let owners = owners(self.schema, self.fields);
        let mut written = Written {
            field_bytes: vec![0; self.fields.len()],
            column_bytes: vec![(0, 0); self.schema.columns.len()],
            notes: Vec::new(),
        };
        let clusters = Clusters::new(cutter, job::CLUSTERS_AHEAD);
        let plan = BatchPlan { batches: self, clusters, next: 0, queue: VecDeque::new() };
        let make = |batch: &Batch, (): &mut ()| {
            self.context.pool().install(|| {
                let arrays = self.read(batch, &quiet)?;
                let fields = || self.names(&batch.fields);
                self.largest.add(&only(&arrays), || entries_of(&batch.entries, &fields()));
                sealer.seal(self.schema, &arrays, self.settings, &quiet)
            })
        };
        let size = |columns: &Vec<SealedColumn>| {
            columns.iter().map(|column| column.page_bytes().1).sum::<u64>()
        };
        let write = |batch: &Batch, columns: Vec<SealedColumn>| {
            for column in &columns {
                let (before, after) = column.page_bytes();
                let index = column.column.0 as usize;
                let owner = owners.get(index).copied().flatten();
                if let Some(total) = owner.and_then(|owner| written.field_bytes.get_mut(owner)) {
                    *total += after;
                }
                if let Some(total) = written.column_bytes.get_mut(index) {
                    *total = (total.0 + before, total.1 + after);
                }
            }
            let total = self.write(batch, columns, writer)?;
            self.context.report(done(batch, self.fields.len()), self.selected.num_entries());
            Ok(total)
        };
        let pipeline = Pipeline {
            threads: Threads::Beside(rewrite::BATCHES),
            bytes: self.memory / rewrite::BATCH_DIVISOR * rewrite::BATCHES as u64,
            context: self.context,
        };
        let plan = pipeline.run(plan, make, size, write)?;
        written.notes = plan.clusters.notes(self.memory);
        Ok(written)
    }

    /// Divides a cluster into batches that fit into the memory.
    fn cut(&self, entries: &Range<u64>, queue: &mut VecDeque<Batch>) {
        let most = self.memory / rewrite::BATCH_DIVISOR;
        let mut batch = Batch { entries: entries.clone(), first: true, ..Batch::default() };
        for (field, size) in self.bytes(entries).into_iter().enumerate() {
            if field > batch.fields.start && batch.bytes.saturating_add(size) > most {
                let next =
                    Batch { entries: entries.clone(), fields: field..field, ..Batch::default() };
                queue.push_back(std::mem::replace(&mut batch, next));
            }
            batch.fields.end = field + 1;
            batch.bytes = batch.bytes.saturating_add(size);
        }
        batch.last = true;
        queue.push_back(batch);
    }

    /// Returns the bytes of memory that each field needs while a cluster is read: the selected values, and the
    /// largest array from which they are selected.
    fn bytes(&self, entries: &Range<u64>) -> Vec<u64> {
        let mut taken = vec![0u64; self.fields.len()];
        let mut largest = taken.clone();
        for part in self.selected.parts(entries) {
            let length = (part.entries.end - part.entries.start).max(1);
            let share = part.taken() as f64 / length as f64;
            for (index, bytes) in self.sizes.decoded(&part.entries).into_iter().enumerate() {
                taken[index] = taken[index].saturating_add((bytes as f64 * share) as u64);
                let whole = if part.mask.is_some() { bytes } else { 0 };
                largest[index] = largest[index].max(whole);
            }
        }
        taken.iter().zip(largest).map(|(taken, largest)| taken.saturating_add(largest)).collect()
    }

    fn read(&self, batch: &Batch, context: &Context) -> Result<Vec<(FieldId, ArrayRef)>> {
        let fields = &self.fields[batch.fields.clone()];
        let names = fields.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
        let arrays = self.selected.read(&names, batch.entries.clone(), context)?;
        if arrays.len() != fields.len() {
            return Err(Error::out_of_spec("a read returned a wrong number of fields"));
        }
        Ok(fields.iter().map(|(_, id)| *id).zip(arrays).collect())
    }

    /// Returns the name of the first of some fields, and the number of the other fields.
    fn names(&self, fields: &Range<usize>) -> String {
        let first = self.fields.get(fields.start).map_or("", |(name, _)| name);
        match fields.len() {
            0 | 1 => first.to_owned(),
            count => format!("{first} and {} more fields", count - 1),
        }
    }

    /// Writes a batch. At the end of a cluster, it returns the stored bytes of all clusters.
    fn write(
        &self,
        batch: &Batch,
        columns: Vec<SealedColumn>,
        writer: &mut Writer,
    ) -> Result<Option<u64>> {
        if batch.first {
            writer.begin_cluster(batch.entries.end - batch.entries.start)?;
        }
        for column in columns {
            writer.put(column).in_object(self.selected.name())?;
        }
        if !batch.last {
            return Ok(None);
        }
        writer.commit_cluster()?;
        Ok(Some(writer.report().compressed_bytes))
    }
}

/// The batches of clusters, one cluster after the other.
struct BatchPlan<'a> {
    batches: &'a Batches<'a>,
    clusters: Clusters,
    /// The number of the next cluster.
    next: usize,
    queue: VecDeque<Batch>,
}

impl Plan for BatchPlan<'_> {
    type Task = Batch;
    type Written = Option<u64>;

    fn next(&mut self) -> Next<Batch> {
        loop {
            if let Some(batch) = self.queue.pop_front() {
                let bytes = batch.bytes;
                return Next::Task(batch, bytes);
            }
            match self.clusters.get(self.next, false) {
                PlannedCluster::Entries(entries) => self.batches.cut(&entries, &mut self.queue),
                PlannedCluster::Wait => return Next::Wait,
                PlannedCluster::None => return Next::End,
            }
            self.next += 1;
        }
    }

    fn written(&mut self, _: &Batch, total: Option<u64>) {
        if let Some(total) = total {
            self.clusters.written(total);
        }
    }
}

/// Returns the arrays without their fields.
fn only(arrays: &[(FieldId, ArrayRef)]) -> Vec<ArrayRef> {
    arrays.iter().map(|(_, array)| array.clone()).collect()
}

/// Returns the index of the top-level field of each column. Columns of fields that are not written have none.
fn owners(schema: &Schema, fields: &[(String, FieldId)]) -> Vec<Option<usize>> {
    let index: HashMap<_, _> = fields.iter().map(|(_, id)| *id).zip(0..).collect();
    let owner = |column: &Column| {
        let mut id = column.field;
        while let Some(parent) = schema.field(id).parent {
            id = parent;
        }
        index.get(&id).copied()
    };
    schema.columns.iter().map(owner).collect()
}

/// Returns how many entries are done after a batch. The entries of its cluster count in part.
fn done(batch: &Batch, fields: usize) -> u64 {
    let part = batch.fields.end as f64 / fields.max(1) as f64;
    let entries = (batch.entries.end - batch.entries.start) as f64;
    batch.entries.start + (entries * part) as u64
}
