//! Makes a dataset of some columns of another dataset.

use std::collections::{BTreeSet, HashSet};
use std::ops::{Deref, Range};

use nyssa_root::Context;
use nyssa_root::error::{Error, Result};

use crate::dataset::{Arrays, ColumnBytes, ColumnInfo, CppType, Dataset};

/// Some columns of another dataset, in any order. `D` points to it.
pub struct Projection<D> {
    inner: D,
    columns: Vec<ColumnInfo>,
    subcolumns: Vec<ColumnInfo>,
}

impl<D: Deref<Target: Dataset>> Projection<D> {
    /// Makes a dataset of the columns `names`, which may be columns below the top level.
    ///
    /// # Errors
    /// `NotFound` for a name that is no column.
    pub fn new(inner: D, names: &[String]) -> Result<Self> {
        let column = |name: &String| match inner.find_column(name) {
            Some(column) => Ok(ColumnInfo { name: name.clone(), ..column.clone() }),
            None => Err(Error::not_found(format!("there is no column {name:?}"))),
        };
        let columns = names.iter().map(column).collect::<Result<Vec<_>>>()?;
        let below = inner.subcolumns().iter();
        let below = below.filter(|item| is_below(&item.name, &columns));
        let subcolumns = below.cloned().collect();
        Ok(Self { inner, columns, subcolumns })
    }

    fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name == name)
    }
}

/// Returns whether the path of a column begins with one of `columns`.
fn is_below(path: &str, columns: &[ColumnInfo]) -> bool {
    columns.iter().any(|column| {
        path.strip_prefix(column.name.as_str()).is_some_and(|rest| rest.starts_with(['.', '/']))
    })
}

impl<D: Deref<Target: Dataset> + Send + Sync> Dataset for Projection<D> {
    same_object!(inner);
    same_entries!(inner);

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn subcolumns(&self) -> &[ColumnInfo] {
        &self.subcolumns
    }

    fn find_column(&self, name: &str) -> Option<&ColumnInfo> {
        let column = self.columns.iter().find(|column| column.name == name);
        column.or_else(|| {
            let below = is_below(name, &self.columns);
            below.then(|| self.inner.find_column(name)).flatten()
        })
    }

    fn title(&self, column: &str) -> String {
        self.inner.title(column)
    }

    fn description(&self) -> String {
        self.inner.description()
    }

    fn column_bytes(&self, column: &str) -> Result<Option<ColumnBytes>> {
        self.inner.column_bytes(column)
    }

    fn cpp_type(&self, column: &ColumnInfo) -> Option<CppType> {
        self.inner.cpp_type(column)
    }

    fn size_columns(&self) -> HashSet<String> {
        self.inner.size_columns().into_iter().filter(|name| self.has(name)).collect()
    }

    fn equal_lengths(&self) -> Vec<BTreeSet<String>> {
        let ours = |names: BTreeSet<String>| -> BTreeSet<String> {
            names.into_iter().filter(|name| self.has(name)).collect()
        };
        self.inner.equal_lengths().into_iter().map(ours).filter(|names| names.len() > 1).collect()
    }

    fn read(&self, names: &[&str], entries: Range<u64>, context: &Context) -> Result<Arrays> {
        self.inner.read(names, entries, context)
    }
}
