//! Seals open pages, and stores sealed pages when memory is short.

use std::sync::Arc;

use nyssa_root::error::Result;

use super::{ClusterBuilder, SealTask, plans};
use crate::choose::ColumnStorage;
use crate::heuristics::write;
use crate::schema::ColumnId;
use crate::seal::ColumnPlan;
use crate::write::cluster_target::{ClusterPage, ClusterTarget};

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

    /// Seals all open elements of some columns.
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

    /// Seals open pages early if memory is short. Returns `true` when the cluster should end instead.
    pub(super) fn make_room(&mut self, cluster_target: &mut dyn ClusterTarget) -> Result<bool> {
        let limit = |cluster_builder: &Self| {
            cluster_builder
                .budget
                .open_pages
                .min(cluster_builder.budget.pages.saturating_sub(cluster_builder.sealed))
        };
        let held = self.open_bytes();
        if held <= limit(self) {
            return Ok(false);
        }
        if self.sealed > self.budget.pages / write::SEALED_DIVISOR {
            return Ok(true);
        }
        let mut largest = (0..self.columns.len()).collect::<Vec<_>>();
        largest.sort_by_key(|&column| std::cmp::Reverse(self.columns[column].data.grown()));
        let mut too_much = held - limit(self) / 4 * write::KEPT_QUARTERS;
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

    /// Seals pages and discards their elements. The pages of a column are in order.
    fn seal(&mut self, tasks: Vec<SealTask>, cluster_target: &mut dyn ClusterTarget) -> Result<()> {
        self.choose(&tasks)?;
        // The elements of a wave are discarded when all its pages are sealed, so a wave is in memory twice.
        let mut rest = &tasks[..];
        while !rest.is_empty() {
            let mut bytes = 0;
            let full = rest.iter().position(|task| {
                bytes += self.encoded_size(task);
                bytes > self.budget.batch
            });
            let (wave, after) = rest.split_at(full.unwrap_or(rest.len()).max(1));
            self.seal_wave(wave, cluster_target)?;
            rest = after;
        }
        Ok(())
    }

    fn seal_wave(
        &mut self,
        wave: &[SealTask],
        cluster_target: &mut dyn ClusterTarget,
    ) -> Result<()> {
        let plans = plans(&self.schema, &self.settings)?;
        let (columns, merges) = (&self.columns, self.options.same_page_merging);
        let pages = self.workers.map(wave, |task, scratch| {
            let column = &columns[task.column];
            let (plan, range) = (&plans[task.column], column.range(task));
            let mut page = plan.seal(&column.data, range.clone(), scratch)?;
            if merges {
                page.identify();
            }
            Ok((page, plan.seal_other(&column.data, range, scratch)?))
        })?;
        drop(plans);
        let (pages, others): (Vec<_>, Vec<_>) = pages.into_iter().unzip();
        for page in &pages {
            self.totals.0 += page.uncompressed as u64;
            self.totals.1 += page.bytes.len() as u64;
        }
        let pages = if self.options.buffered {
            pages.into_iter().map(ClusterPage::Sealed).collect()
        } else {
            cluster_target.store(pages)?
        };
        for ((task, page), other) in wave.iter().zip(pages).zip(others) {
            let other = other.map(ClusterPage::Sealed);
            self.sealed += page.bytes() + other.as_ref().map_or(0, ClusterPage::bytes);
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

    /// Stores sealed pages before their cluster is complete, if even these exceed the memory. One entry alone
    /// can be larger than the memory.
    fn spill(&mut self, cluster_target: &mut dyn ClusterTarget) -> Result<()> {
        if self.sealed <= self.budget.pages {
            return Ok(());
        }
        let schema = Arc::make_mut(&mut self.schema);
        for (id, column) in (0u32..).map(ColumnId).zip(&mut self.columns) {
            // A stored page cannot be exchanged, so the remaining pages of this cluster have the column type of ROOT,
            // too.
            if !column.others.is_empty()
                && let Some(root) = self.settings.column(id).and_then(|all| all.root.clone())
            {
                column.pages = std::mem::take(&mut column.others);
                ColumnStorage::plain(root).apply(id, schema, &mut self.settings);
            }
            let pages = std::mem::take(&mut column.pages);
            column.pages = cluster_target.store_waiting(pages)?;
        }
        self.sealed = self.columns.iter().flat_map(|c| &c.pages).map(ClusterPage::bytes).sum();
        Ok(())
    }

    fn encoded_size(&self, task: &SealTask) -> u64 {
        let bits = self.schema.columns.get(task.column).map_or(0, |column| u64::from(column.bits));
        (task.range.end - task.range.start) * bits / 8
    }

    pub(super) fn plans(&self) -> Result<Vec<ColumnPlan<'_>>> {
        plans(&self.schema, &self.settings)
    }
}
