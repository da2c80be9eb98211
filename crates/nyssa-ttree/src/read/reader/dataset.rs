//! Shows a tree as a [`Dataset`]: its branches are the columns.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use nyssa_data::dataset::{
    AnyDataset, ColumnBytes, ColumnInfo, Dataset, Format, LeftOut, readable,
};
use nyssa_io::OpenOptions;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};

use super::Reader;
use crate::model::{Branch, Shape};
use crate::read::clusters;

/// Returns the bytes that a branch and the branches below it state.
fn stated(branch: &Branch) -> ColumnBytes {
    let own = ColumnBytes {
        compressed: branch.stated.stored_bytes,
        uncompressed: branch.stated.uncompressed_bytes,
    };
    branch.branches.iter().map(stated).fold(own, |sum, item| ColumnBytes {
        compressed: sum.compressed.saturating_add(item.compressed),
        uncompressed: sum.uncompressed.saturating_add(item.uncompressed),
    })
}

impl Dataset for Reader {
    fn format(&self) -> Format {
        Format::TTree
    }

    fn name(&self) -> &str {
        &self.path
    }

    fn file(&self) -> &str {
        self.source.name()
    }

    fn location(&self) -> &std::path::Path {
        self.source.location()
    }

    fn open_options(&self) -> Vec<OpenOptions> {
        self.source.options().cloned().into_iter().collect()
    }

    fn close(&self) {
        self.source.close();
    }

    fn check_open(&self, _: &Range<u64>) -> Result<()> {
        Ok(self.source.check_open()?)
    }

    fn num_entries(&self) -> u64 {
        self.tree.entries
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.items
    }

    fn title(&self, column: &str) -> String {
        self.branch(column).map_or(String::new(), |branch| branch.title.clone())
    }

    fn description(&self) -> String {
        self.tree.title.clone()
    }

    fn column_bytes(&self, column: &str) -> Result<Option<ColumnBytes>> {
        Ok(self.branch(column).map(stated))
    }

    fn subcolumns(&self) -> &[ColumnInfo] {
        &self.below
    }

    fn equal_lengths(&self) -> Vec<BTreeSet<String>> {
        let mut groups: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (index, item) in self.items.iter().enumerate() {
            let shape = self.branch_at(index).and_then(|branch| branch.shape.as_ref().ok());
            if let Some(counter) = shape.and_then(Shape::counter) {
                let group = groups.entry(counter.branch.clone()).or_default();
                group.extend([counter.branch.clone(), item.name.clone()]);
            }
        }
        groups.into_values().collect()
    }

    fn size_columns(&self) -> HashSet<String> {
        let branches = (0..self.routes.len()).filter_map(|index| self.branch_at(index));
        let shapes = branches.filter_map(|branch| branch.shape.as_ref().ok());
        shapes.filter_map(Shape::counter).map(|counter| counter.branch.clone()).collect()
    }

    fn clusters(&self) -> Vec<Range<u64>> {
        clusters::of_tree(&self.tree)
    }

    fn read(
        &self,
        names: &[&str],
        entries: Range<u64>,
        context: &Context,
    ) -> Result<Vec<ArrayRef>> {
        let here = |error: Error| {
            error.at(|place| {
                place.file = Some(self.source.name().to_owned());
                place.object = Some(self.path.clone());
            })
        };
        if entries.start > entries.end || entries.end > self.tree.entries {
            return Err(here(Error::invalid_argument(format!(
                "entries {} to {} were requested, but there are {}",
                entries.start, entries.end, self.tree.entries
            ))));
        }
        let mut indices = Vec::with_capacity(names.len());
        for name in names {
            indices.push(self.index(name).ok_or_else(|| here(self.no_branch(name)))?);
        }
        self.read_indices(&indices, &entries, Some(context))
    }

    fn damaged(
        &self,
        names: &[&str],
        entries: &[Range<u64>],
        context: &Context,
    ) -> Result<Vec<LeftOut>> {
        let whole = readable::each(names, entries, |name, range| {
            self.read(&[name], range, context).map(drop)
        })?;
        let mut damaged = Vec::new();
        for column in whole {
            let parts = self.damaged_leaves(&column.column, entries, context)?;
            match parts.is_empty() {
                true => damaged.push(column),
                false => damaged.extend(parts),
            }
        }
        Ok(damaged)
    }

    fn without(&self, left_out: &[LeftOut], _: &Context) -> Result<Option<AnyDataset>> {
        Ok(Some(Arc::new(Self::without(self, left_out))))
    }
}
