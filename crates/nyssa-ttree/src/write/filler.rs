//! Fills the branches of a tree, and passes on full baskets and the ends of clusters.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::ArrayRef;
use nyssa_root::Context;
use nyssa_root::compression::Compression;
use nyssa_root::effort::Effort;
use nyssa_root::error::{Error, Result, ResultExt};
use rayon::prelude::*;

use super::basket::Basket;
use super::branch::BranchFiller;
use super::clusters::Clusters;
use super::codec::BranchCodec;
use super::codecs::Codecs;
use super::columns::{self, BranchValues};
use super::in_order::{self, Compressing, Done, Full};
use super::options::{AutoFlush, BranchSettings};
use super::shape::Plan;
use super::target::{BranchState, FilledTarget, OBJECT};
use super::workers::Workers;
use crate::heuristics::write;

/// The open baskets of a tree.
pub(super) struct Filler {
    plan: Arc<Plan>,
    branches: Vec<BranchFiller>,
    clusters: Clusters,
    entries: u64,
    /// The number of bytes of the baskets of the first cluster with their keys.
    zip_bytes: u64,
    /// Whether baskets get a new size when the first cluster ends.
    optimize: bool,
    /// The threads that fill baskets.
    filling: Workers,
    compressing: Compressing,
    /// The error that occurred in the middle of writing.
    failed: Option<Error>,
}

/// The first cluster, which ended by the bytes of its baskets.
struct Cut {
    /// The entry after the cluster.
    end: u64,
    /// The baskets that have entries after the cluster.
    behind: Vec<(usize, Basket)>,
}

impl Filler {
    /// Starts the branches of the tree `name`, with their settings. `optimize` decides whether baskets get a new size after
    /// the first cluster.
    pub(super) fn new(
        plan: Plan,
        (name, settings): (&str, &[BranchSettings]),
        (auto_flush, optimize): (AutoFlush, bool),
        context: &Context,
    ) -> Self {
        let forms = plan.branches.iter().cloned().zip(settings);
        let codecs = settings.iter().map(|own| BranchCodec::new(own.compression, own.effort));
        let compressing = Compressing {
            codecs: Arc::new(Mutex::new(Codecs::new(codecs))),
            compressors: Arc::default(),
            workers: Workers::All,
            context: context.clone(),
        };
        Self {
            branches: forms.map(|(form, &own)| BranchFiller::new(form, name, own)).collect(),
            plan: Arc::new(plan),
            clusters: Clusters::new(auto_flush),
            entries: 0,
            zip_bytes: 0,
            optimize,
            filling: Workers::All,
            compressing,
            failed: None,
        }
    }

    /// Continues a tree of `entries` entries, whose open cluster starts with the entry `start`. `tot_bytes` and
    /// `zip_bytes` are the bytes of the baskets of the open cluster: of each branch before compression, and of all
    /// branches as stored.
    pub(super) fn resume(&mut self, entries: u64, start: u64, tot_bytes: &[u64], zip_bytes: u64) {
        self.entries = entries;
        self.clusters.start = start;
        self.zip_bytes = zip_bytes;
        let branches = self.branches.iter_mut().zip(tot_bytes);
        branches.for_each(|(branch, &bytes)| branch.resume(entries, bytes));
    }

    /// Starts a filler for the branches that `plan` has beside the branches of this filler, without entries. Both compress
    /// in the same way.
    pub(super) fn adding(&self, plan: Plan, (name, settings): (&str, &[BranchSettings])) -> Self {
        // The bytes of its baskets are counted, and end no cluster.
        let kind = (AutoFlush::Bytes(u64::MAX), false);
        let more = settings.iter().skip(self.branches.len());
        self.codecs().extend(more.map(|own| BranchCodec::new(own.compression, own.effort)));
        Self {
            filling: self.filling,
            compressing: self.compressing.clone(),
            ..Self::new(plan, (name, settings), kind, &self.compressing.context)
        }
    }

    /// Fills the rows of each of `clusters` into baskets of their own. `rows` is the number of all rows.
    ///
    /// # Errors
    /// `Cancelled`; an error if the target fails.
    pub(super) fn fill_clusters(
        &mut self,
        values: &mut Vec<BranchValues>,
        clusters: impl Iterator<Item = Range<usize>>,
        rows: usize,
        target: &mut impl FilledTarget,
    ) -> Result<()> {
        let step = self.rows_of_step(rows, self.bytes(values));
        self.guarded(|filler| {
            for Range { mut start, end } in clusters {
                while start < end {
                    filler.compressing.context.check()?;
                    let next = end.min(start.saturating_add(step));
                    start = filler.append(values, start..next, rows, target)?;
                }
                let open = filler.take_open();
                filler.compress(open, filler.clusters.bytes(), target)?;
            }
            Ok(())
        })
    }

    /// Forgets the bytes of complete clusters.
    pub(super) fn forget_bytes(&mut self) {
        self.zip_bytes = 0;
        self.branches.iter_mut().for_each(|branch| branch.tot_bytes = 0);
    }

    /// Sets the largest count of a branch.
    pub(super) fn set_maximum(&mut self, branch: usize, maximum: i64) {
        if let Some(branch) = self.branches.get_mut(branch) {
            branch.raise_maximum(maximum);
        }
    }

    /// Takes the branches of another filler that has the same entries and more branches. `plan` is the plan of all.
    pub(super) fn adopt(&mut self, plan: Plan, other: Self) {
        for (branch, form) in self.branches.iter_mut().zip(&plan.branches) {
            branch.form = form.clone();
        }
        let old = self.branches.len();
        self.zip_bytes += other.zip_bytes;
        self.failed = self.failed.take().or(other.failed);
        self.branches.extend(other.branches.into_iter().skip(old));
        self.plan = Arc::new(plan);
    }

    /// Restarts without entries, for a thread that fills on its own. The sizes of baskets and clusters stay.
    pub(super) fn fork(&self) -> Self {
        let codecs = Arc::new(Mutex::new(self.codecs().fork()));
        let workers = Workers::Caller;
        Self {
            branches: self.branches.iter().map(BranchFiller::fork).collect(),
            plan: Arc::clone(&self.plan),
            clusters: self.clusters.fork(),
            entries: 0,
            zip_bytes: 0,
            optimize: self.optimize,
            filling: Workers::Caller,
            compressing: Compressing { codecs, workers, ..self.compressing.clone() },
            failed: None,
        }
    }

    /// Fills baskets on the thread that calls, since the other threads compress meanwhile.
    pub(super) fn fill_alone(&mut self) {
        self.filling = Workers::Caller;
    }

    /// Returns the number of entries so far.
    pub(super) fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns the number of entries in no cluster.
    pub(super) fn open_entries(&self) -> u64 {
        self.entries - self.clusters.start
    }

    /// Returns the way in which the baskets are compressed.
    pub(super) fn compressing(&self) -> &Compressing {
        &self.compressing
    }

    fn codecs(&self) -> MutexGuard<'_, Codecs> {
        self.compressing.codecs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the columns of rows, in their order.
    pub(super) fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Returns whether an error occurred in the middle of writing.
    pub(super) fn is_broken(&self) -> bool {
        self.failed.is_some()
    }

    /// Returns ROOT's `fAutoFlush` for the clusters to come.
    pub(super) fn nominal(&self) -> i64 {
        self.clusters.nominal()
    }

    /// Compresses the next baskets of a branch in another way, with exactly this level.
    ///
    /// # Errors
    /// `NotFound` for a branch that the tree does not have.
    pub(super) fn set_compression(&mut self, branch: &str, compression: Compression) -> Result<()> {
        let place = self.branches.iter().position(|item| item.form.name == branch);
        let missing = || Error::not_found(format!("the tree has no branch {branch:?}"));
        let at = place.ok_or_else(missing)?;
        self.codecs().set(at, BranchCodec::new(compression, Effort::Full));
        Ok(())
    }

    /// Returns the state of all branches.
    pub(super) fn states(&self) -> Vec<BranchState> {
        self.branches.iter().map(BranchFiller::state).collect()
    }

    /// Splits rows into the values of each branch: one array of the same length for each column, in order.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit.
    pub(super) fn split(&self, arrays: &[ArrayRef]) -> Result<Vec<BranchValues>> {
        let _stage = nyssa_observe::stage!("shred");
        columns::split(&self.plan, arrays)
    }

    /// Appends rows. Full baskets go to `target`.
    ///
    /// # Errors
    /// `Cancelled`; an error if the target fails.
    pub(super) fn fill_rows(
        &mut self,
        mut values: Vec<BranchValues>,
        rows: usize,
        target: &mut impl FilledTarget,
    ) -> Result<()> {
        let step = self.rows_of_step(rows, self.bytes(&values));
        self.guarded(|filler| {
            let mut row = 0;
            while row < rows {
                filler.compressing.context.check()?;
                let end = rows.min(row.saturating_add(step));
                row = filler.append(&mut values, row..end, rows, target)?;
            }
            Ok(())
        })
    }

    /// Returns the size in bytes of the values of all branches.
    pub(super) fn bytes(&self, values: &[BranchValues]) -> usize {
        values.iter().zip(&self.plan.branches).map(|(values, form)| values.bytes(form)).sum()
    }

    /// Returns whether the end of the open cluster depends on compressed sizes.
    pub(super) fn waits_for_sizes(&self) -> bool {
        self.clusters.bytes().is_some()
    }

    /// Gives the open baskets to a filler for another thread, until [`Self::take_back`].
    pub(super) fn lend(&mut self) -> Self {
        let rest = Self {
            plan: Arc::clone(&self.plan),
            branches: Vec::new(),
            clusters: self.clusters.clone(),
            compressing: self.compressing.clone(),
            failed: None,
            ..*self
        };
        let filler = std::mem::replace(self, rest);
        Self { filling: filler.compressing.workers, ..filler }
    }

    /// Counts rows that another thread fills.
    pub(super) fn count_lent(&mut self, rows: usize) {
        self.entries += rows as u64;
    }

    /// Continues with the open baskets of another thread.
    pub(super) fn take_back(&mut self, filler: Self) {
        *self = Self { filling: self.filling, ..filler };
    }

    /// Ends the open cluster.
    ///
    /// # Errors
    /// Returns an error if the target fails.
    pub(super) fn flush(&mut self, target: &mut impl FilledTarget) -> Result<()> {
        self.check()?;
        if self.open_entries() == 0 {
            return Ok(());
        }
        self.guarded(|filler| {
            filler.flush_baskets(target)?;
            filler.end_cluster(filler.entries, target)
        })
    }

    /// Passes on the remaining baskets. A last cluster ends here only if the options say so, or if there are other
    /// clusters.
    ///
    /// # Errors
    /// Returns an error if the target fails.
    pub(super) fn finish(&mut self, target: &mut impl FilledTarget) -> Result<()> {
        if self.clusters.are_automatic() || self.clusters.start > 0 {
            return self.flush(target);
        }
        self.check()?;
        self.guarded(|filler| filler.flush_baskets(target))
    }

    /// Checks that no earlier call has failed.
    ///
    /// # Errors
    /// The reason of an earlier error.
    pub(super) fn check(&self) -> Result<()> {
        self.failed.as_ref().map_or(Ok(()), |error| Err(error.later(OBJECT)))
    }

    fn guarded<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        // A panic leaves this error.
        self.failed = Some(Error::invalid_argument("a call did not return"));
        let done = write(self);
        self.failed = done.as_ref().err().cloned();
        done
    }

    /// Returns the number of rows to take at once, so that the baskets in flight have a limited size.
    fn rows_of_step(&self, rows: usize, bytes: usize) -> usize {
        let threads = match self.compressing.workers {
            Workers::All => self.compressing.context.threads(),
            Workers::Caller => 1,
        };
        (write::STEP_PER_THREAD * threads / (bytes / rows.max(1)).max(1)).max(1)
    }

    /// Appends some of `all` rows, or fewer if a cluster ends before. Returns the next row.
    fn append(
        &mut self,
        values: &mut Vec<BranchValues>,
        Range { start: row, end }: Range<usize>,
        all: usize,
        target: &mut impl FilledTarget,
    ) -> Result<usize> {
        let start = self.entries;
        let left = self.clusters.end().map_or(u64::MAX, |end| end.saturating_sub(start));
        let end = end.min(row.saturating_add(usize::try_from(left).unwrap_or(usize::MAX)));
        let full = self.fill(values, row..end)?;
        let reached = start + (end - row) as u64;
        if end - row == 1 && end == all {
            // This row does not come again, and may be very large. Only its baskets are needed from here on.
            values.clear();
        }
        if let Some(cut) = self.compress(full, self.clusters.bytes(), target)? {
            let cluster = cut.end;
            self.cut(cut, target)?;
            return Ok(row + (cluster - start) as usize);
        }
        self.entries = reached;
        if self.clusters.end() == Some(reached) {
            self.flush_baskets(target)?;
            self.end_full_cluster(reached, target)?;
        }
        Ok(end)
    }

    /// Fills all branches, and returns the baskets that are full in the order in which they became so.
    fn fill(
        &mut self,
        values: &[BranchValues],
        rows: Range<usize>,
    ) -> Result<Vec<(usize, Basket)>> {
        let fill = |(branch, values): (&mut BranchFiller, &BranchValues)| {
            let name = branch.form.name.clone();
            let _stage = nyssa_observe::stage!("encode", column = name.as_str());
            branch.fill(values, rows.clone()).in_field(&name)
        };
        let branches = &mut self.branches;
        let context = &self.compressing.context;
        let filled: Vec<Vec<Basket>> = match self.filling {
            Workers::Caller => branches.iter_mut().zip(values).map(fill).collect::<Result<_>>()?,
            Workers::All => context
                .pool()
                .install(|| branches.par_iter_mut().zip(values).map(fill).collect::<Result<_>>())?,
        };
        let numbered = filled.into_iter().enumerate();
        let mut full: Vec<(usize, Basket)> = numbered
            .flat_map(|(at, baskets)| baskets.into_iter().map(move |item| (at, item)))
            .collect();
        full.sort_by_key(|(branch, basket)| (basket.end(), *branch));
        Ok(full)
    }

    /// Passes on full baskets, in their order. With a `limit`, they are compressed first. Returns the first cluster, if its
    /// baskets now have more than `limit` compressed bytes. The baskets after its end are not passed on.
    fn compress(
        &mut self,
        full: Vec<(usize, Basket)>,
        limit: Option<u64>,
        target: &mut impl FilledTarget,
    ) -> Result<Option<Cut>> {
        let branch_of = |(at, basket): (usize, Basket)| {
            let branch = &self.branches[at];
            let (name, keylen) = (branch.form.name.clone(), branch.keylen);
            Full { branch: at, name, keylen, basket, spare: Arc::clone(&branch.spare) }
        };
        let full: Vec<Full> = full.into_iter().map(branch_of).collect();
        let Some(limit) = limit else {
            for item in &full {
                let branch = &mut self.branches[item.branch];
                branch.tot_bytes += (branch.keylen + item.basket.len_with_offsets()) as u64;
            }
            target.take_full(full)?;
            return Ok(None);
        };
        if full.is_empty() {
            return Ok(None);
        }
        let compressing = self.compressing.clone();
        let mut cut: Option<Cut> = None;
        in_order::compress_all(full, &compressing, |done| {
            let end = done.basket.end();
            match &mut cut {
                Some(cut) if end > cut.end => cut.behind.push((done.branch, done.basket)),
                _ => self.store(done, target)?,
            }
            if cut.is_none() && self.zip_bytes > limit {
                cut = Some(Cut { end, behind: Vec::new() });
            }
            Ok(())
        })?;
        Ok(cut)
    }

    /// Ends the first cluster. The entries after it are dropped: their rows come again.
    fn cut(&mut self, cut: Cut, target: &mut impl FilledTarget) -> Result<()> {
        let Cut { end, behind } = cut;
        let open = self.take_open();
        self.codecs().forget_behind(end);
        let cut = behind.into_iter().chain(open).filter_map(|(at, mut basket)| {
            (basket.first < end && basket.truncate(end)).then_some((at, basket))
        });
        let mut cut: Vec<_> = cut.collect();
        cut.sort_by_key(|(branch, _)| *branch);
        self.compress(cut, None, target)?;
        self.branches.iter_mut().for_each(|branch| branch.restart(end));
        self.entries = end;
        self.clusters.settle(end);
        self.end_full_cluster(end, target)
    }

    /// Passes on a compressed basket of the first cluster.
    fn store(&mut self, done: Done, target: &mut impl FilledTarget) -> Result<()> {
        let branch = &mut self.branches[done.branch];
        branch.tot_bytes += (branch.keylen + done.result.objlen) as u64;
        self.zip_bytes += (branch.keylen + done.result.stored()) as u64;
        target.store(done.stored())
    }

    fn flush_baskets(&mut self, target: &mut impl FilledTarget) -> Result<()> {
        let open = self.take_open();
        self.compress(open, None, target).map(drop)
    }

    /// Takes the open baskets that have entries.
    fn take_open(&mut self) -> Vec<(usize, Basket)> {
        let open = self.branches.iter_mut().enumerate();
        open.filter_map(|(at, branch)| Some((at, branch.flush()?))).collect()
    }

    /// Ends a cluster whose size the options give.
    fn end_full_cluster(&mut self, end: u64, target: &mut impl FilledTarget) -> Result<()> {
        if self.optimize {
            let entries = end - self.clusters.start;
            self.branches.iter_mut().for_each(|branch| branch.optimize(entries));
        }
        self.end_cluster(end, target)
    }

    fn end_cluster(&mut self, end: u64, target: &mut impl FilledTarget) -> Result<()> {
        self.optimize = false;
        self.clusters.start = end;
        target.end_cluster(end, self.states())
    }
}
