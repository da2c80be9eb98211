//! Makes sealed clusters of rows. It holds the open pages, decides where clusters end, and stays inside its
//! memory.
//!
//! A page is sealed as soon as it is full. When the open pages of all columns and the sealed pages of the
//! open cluster would exceed the memory, the largest open pages are sealed early. When they would become too
//! small, the cluster ends.

mod first_pages;
mod sealing;

use std::ops::Range;
use std::sync::Arc;

use nyssa_root::Context;
use nyssa_root::effort::{Chooser, Goal};
use nyssa_root::error::Result;

use super::budget::Budget;
use super::cluster_target::{ClusterPage, ClusterTarget, FinishedColumn, SealedCluster};
use super::workers::Workers;
use super::{RNTupleWriteOptions, cluster_of};
use crate::choose::default_type;
use crate::schema::{ColumnId, FieldId, Schema};
use crate::seal::{ColumnData, ColumnPlan, Rows, SealSettings, Shred};

/// A builder of clusters, one after the other.
pub(super) struct ClusterBuilder {
    schema: Arc<Schema>,
    settings: SealSettings,
    options: Arc<RNTupleWriteOptions>,
    fields: Vec<FieldId>,
    budget: Budget,
    workers: Workers,
    chooser: Option<Chooser>,
    columns: Vec<OpenColumn>,
    /// The number of committed clusters, and how many of them ended early because memory was short.
    clusters: u64,
    short: u64,
    /// The number of entries of the open cluster.
    entries: u64,
    /// The number of packed bytes of the open cluster, in open and sealed pages.
    unzipped: u64,
    /// The number of bytes of sealed pages in memory.
    sealed: u64,
    /// The number of entries of the committed clusters.
    committed: u64,
    /// The number of bytes of all sealed pages, before and after compression.
    totals: (u64, u64),
    /// An estimate of these numbers for the first cluster. It is used until this cluster ends.
    estimate: Option<(u64, u64)>,
}

/// One column of the open cluster.
#[derive(Default)]
struct OpenColumn {
    data: ColumnData,
    /// The number of elements that are sealed.
    elements: u64,
    pages: Vec<ClusterPage>,
    /// The same elements in the column type of ROOT, if the column has another type.
    others: Vec<ClusterPage>,
    /// Whether encoding and codec were chosen.
    chosen: bool,
}

/// A page that is to be sealed.
struct SealTask {
    column: usize,
    /// The elements of the page, counted from the start of the cluster.
    range: Range<u64>,
}

impl OpenColumn {
    /// Makes tasks for pages, whose elements are counted from the first open element.
    fn tasks(
        &self,
        column: usize,
        pages: impl Iterator<Item = Range<usize>>,
    ) -> impl Iterator<Item = SealTask> {
        let at = |index: usize| self.elements + index as u64;
        pages.map(move |page| SealTask { column, range: at(page.start)..at(page.end) })
    }

    /// Converts the number of an element from the start of the cluster to the number from the first open element.
    fn open(&self, element: u64) -> usize {
        usize::try_from(element.saturating_sub(self.elements)).unwrap_or(usize::MAX)
    }

    /// Returns the elements of a task, counted from the first open element.
    fn range(&self, task: &SealTask) -> Range<usize> {
        self.open(task.range.start)..self.open(task.range.end)
    }
}

impl ClusterBuilder {
    /// Makes a builder for rows of `schema`. It seals on the threads of `context`, or on the thread of the
    /// caller when `context` is `None`. It is one of `builders` builders that share the memory.
    ///
    /// # Errors
    /// `LimitExceeded` when there is not enough memory for this number of columns.
    pub(super) fn new(
        mut schema: Arc<Schema>,
        mut settings: SealSettings,
        options: Arc<RNTupleWriteOptions>,
        builders: usize,
        context: &Context,
        pooled: bool,
    ) -> Result<Self> {
        let threads = if pooled { context.threads() } else { 1 };
        let budget = Budget::new(&schema, &settings, &options, builders, threads)?;
        for column in &mut settings.columns {
            column.page_bytes = column.page_bytes.min(budget.page);
            // Unbuffered pages are stored at once, so the sizes of their columns in a cluster cannot be compared.
            column.own_type |= !options.buffered;
        }
        let fields = row_fields(&schema);
        let columns = schema.columns.iter().map(|_| OpenColumn::default()).collect();
        let chooser = options.encodings.chooser(options.compression, options.effort);
        if chooser.as_ref().is_some_and(|chooser| chooser.goal() == Goal::Size) {
            let columns = &mut Arc::make_mut(&mut schema).columns;
            for (column, _) in
                columns.iter_mut().zip(&settings.columns).filter(|(_, s)| !s.own_type)
            {
                // The default type of ROOT is the first candidate.
                let root = column.column_type.map(default_type);
                if let Some(root) = root.filter(|root| column.column_type != Some(*root)) {
                    column.set_type(root);
                }
            }
        }
        Ok(Self {
            schema,
            settings,
            options,
            fields,
            budget,
            workers: Workers::new(context.clone(), budget.workers, pooled),
            chooser,
            columns,
            clusters: 0,
            short: 0,
            entries: 0,
            unzipped: 0,
            sealed: 0,
            committed: 0,
            totals: (0, 0),
            estimate: None,
        })
    }

    /// Starts to count entries at the number of entries of the existing RNTuple.
    pub(super) fn starting_at(mut self, entries: u64) -> Self {
        self.committed = entries;
        self
    }

    /// Continues after `old`, with its statistics. The new schema begins with the schema of `old`.
    pub(super) fn following(mut self, old: &Self) -> Self {
        for (column, old) in self.settings.columns.iter_mut().zip(&old.settings.columns) {
            (column.codec, column.setting) = (Arc::clone(&old.codec), old.setting);
            column.root.clone_from(&old.root);
        }
        let columns = &mut Arc::make_mut(&mut self.schema).columns;
        for (column, old) in columns.iter_mut().zip(&old.schema.columns) {
            if let Some(column_type) = old.column_type.filter(|_| column.type_code != old.type_code)
            {
                column.set_type(column_type);
            }
        }
        for (column, old) in self.columns.iter_mut().zip(&old.columns) {
            column.chosen = old.chosen;
        }
        (self.committed, self.totals) = (old.committed, old.totals);
        (self.clusters, self.short) = (old.clusters, old.short);
        self
    }

    /// Returns the number of clusters that ended early because memory was short.
    pub(super) fn short(&self) -> u64 {
        self.short
    }

    /// Returns the number of entries of the open cluster.
    pub(super) fn open_entries(&self) -> u64 {
        self.entries
    }

    /// Returns the number of bytes of open and sealed pages.
    pub(super) fn held(&self) -> u64 {
        self.open_bytes() + self.sealed
    }

    /// Returns the memory of open and sealed pages, and the size of the rows that are converted together, in bytes.
    pub(super) fn memory(&self) -> (u64, u64) {
        (self.budget.pages, self.budget.batch)
    }

    /// Ends the cluster if it has entries.
    ///
    /// # Errors
    /// Returns an error if sealing or the target fails. After an error the builder must not be used.
    pub(super) fn flush(&mut self, cluster_target: &mut dyn ClusterTarget) -> Result<()> {
        self.end_cluster(cluster_target)
    }

    /// Appends rows. Elements that are not sealed are copied.
    ///
    /// # Errors
    /// Returns an error if sealing or the target fails. After an error the builder must not be used.
    pub(super) fn append(
        &mut self,
        all: &Rows,
        cluster_target: &mut dyn ClusterTarget,
    ) -> Result<()> {
        let rows = all.count();
        let bytes = self.packed_size(all.shreds());
        let row_bytes = bytes / (rows as u64).max(1);
        let mut whole = Some(bytes);
        let mut start = 0;
        while start < rows {
            let room = self.target().saturating_sub(self.unzipped);
            let batch = room.min(self.budget.batch);
            let (shreds, bytes, end) = match whole.take() {
                Some(bytes) if bytes <= batch => (all.shreds().to_vec(), bytes, rows),
                _ => self.cut(all, start..rows, row_bytes, batch),
            };
            if end == start {
                // The next row does not fit, unless a better estimate makes the cluster larger.
                if !self.estimate()? {
                    self.end_cluster(cluster_target)?;
                }
                continue;
            }
            for Shred { column, elements } in shreds {
                self.columns[column.0 as usize].data.push(elements)?;
            }
            self.entries += (end - start) as u64;
            self.unzipped += bytes;
            start = end;
            self.seal_full(cluster_target)?;
            if self.unzipped >= self.zipped() {
                self.estimate()?;
            }
            if self.unzipped >= self.target() {
                self.end_cluster(cluster_target)?;
            } else if self.make_room(cluster_target)? {
                self.short += 1;
                self.end_cluster(cluster_target)?;
            } else {
                self.own();
            }
        }
        Ok(())
    }

    fn end_cluster(&mut self, cluster_target: &mut dyn ClusterTarget) -> Result<()> {
        if self.entries == 0 {
            return Ok(());
        }
        self.seal_rest(0..self.columns.len(), cluster_target)?;
        let others: Vec<_> = self.plans()?.iter().map(ColumnPlan::other_type).collect();
        let mut columns = Vec::with_capacity(self.columns.len());
        for ((id, column), settings) in (0u32..).zip(&mut self.columns).zip(&self.settings.columns)
        {
            let id = ColumnId(id);
            let stored = self.schema.column(id);
            // Only the writer knows when another representation is needed.
            let Some(column_type) = stored.column_type.filter(|_| stored.representation == 0)
            else {
                continue;
            };
            let pages = std::mem::take(&mut column.others);
            let other = others.get(id.0 as usize).copied().flatten().filter(|_| !pages.is_empty());
            columns.push(FinishedColumn {
                column: id,
                column_type,
                elements: std::mem::take(&mut column.elements),
                last_offset: column.data.last_offset(),
                compression: settings.setting,
                pages: std::mem::take(&mut column.pages),
                other: other.map(|other| (other, pages)),
            });
            column.data = ColumnData::default();
        }
        self.clusters += 1;
        // Codecs are chosen again less often, because other data rarely need another codec, and a wrong codec costs
        // little.
        let types = self.chooser.as_ref().is_some_and(|chooser| chooser.goal() == Goal::Size);
        let often = types || self.clusters.trailing_zeros() % 4 == 2;
        if self.clusters.is_power_of_two() && often {
            self.columns.iter_mut().for_each(|column| column.chosen = false);
        }
        let entries = std::mem::take(&mut self.entries);
        self.committed += entries;
        self.unzipped = 0;
        let bytes = std::mem::take(&mut self.sealed);
        cluster_target.commit(SealedCluster { entries, columns, bytes })
    }

    /// Returns the packed size of elements, in bytes.
    fn packed_size(&self, shreds: &[Shred]) -> u64 {
        let bits = |shred: &Shred| u64::from(self.schema.column(shred.column).bits);
        shreds.iter().map(|shred| shred.elements.len() as u64 * bits(shred)).sum::<u64>() / 8
    }

    /// Returns the number of bytes of open pages.
    fn open_bytes(&self) -> u64 {
        self.columns.iter().map(|column| column.data.grown() as u64).sum()
    }

    /// Takes as many of `rows` as fit in `room` bytes. Returns their elements, their size, and the row after
    /// them. If not even one row fits, returns no rows; but an empty cluster always gets one row. `row_bytes`
    /// is the average size of a row.
    fn cut(
        &self,
        all: &Rows,
        rows: Range<usize>,
        row_bytes: u64,
        room: u64,
    ) -> (Vec<Shred>, u64, usize) {
        // The first attempt is a little too long, so that few are needed.
        let likely = room / row_bytes.max(1);
        let first = usize::try_from(likely.saturating_add(likely / 4 + 1)).unwrap_or(usize::MAX);
        let mut count = rows.len().min(first);
        // Every attempt drops at least a quarter of the rows.
        loop {
            let range = rows.start..rows.start + count;
            let shreds = all.cut(&self.schema, &self.fields, range.clone());
            let bytes = self.packed_size(&shreds);
            if bytes <= room || (count == 1 && self.entries == 0) {
                return (shreds, bytes, range.end);
            }
            if count == 1 {
                return (Vec::new(), 0, rows.start);
            }
            let proportional = u128::from(room) * count as u128 / u128::from(bytes.max(1));
            let proportional = usize::try_from(proportional).unwrap_or(count);
            count = proportional.min(count - count.div_ceil(4)).max(1);
        }
    }

    /// Returns the number of uncompressed bytes at which the cluster ends. It starts as if the data were not
    /// compressible, and grows when an estimate or sealed pages give a better ratio.
    fn target(&self) -> u64 {
        let zipped = self.zipped();
        let (before, after) = match self.estimate {
            Some(estimate) if self.clusters == 0 => estimate,
            // The few pages that are sealed now show little about the other columns.
            None if self.clusters == 0 => (0, 0),
            _ => self.totals,
        };
        let by_ratio = if self.options.compression.setting() == 0 || after == 0 {
            zipped
        } else {
            let size = u128::from(zipped) * u128::from(before) / u128::from(after);
            u64::try_from(size).unwrap_or(u64::MAX)
        };
        by_ratio.min(self.options.max_unzipped_cluster.max(zipped))
    }

    /// Returns the number of compressed bytes at which the cluster ends.
    fn zipped(&self) -> u64 {
        cluster_of(self.options.approx_zipped_cluster, self.columns.len()).0
    }

    /// Copies elements that still borrow the arrays of the caller.
    fn own(&mut self) {
        self.workers.each(&mut self.columns, |column| column.data.own());
    }
}

/// Returns the fields of rows: the top-level fields that are not projected.
pub(super) fn row_fields(schema: &Schema) -> Vec<FieldId> {
    schema.top_level().filter(|(_, field)| field.source.is_none()).map(|(id, _)| id).collect()
}

/// Plans how each column is sealed.
fn plans<'a>(schema: &'a Schema, settings: &'a SealSettings) -> Result<Vec<ColumnPlan<'a>>> {
    let ids = (0u32..).map(ColumnId).take(schema.columns.len());
    ids.map(|id| ColumnPlan::new(schema, id, settings)).collect()
}
