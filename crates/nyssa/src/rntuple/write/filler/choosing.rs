//! How columns are sealed, chosen by looking at their first pages.

use std::sync::Arc;

use super::{Filler, Task, plans};
use crate::error::Result;
use crate::rntuple::schema::ColumnId;

/// One part in so many of each column is looked at.
const LOOK_SHARE: usize = 4;

impl Filler {
    /// Chooses how columns are sealed whose first pages these are, of all or (with encodings chosen by
    /// looking) of this cluster.
    pub(super) fn choose(&mut self, tasks: &[Task]) -> Result<()> {
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

    /// Looks how small open pages become, before the first cluster ends: it is as large as it is to be.
    /// `false` where that is known.
    pub(super) fn look(&mut self) -> Result<bool> {
        let known = self.clusters > 0 || self.guess.is_some();
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
        let sizes = self.lanes.map(&tasks, |task, scratch| {
            let range = columns[task.column].range(task);
            let length = range.len().div_ceil(LOOK_SHARE);
            let start = range.start + (range.len() - length) / 2;
            let data = &columns[task.column].data;
            let page = plans[task.column].seal(data, start..start + length, scratch)?;
            let share = range.len() as f64 / length.max(1) as f64;
            let whole = |bytes: usize| (bytes as f64 * share) as u64;
            Ok((whole(page.uncompressed), whole(page.bytes.len())))
        })?;
        drop(plans);
        let all = sizes.iter().fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
        self.guess = Some((self.totals.0 + all.0, (self.totals.1 + all.1).max(1)));
        Ok(true)
    }

    fn choose_codecs(&mut self, first: &[usize], tasks: &[Task]) -> Result<()> {
        let Some(codecs) = self.codecs.clone() else { return Ok(()) };
        let plans = plans(&self.schema, &self.settings)?;
        let columns = &self.columns;
        let chosen = self.lanes.map(first, |&index, scratch| {
            let task = &tasks[index];
            let data = &columns[task.column].data;
            let elements = columns[task.column].range(task).len();
            let plan = &plans[task.column];
            Ok(Arc::clone(&codecs.choose(plan, data, elements, scratch)?.codec))
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
}
