//! Open pages become sealed pages, and leave when memory is short.

use std::sync::Arc;

use super::{ClusterBuilder, Task, plans};
use crate::error::Result;
use crate::rntuple::schema::ColumnId;
use crate::rntuple::write::choosing::ColumnStorage;
use crate::rntuple::write::cluster_target::{ClusterTarget, Page};
use crate::rntuple::write::seal::ColumnPlan;

/// When sealed pages take more than one part in so many of the room, the cluster ends rather than
/// seal pages early.
const SEALED_DIVISOR: u64 = 2;
/// Open pages that were too many are sealed until this share (parts of four) is left.
const KEPT: u64 = 3;

impl ClusterBuilder {
    /// Seals the pages that are full.
    pub(super) fn seal_full(&mut self, cluster_target: &mut dyn ClusterTarget) -> Result<()> {
        let plans = self.plans()?;
        let mut tasks = Vec::new();
        for (column, (plan, state)) in plans.iter().zip(&self.columns).enumerate() {
            plan.check(&state.data)?;
            tasks.extend(state.tasks(column, plan.full_pages(state.data.len())));
        }
        drop(plans);
        self.seal(tasks, cluster_target)
    }

    /// Seals all that is open in some columns.
    pub(super) fn seal_rest(
        &mut self,
        columns: impl IntoIterator<Item = usize>,
        cluster_target: &mut dyn ClusterTarget,
    ) -> Result<()> {
        let plans = self.plans()?;
        let mut tasks = Vec::new();
        for column in columns {
            let state = &self.columns[column];
            tasks.extend(state.tasks(column, plans[column].pages(state.data.len())));
        }
        drop(plans);
        self.seal(tasks, cluster_target)
    }

    /// Seals open pages early where memory is short; `true` when the cluster should end instead.
    pub(super) fn make_room(&mut self, cluster_target: &mut dyn ClusterTarget) -> Result<bool> {
        let open = |cluster_builder: &Self| {
            cluster_builder.columns.iter().map(|c| c.data.grown() as u64).sum::<u64>()
        };
        let most = |cluster_builder: &Self| {
            cluster_builder
                .budget
                .open
                .min(cluster_builder.budget.room.saturating_sub(cluster_builder.sealed))
        };
        let held = open(self);
        if held <= most(self) {
            return Ok(false);
        }
        if self.sealed > self.budget.room / SEALED_DIVISOR {
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
        self.seal_rest(columns, cluster_target)?;
        Ok(false)
    }

    /// Seals pages, those of a column in order, and lets their elements go.
    fn seal(&mut self, tasks: Vec<Task>, cluster_target: &mut dyn ClusterTarget) -> Result<()> {
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
            self.seal_wave(wave, cluster_target)?;
            rest = after;
        }
        Ok(())
    }

    fn seal_wave(&mut self, wave: &[Task], cluster_target: &mut dyn ClusterTarget) -> Result<()> {
        let plans = plans(&self.schema, &self.settings)?;
        let columns = &self.columns;
        let pages = self.workers.map(wave, |task, scratch| {
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
            cluster_target.store(pages)?
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
        self.spill(cluster_target)
    }

    /// Stores sealed pages before their cluster is complete, when even they are too many: a single
    /// entry may be larger than the memory.
    fn spill(&mut self, cluster_target: &mut dyn ClusterTarget) -> Result<()> {
        if self.sealed <= self.budget.room {
            return Ok(());
        }
        let schema = Arc::make_mut(&mut self.schema);
        for (id, column) in (0u32..).map(ColumnId).zip(&mut self.columns) {
            // Not stored twice: the rest of the cluster is in ROOT's own type too.
            if !column.others.is_empty()
                && let Some(root) = self.settings.column(id).and_then(|all| all.root.clone())
            {
                column.pages = std::mem::take(&mut column.others);
                ColumnStorage::plain(root).apply(id, schema, &mut self.settings);
            }
            let pages = std::mem::take(&mut column.pages);
            column.pages = cluster_target.store_waiting(pages)?;
        }
        self.sealed = self.columns.iter().flat_map(|c| &c.pages).map(Page::bytes).sum();
        Ok(())
    }

    fn packed(&self, task: &Task) -> u64 {
        let bits = self.schema.columns.get(task.column).map_or(0, |column| u64::from(column.bits));
        (task.range.end - task.range.start) * bits / 8
    }

    pub(super) fn plans(&self) -> Result<Vec<ColumnPlan<'_>>> {
        plans(&self.schema, &self.settings)
    }
}
