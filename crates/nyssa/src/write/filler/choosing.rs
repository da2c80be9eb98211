//! How columns are sealed, chosen by looking at their first pages.

use std::sync::Arc;

use super::{Filler, Task, plans};
use crate::error::Result;
use crate::schema::ColumnId;

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
}
