//! Reads fields of a cluster while those before them are sealed and written.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use arrow_array::ArrayRef;

use super::sizes::Sizes;
use crate::Context;
use crate::dataset::Dataset;
use crate::error::{Error, Result, ResultExt};
use crate::rntuple::page::SealedColumn;
use crate::rntuple::schema::{Column, ColumnId, FieldId, Schema};
use crate::rntuple::write::cutting::Cutter;
use crate::rntuple::write::{SealSettings, Sealer, Writer};
use crate::view::Selected;

/// Share of the memory budget that the arrays of one batch may take: two batches are in memory, one
/// of them also sealed, and compressors need some.
const BATCH_SHARE: u64 = 4;

/// A rewrite that is under way.
pub(super) struct Batches<'a> {
    pub selected: &'a Selected<'a>,
    pub sizes: &'a Sizes,
    /// Fields with data of their own: name in the source, id in the output. Parallel to the sizes.
    pub fields: &'a [(String, FieldId)],
    pub schema: &'a Schema,
    pub settings: &'a SealSettings,
    pub budget: u64,
    pub context: &'a Context,
}

/// Some fields of one cluster.
#[derive(Clone, Debug, Default)]
struct Batch {
    entries: Range<u64>,
    /// Indices of fields.
    fields: Range<usize>,
    first: bool,
    last: bool,
}

/// What was written.
pub(super) struct Written {
    /// Compressed bytes by field.
    pub field_bytes: Vec<u64>,
    /// Bytes before and after compression by column.
    pub column_bytes: Vec<(u64, u64)>,
}

/// What was read for a batch.
type Arrays = Vec<(FieldId, ArrayRef)>;

impl Batches<'_> {
    /// Writes all clusters.
    ///
    /// # Errors
    /// Those of reading and of the sink, `Cancelled`.
    pub fn run(&self, cutter: &mut Cutter, writer: &mut Writer) -> Result<Written> {
        let sealer = Sealer::default();
        let quiet = self.context.quiet();
        let owners = owners(self.schema, self.fields);
        let mut totals = Written {
            field_bytes: vec![0; self.fields.len()],
            column_bytes: vec![(0, 0); self.schema.columns.len()],
        };
        let mut stored = 0;
        let mut queue = VecDeque::new();
        let mut at = self.plan(&mut queue, cutter);
        let mut arrays = match &at {
            Some(batch) => self.read(batch, &quiet)?,
            None => Vec::new(),
        };
        while let Some(batch) = at {
            self.context.check()?;
            // What follows is decided by what is written already, not by how fast it went.
            let next = self.plan(&mut queue, cutter);
            let (written, read) = self.context.pool().install(|| {
                rayon::join(
                    || self.write(&batch, arrays, &sealer, writer, &quiet),
                    || next.as_ref().map(|next| self.read(next, &quiet)).transpose(),
                )
            });
            for (column, (before, after)) in written? {
                let index = column.0 as usize;
                let owner = owners.get(index).copied().flatten();
                if let Some(total) = owner.and_then(|owner| totals.field_bytes.get_mut(owner)) {
                    *total += after;
                }
                if let Some(total) = totals.column_bytes.get_mut(index) {
                    *total = (total.0 + before, total.1 + after);
                }
            }
            if batch.last {
                let all = writer.report().compressed_bytes;
                cutter.took(&batch.entries, all - std::mem::replace(&mut stored, all));
            }
            arrays = read?.unwrap_or_default();
            self.context.report(done(&batch, self.fields.len()), self.selected.num_entries());
            at = next;
        }
        Ok(totals)
    }

    /// The next batch; that of the next cluster when one is complete.
    fn plan(&self, queue: &mut VecDeque<Batch>, cutter: &mut Cutter) -> Option<Batch> {
        if queue.is_empty() {
            self.cut(&cutter.next()?, queue);
        }
        queue.pop_front()
    }

    /// Cuts a cluster into batches that fit the budget.
    fn cut(&self, entries: &Range<u64>, queue: &mut VecDeque<Batch>) {
        let most = self.budget / BATCH_SHARE;
        let mut start = 0;
        let mut bytes = 0u64;
        let sizes = self.bytes(entries);
        for (field, &size) in sizes.iter().enumerate() {
            if field > start && bytes.saturating_add(size) > most {
                let fields = start..field;
                queue.push_back(Batch { entries: entries.clone(), fields, ..Batch::default() });
                (start, bytes) = (field, 0);
            }
            bytes = bytes.saturating_add(size);
        }
        let fields = start..sizes.len();
        queue.push_back(Batch { entries: entries.clone(), fields, ..Batch::default() });
        if let Some(first) = queue.front_mut() {
            first.first = true;
        }
        if let Some(last) = queue.back_mut() {
            last.last = true;
        }
    }

    /// Bytes of memory that each field takes while a cluster is read: what is selected, and the largest
    /// piece that it is selected from.
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

    fn read(&self, batch: &Batch, context: &Context) -> Result<Arrays> {
        let fields = &self.fields[batch.fields.clone()];
        let names = fields.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
        let arrays = self.selected.read(&names, batch.entries.clone(), context)?;
        if arrays.len() != fields.len() {
            return Err(Error::out_of_spec("a read returned another number of fields than asked"));
        }
        Ok(fields.iter().map(|(_, id)| *id).zip(arrays).collect())
    }

    /// Seals a batch and stores its columns; bytes before and after compression by column.
    fn write(
        &self,
        batch: &Batch,
        arrays: Arrays,
        sealer: &Sealer,
        writer: &mut Writer,
        context: &Context,
    ) -> Result<Vec<(ColumnId, (u64, u64))>> {
        let columns = sealer.seal(self.schema, &arrays, self.settings, context)?;
        drop(arrays);
        if batch.first {
            writer.begin_cluster(batch.entries.end - batch.entries.start)?;
        }
        let mut written = Vec::with_capacity(columns.len());
        for column in columns {
            written.push((column.column, bytes(&column)));
            writer.put(column).in_object(self.selected.name())?;
        }
        if batch.last {
            writer.commit_cluster()?;
        }
        Ok(written)
    }
}

/// Index of the top-level field of each column; columns of fields that are not written have none.
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

/// Bytes before and after compression.
fn bytes(column: &SealedColumn) -> (u64, u64) {
    column.pages.iter().fold((0, 0), |(before, after), page| {
        (before + page.uncompressed as u64, after + page.bytes.len() as u64)
    })
}

/// Entries done once a batch is: those of its cluster in part.
fn done(batch: &Batch, fields: usize) -> u64 {
    let part = batch.fields.end as f64 / fields.max(1) as f64;
    let entries = (batch.entries.end - batch.entries.start) as f64;
    batch.entries.start + (entries * part) as u64
}
