//! Rows in, sealed clusters out: open pages, where clusters end, and the memory it may all take.
//!
//! Pages are sealed as soon as they are full. When the open pages of all columns and the sealed ones
//! that wait for their cluster would take more memory than there is, the largest open pages are
//! sealed early; when that would make them too small, the cluster ends.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};

use super::auto::{Choice, Chooser, default_type};
use super::budget::Budget;
use super::column_data::ColumnData;
use super::effort::Codecs;
use super::lanes::Lanes;
use super::outlet::{Outlet, Page, SealedCluster, WaitingColumn};
use super::seal::ColumnPlan;
use super::shred::{Shred, shred};
use super::{Effort, Encodings, Options, SealSettings};
use crate::Context;
use crate::error::{Error, Result, ResultExt};
use crate::schema::{ColumnId, FieldId, Schema};

/// A cluster goes on when it can still become larger than this share (parts of eight) of what it has.
const GOES_ON: u64 = 9;
/// When sealed pages take more than one part in so many of the room, the cluster ends rather than
/// seal pages early.
const SEALED_SHARE: u64 = 2;
/// Open pages that were too many are sealed until this share (parts of four) is left.
const KEPT: u64 = 3;

/// Fills one cluster after the other.
pub(super) struct Filler {
    schema: Arc<Schema>,
    settings: SealSettings,
    options: Arc<Options>,
    fields: Vec<FieldId>,
    budget: Budget,
    lanes: Lanes,
    codecs: Option<Codecs>,
    chooser: Option<Chooser>,
    columns: Vec<Column>,
    /// Clusters given away.
    clusters: u64,
    /// Entries of the open cluster.
    entries: u64,
    /// Packed bytes of the open cluster, sealed or not.
    unzipped: u64,
    /// Bytes of sealed pages that are in memory.
    sealed: u64,
    /// Entries of the clusters given away.
    committed: u64,
    /// Bytes of all pages sealed so far, before and after compression.
    totals: (u64, u64),
    /// Something failed while pages were sealed or given away.
    broken: bool,
}

/// One column of the open cluster.
#[derive(Default)]
struct Column {
    data: ColumnData,
    /// Elements that are sealed.
    elements: u64,
    pages: Vec<Page>,
    /// The same elements in ROOT's own type, where that is another.
    others: Vec<Page>,
    /// The codec has been chosen.
    chosen: bool,
}

/// A page to be sealed.
struct Task {
    column: usize,
    /// Its elements, counted from the start of the cluster.
    range: Range<u64>,
}

impl Column {
    /// Tasks for pages, which are given from the first open element on.
    fn tasks(
        &self,
        column: usize,
        pages: impl Iterator<Item = Range<usize>>,
    ) -> impl Iterator<Item = Task> {
        let at = |index: usize| self.elements + index as u64;
        pages.map(move |page| Task { column, range: at(page.start)..at(page.end) })
    }

    /// An element counted from the first open one.
    fn open(&self, element: u64) -> usize {
        usize::try_from(element.saturating_sub(self.elements)).unwrap_or(usize::MAX)
    }

    /// The elements of a task, counted from the first open one.
    fn range(&self, task: &Task) -> Range<usize> {
        self.open(task.range.start)..self.open(task.range.end)
    }
}

impl Filler {
    /// A filler for rows of `schema` that seals on the threads of `context`, or on the caller's own
    /// when that is `None`; one of `fillers` that share the memory.
    ///
    /// # Errors
    /// `LimitExceeded` when the memory is too little for so many columns.
    pub(super) fn new(
        mut schema: Arc<Schema>,
        mut settings: SealSettings,
        options: Arc<Options>,
        fillers: usize,
        context: &Context,
        pooled: bool,
    ) -> Result<Self> {
        let threads = if pooled { context.threads() } else { 1 };
        let budget = Budget::new(&schema, &settings, &options, fillers, threads)?;
        for column in &mut settings.columns {
            column.page_bytes = column.page_bytes.min(budget.page);
            // What is stored at once cannot be compared over a cluster.
            column.own_type |= !options.buffered;
        }
        let fields = schema
            .top_level()
            .filter(|(_, field)| field.source.is_none())
            .map(|(id, _)| id)
            .collect();
        let columns = schema.columns.iter().map(|_| Column::default()).collect();
        let auto = options.encodings == Encodings::Auto;
        let chooser = Chooser::of(options.compression, options.effort).filter(|_| auto);
        if chooser.is_some() {
            let columns = &mut Arc::make_mut(&mut schema).columns;
            for (column, _) in
                columns.iter_mut().zip(&settings.columns).filter(|(_, s)| !s.own_type)
            {
                // What ROOT would do comes first.
                let root = column.column_type.map(default_type);
                if let Some(root) = root.filter(|root| column.column_type != Some(*root)) {
                    column.set_type(root);
                }
            }
        }
        let codecs = Codecs::of(options.compression)
            .filter(|_| options.effort == Effort::Auto && chooser.is_none());
        Ok(Self {
            schema,
            settings,
            options,
            fields,
            budget,
            lanes: Lanes::new(context.clone(), budget.lanes, pooled),
            codecs,
            chooser,
            columns,
            clusters: 0,
            entries: 0,
            unzipped: 0,
            sealed: 0,
            committed: 0,
            totals: (0, 0),
            broken: false,
        })
    }

    /// Counts entries from those that are there already.
    pub(super) fn starting_at(mut self, entries: u64) -> Self {
        self.committed = entries;
        self
    }

    /// Goes on where `old` ended, with what it has learned; its schema is the beginning of this one's.
    pub(super) fn following(mut self, old: &Self) -> Self {
        for (column, old) in self.settings.columns.iter_mut().zip(&old.settings.columns) {
            (column.codec, column.setting) = (Arc::clone(&old.codec), old.setting);
            column.guard.clone_from(&old.guard);
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
        self.clusters = old.clusters;
        self
    }

    /// The options.
    pub(super) fn options(&self) -> Arc<Options> {
        Arc::clone(&self.options)
    }

    /// Entries given so far.
    pub(super) fn entries(&self) -> u64 {
        self.committed + self.entries
    }

    /// Entries that are in no cluster yet.
    pub(super) fn open_entries(&self) -> u64 {
        self.entries
    }

    /// Appends rows: one array for each top-level field that is not projected, in order, all of one
    /// length. What is not sealed is copied: the arrays may change after the call.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit the schema or have nulls: then nothing of this
    /// call is taken. After any other error the filler takes no more ([`Filler::is_broken`]).
    pub(super) fn extend(&mut self, arrays: &[ArrayRef], outlet: &mut dyn Outlet) -> Result<()> {
        self.check_whole()?;
        // Everything is looked at before anything is kept, so that an error leaves no half row.
        let rows = self.check(arrays)?;
        let (all, bytes) = self.shred(arrays, 0..rows)?;
        // Also where it panics.
        self.broken = true;
        self.fill(arrays, rows, all, bytes, outlet)?;
        self.broken = false;
        Ok(())
    }

    /// Ends the cluster, if it has any entries.
    ///
    /// # Errors
    /// What sealing and the outlet say; the filler takes no more after that.
    pub(super) fn flush(&mut self, outlet: &mut dyn Outlet) -> Result<()> {
        self.check_whole()?;
        self.broken = true;
        self.end_cluster(outlet)?;
        self.broken = false;
        Ok(())
    }

    /// Has something failed half-way?
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    fn check_whole(&self) -> Result<()> {
        if !self.broken {
            return Ok(());
        }
        Err(Error::invalid_argument(
            "an earlier error stopped the writing half-way: this RNTuple cannot be completed",
        ))
    }

    fn fill(
        &mut self,
        arrays: &[ArrayRef],
        rows: usize,
        all: Vec<Shred>,
        bytes: u64,
        outlet: &mut dyn Outlet,
    ) -> Result<()> {
        let row_bytes = bytes / (rows as u64).max(1);
        let mut whole = Some((all, bytes));
        let mut start = 0;
        while start < rows {
            let room = self.target().saturating_sub(self.unzipped);
            let piece = room.min(self.budget.piece);
            let (shreds, bytes, end) = match whole.take() {
                Some((shreds, bytes)) if bytes <= piece => (shreds, bytes, rows),
                _ => self.cut(arrays, start..rows, row_bytes, piece)?,
            };
            if end == start {
                self.end_cluster(outlet)?;
                continue;
            }
            for Shred { column, elements } in shreds {
                self.columns[column.0 as usize].data.push(elements)?;
            }
            self.entries += (end - start) as u64;
            self.unzipped += bytes;
            start = end;
            self.seal_full(outlet)?;
            if self.unzipped >= self.target() || self.make_room(outlet)? {
                self.end_cluster(outlet)?;
            } else {
                self.own();
            }
        }
        Ok(())
    }

    fn end_cluster(&mut self, outlet: &mut dyn Outlet) -> Result<()> {
        if self.entries == 0 {
            return Ok(());
        }
        self.seal_rest(0..self.columns.len(), outlet)?;
        let others: Vec<_> = self.plans()?.iter().map(ColumnPlan::other_type).collect();
        let mut columns = Vec::with_capacity(self.columns.len());
        for ((id, column), settings) in (0u32..).zip(&mut self.columns).zip(&self.settings.columns)
        {
            let id = ColumnId(id);
            let stored = self.schema.column(id);
            // The writer knows when another representation is needed.
            let Some(column_type) = stored.column_type.filter(|_| stored.representation == 0)
            else {
                continue;
            };
            let pages = std::mem::take(&mut column.others);
            let other = others.get(id.0 as usize).copied().flatten().filter(|_| !pages.is_empty());
            columns.push(WaitingColumn {
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
        // Less often where only codecs are chosen: that data change so much is rare, and costs little.
        let often = self.chooser.is_some() || self.clusters.trailing_zeros() % 4 == 2;
        if self.clusters.is_power_of_two() && often {
            self.columns.iter_mut().for_each(|column| column.chosen = false);
        }
        let entries = std::mem::take(&mut self.entries);
        self.committed += entries;
        self.unzipped = 0;
        let bytes = std::mem::take(&mut self.sealed);
        outlet.commit(SealedCluster { entries, columns, bytes })
    }

    fn check(&self, arrays: &[ArrayRef]) -> Result<usize> {
        if arrays.len() != self.fields.len() {
            return Err(Error::invalid_argument(format!(
                "{} arrays for {} fields",
                arrays.len(),
                self.fields.len()
            )));
        }
        let rows = arrays.first().map_or(0, |array| array.len());
        for (array, &field) in arrays.iter().zip(&self.fields) {
            if array.len() != rows {
                return Err(Error::invalid_argument(format!(
                    "{} rows where the first field has {rows}",
                    array.len()
                )))
                .in_field(&self.schema.path(field));
            }
        }
        Ok(rows)
    }

    /// Elements of some rows and their packed size in bytes.
    fn shred(&self, arrays: &[ArrayRef], rows: Range<usize>) -> Result<(Vec<Shred>, u64)> {
        let mut all = Vec::with_capacity(self.columns.len());
        for (array, &field) in arrays.iter().zip(&self.fields) {
            let array = array.slice(rows.start, rows.len());
            all.append(&mut shred(&self.schema, field, &array, &self.settings)?);
        }
        let bits = |shred: &Shred| u64::from(self.schema.column(shred.column).bits);
        let bits = all.iter().map(|shred| shred.elements.len() as u64 * bits(shred)).sum::<u64>();
        Ok((all, bits / 8))
    }

    /// As many of `rows` as fit into `room` bytes: their elements, size and end. None when not even
    /// one fits, but at least one into an empty cluster. `row_bytes` is what a row takes on average.
    fn cut(
        &self,
        arrays: &[ArrayRef],
        rows: Range<usize>,
        row_bytes: u64,
        room: u64,
    ) -> Result<(Vec<Shred>, u64, usize)> {
        // The first try is a little too long, so that each cluster looks at its own rows only.
        let likely = room / row_bytes.max(1);
        let first = usize::try_from(likely.saturating_add(likely / 4 + 1)).unwrap_or(usize::MAX);
        let mut count = rows.len().min(first);
        // Every turn leaves out at least a quarter of the rows.
        loop {
            let (shreds, bytes) = self.shred(arrays, rows.start..rows.start + count)?;
            if bytes <= room || (count == 1 && self.entries == 0) {
                return Ok((shreds, bytes, rows.start + count));
            }
            if count == 1 {
                return Ok((Vec::new(), 0, rows.start));
            }
            let proportional = u128::from(room) * count as u128 / u128::from(bytes.max(1));
            let proportional = usize::try_from(proportional).unwrap_or(count);
            count = proportional.min(count - count.div_ceil(4)).max(1);
        }
    }

    /// Uncompressed bytes at which the cluster ends. Before anything is sealed, as if nothing could
    /// be compressed; it grows when sealed pages show better.
    fn target(&self) -> u64 {
        let zipped = self.options.approx_zipped_cluster;
        let (before, after) = self.totals;
        let by_ratio = if self.options.compression.setting() == 0 || after == 0 {
            zipped
        } else {
            let size = u128::from(zipped) * u128::from(before) / u128::from(after);
            u64::try_from(size).unwrap_or(u64::MAX)
        };
        let target = by_ratio.min(self.options.max_unzipped_cluster).max(1);
        // Little more is not worth a longer cluster.
        if self.unzipped >= zipped && target < self.unzipped / 8 * GOES_ON {
            return target.min(self.unzipped);
        }
        target
    }

    /// Seals the pages that are full.
    fn seal_full(&mut self, outlet: &mut dyn Outlet) -> Result<()> {
        let plans = self.plans()?;
        let mut tasks = Vec::new();
        for (column, (plan, state)) in plans.iter().zip(&self.columns).enumerate() {
            plan.check(&state.data)?;
            tasks.extend(state.tasks(column, plan.full_pages(state.data.len())));
        }
        drop(plans);
        self.seal(tasks, outlet)
    }

    /// Seals all that is open in some columns.
    fn seal_rest(
        &mut self,
        columns: impl IntoIterator<Item = usize>,
        outlet: &mut dyn Outlet,
    ) -> Result<()> {
        let plans = self.plans()?;
        let mut tasks = Vec::new();
        for column in columns {
            let state = &self.columns[column];
            tasks.extend(state.tasks(column, plans[column].pages(state.data.len())));
        }
        drop(plans);
        self.seal(tasks, outlet)
    }

    /// Seals open pages early where memory is short; `true` when the cluster should end instead.
    fn make_room(&mut self, outlet: &mut dyn Outlet) -> Result<bool> {
        let open =
            |filler: &Self| filler.columns.iter().map(|c| c.data.grown() as u64).sum::<u64>();
        let most = |filler: &Self| {
            filler.budget.open.min(filler.budget.room.saturating_sub(filler.sealed))
        };
        let held = open(self);
        if held <= most(self) {
            return Ok(false);
        }
        if self.sealed > self.budget.room / SEALED_SHARE {
            return Ok(true);
        }
        let mut largest = (0..self.columns.len()).collect::<Vec<_>>();
        largest.sort_by_key(|&column| std::cmp::Reverse(self.columns[column].data.grown()));
        let mut too_much = held - most(self) / 4 * KEPT;
        let count = largest.iter().take_while(|&&column| {
            let goes_on = too_much > 0;
            too_much = too_much.saturating_sub(self.columns[column].data.grown() as u64);
            goes_on
        });
        let mut columns = count.copied().collect::<Vec<_>>();
        columns.sort_unstable();
        self.seal_rest(columns, outlet)?;
        Ok(false)
    }

    /// Seals pages, those of a column in order, and lets their elements go.
    fn seal(&mut self, tasks: Vec<Task>, outlet: &mut dyn Outlet) -> Result<()> {
        self.choose(&tasks)?;
        // Elements of a wave go when all its pages are sealed, so memory holds a wave twice.
        let mut rest = &tasks[..];
        while !rest.is_empty() {
            let mut bytes = 0;
            let full = rest.iter().position(|task| {
                bytes += self.packed(task);
                bytes > self.budget.piece
            });
            let (wave, after) = rest.split_at(full.unwrap_or(rest.len()).max(1));
            self.seal_wave(wave, outlet)?;
            rest = after;
        }
        Ok(())
    }

    fn seal_wave(&mut self, wave: &[Task], outlet: &mut dyn Outlet) -> Result<()> {
        let plans = plans(&self.schema, &self.settings)?;
        let columns = &self.columns;
        let pages = self.lanes.map(wave, |task, scratch| {
            let column = &columns[task.column];
            let (plan, range) = (&plans[task.column], column.range(task));
            let page = plan.seal(&column.data, range.clone(), scratch)?;
            Ok((page, plan.seal_other(&column.data, range, scratch)?))
        })?;
        drop(plans);
        let (pages, others): (Vec<_>, Vec<_>) = pages.into_iter().unzip();
        for page in &pages {
            self.totals.0 += page.uncompressed as u64;
            self.totals.1 += page.bytes.len() as u64;
        }
        let pages = if self.options.buffered {
            pages.into_iter().map(Page::Sealed).collect()
        } else {
            outlet.store(pages)?
        };
        for ((task, page), other) in wave.iter().zip(pages).zip(others) {
            let other = other.map(Page::Sealed);
            self.sealed += page.bytes() + other.as_ref().map_or(0, Page::bytes);
            self.columns[task.column].pages.push(page);
            self.columns[task.column].others.extend(other);
        }
        for (index, task) in wave.iter().enumerate() {
            if wave.get(index + 1).is_none_or(|next| next.column != task.column) {
                let column = &mut self.columns[task.column];
                column.data.discard(column.open(task.range.end));
                column.elements = task.range.end;
            }
        }
        self.spill(outlet)
    }

    /// Stores sealed pages before their cluster is complete, when even they are too many: a single
    /// entry may be larger than the memory.
    fn spill(&mut self, outlet: &mut dyn Outlet) -> Result<()> {
        if self.sealed <= self.budget.room {
            return Ok(());
        }
        let schema = Arc::make_mut(&mut self.schema);
        for (id, column) in (0u32..).map(ColumnId).zip(&mut self.columns) {
            // Not stored twice: the rest of the cluster is in ROOT's own type too.
            if !column.others.is_empty()
                && let Some(guard) = self.settings.column(id).and_then(|all| all.guard.clone())
            {
                column.pages = std::mem::take(&mut column.others);
                Choice::root(guard).apply(id, schema, &mut self.settings);
            }
            let pages = std::mem::take(&mut column.pages);
            column.pages = outlet.store_waiting(pages)?;
        }
        self.sealed = self.columns.iter().flat_map(|c| &c.pages).map(Page::bytes).sum();
        Ok(())
    }

    /// Chooses how columns are sealed whose first pages these are, of all or (with encodings chosen by
    /// looking) of this cluster.
    fn choose(&mut self, tasks: &[Task]) -> Result<()> {
        if self.codecs.is_none() && self.chooser.is_none() {
            return Ok(());
        }
        let mut first = Vec::new();
        for (index, task) in tasks.iter().enumerate() {
            let column = &mut self.columns[task.column];
            let chosen = std::mem::replace(&mut column.chosen, true);
            let own = self.settings.columns.get(task.column).is_none_or(|settings| {
                settings.own_codec && (settings.own_type || self.chooser.is_none())
            });
            if !chosen && !own {
                first.push(index);
            }
        }
        if first.is_empty() {
            return Ok(());
        }
        if self.chooser.is_some() {
            return self.choose_encodings(&first, tasks);
        }
        self.choose_codecs(&first, tasks)
    }

    fn choose_codecs(&mut self, first: &[usize], tasks: &[Task]) -> Result<()> {
        let Some(codecs) = self.codecs.clone() else { return Ok(()) };
        let plans = plans(&self.schema, &self.settings)?;
        let columns = &self.columns;
        let chosen = self.lanes.map(first, |&index, scratch| {
            let task = &tasks[index];
            let data = &columns[task.column].data;
            let elements = columns[task.column].range(task).len();
            codecs.choose(&plans[task.column], data, elements, scratch).cloned()
        })?;
        drop(plans);
        for (&index, codec) in first.iter().zip(chosen) {
            if let Some(settings) = self.settings.columns.get_mut(tasks[index].column) {
                settings.codec = codec;
            }
        }
        Ok(())
    }

    /// Chooses types and codecs by looking. The schema here says what is sealed; the writer decides
    /// with each cluster what is stored, and how the file's schema shows it.
    fn choose_encodings(&mut self, first: &[usize], tasks: &[Task]) -> Result<()> {
        let Some(chooser) = self.chooser.clone() else { return Ok(()) };
        let plans = plans(&self.schema, &self.settings)?;
        let columns = &self.columns;
        let choices = self.lanes.map(first, |&index, scratch| {
            let task = &tasks[index];
            let data = &columns[task.column].data;
            let elements = columns[task.column].range(task).len();
            chooser.choose_column(&plans[task.column], data, elements, scratch)
        })?;
        drop(plans);
        let schema = Arc::make_mut(&mut self.schema);
        for (&index, choice) in first.iter().zip(&choices) {
            choice.apply(ColumnId(tasks[index].column as u32), schema, &mut self.settings);
        }
        Ok(())
    }

    /// Copies what is still borrowed.
    fn own(&mut self) {
        self.lanes.each(&mut self.columns, |column| column.data.own());
    }

    fn packed(&self, task: &Task) -> u64 {
        let bits = self.schema.columns.get(task.column).map_or(0, |column| u64::from(column.bits));
        (task.range.end - task.range.start) * bits / 8
    }

    fn plans(&self) -> Result<Vec<ColumnPlan<'_>>> {
        plans(&self.schema, &self.settings)
    }
}

/// How each column is sealed.
fn plans<'a>(schema: &Schema, settings: &'a SealSettings) -> Result<Vec<ColumnPlan<'a>>> {
    let ids = (0u32..).map(ColumnId).take(schema.columns.len());
    ids.map(|id| ColumnPlan::new(schema, id, settings)).collect()
}
