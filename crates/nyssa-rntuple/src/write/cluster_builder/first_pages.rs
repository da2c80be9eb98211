//! Chooses encodings and codecs from the first pages of the columns, and estimates how well the data
//! compress.

use std::sync::Arc;

use nyssa_root::effort::Goal;
use nyssa_root::error::Result;

use super::{ClusterBuilder, SealTask, plans};
use crate::choose::{choose_column, sample};
use crate::heuristics::write;
use crate::schema::ColumnId;

impl ClusterBuilder {
    /// Chooses encoding and codec of the columns whose first pages are `tasks`, unless they are already
    /// chosen.
    pub(super) fn choose(&mut self, tasks: &[SealTask]) -> Result<()> {
        let Some(chooser) = self.chooser.clone() else { return Ok(()) };
        let types = chooser.goal() == Goal::Size;
        let mut first = Vec::new();
        for (index, task) in tasks.iter().enumerate() {
            let column = &mut self.columns[task.column];
            let chosen = std::mem::replace(&mut column.chosen, true);
            let own = self
                .settings
                .columns
                .get(task.column)
                .is_none_or(|settings| settings.own_codec && (settings.own_type || !types));
            if !chosen && !own {
                first.push(index);
            }
        }
        if first.is_empty() {
            return Ok(());
        }
        let plans = plans(&self.schema, &self.settings)?;
        let columns = &self.columns;
        let choices = self.workers.map(&first, |&index, scratch| {
            let (task, plan) = (&tasks[index], &plans[tasks[index].column]);
            let elements = columns[task.column].range(task).len();
            let data = &columns[task.column].data;
            let sample = sample::of_column(&chooser, plan, data, elements);
            choose_column(&chooser, plan, data, sample, scratch)
        })?;
        drop(plans);
        for (&index, choice) in first.iter().zip(&choices) {
            let column = ColumnId(tasks[index].column as u32);
            // The schema of the builder defines how pages are sealed. For each cluster, the writer decides which
            // pages are stored, and in which representation of the schema of the file.
            if choice.changes_type(column, &self.schema) {
                choice.apply(column, Arc::make_mut(&mut self.schema), &mut self.settings);
            } else {
                choice.apply_codec(column, &mut self.settings);
            }
        }
        Ok(())
    }

    /// Estimates the compressed size of the open pages before the first cluster ends, so that the cluster can get its
    /// full size. Returns `false` if there already is an estimate or a cluster.
    pub(super) fn estimate(&mut self) -> Result<bool> {
        let known = self.clusters > 0 || self.estimate.is_some();
        if known || self.options.compression.setting() == 0 {
            return Ok(false);
        }
        let open = self.plans()?;
        let mut tasks = Vec::new();
        for (column, (plan, state)) in open.iter().zip(&self.columns).enumerate() {
            tasks.extend(state.tasks(column, plan.pages(state.data.len())).take(1));
        }
        drop(open);
        self.choose(&tasks)?;
        let plans = plans(&self.schema, &self.settings)?;
        let columns = &self.columns;
        let sizes = self.workers.map(&tasks, |task, scratch| {
            let range = columns[task.column].range(task);
            let length = range.len().div_ceil(write::ESTIMATE_DIVISOR);
            let start = range.start + (range.len() - length) / 2;
            let data = &columns[task.column].data;
            let page = plans[task.column].seal(data, start..start + length, scratch)?;
            let share = range.len() as f64 / length.max(1) as f64;
            let whole = |bytes: usize| (bytes as f64 * share) as u64;
            Ok((whole(page.uncompressed), whole(page.bytes.len())))
        })?;
        drop(plans);
        let all = sizes.iter().fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
        self.estimate = Some((self.totals.0 + all.0, (self.totals.1 + all.1).max(1)));
        Ok(true)
    }
}
