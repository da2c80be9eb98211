//! Makes a dataset of the fields that become columns of a tree, with the names of the branches.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use nyssa_data::dataset::{ColumnInfo, Dataset, Format};
use nyssa_rntuple::read::Reader;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};

use super::map::Column;

/// Some fields and subfields of an RNTuple under other names.
pub(super) struct Projected {
    inner: Arc<Reader>,
    columns: Vec<ColumnInfo>,
    /// The path of each column in the RNTuple.
    paths: HashMap<String, String>,
}

impl Projected {
    /// Makes a dataset of `columns`.
    pub(super) fn new(inner: Arc<Reader>, columns: &[Column]) -> Self {
        let info = |column: &Column| ColumnInfo {
            name: column.branch.clone(),
            type_name: column.type_name.clone(),
            field: Ok(column.arrow.clone()),
        };
        let path = |column: &Column| (column.branch.clone(), column.path.clone());
        let (paths, columns) =
            (columns.iter().map(path).collect(), columns.iter().map(info).collect());
        Self { inner, columns, paths }
    }
}

impl Dataset for Projected {
    fn format(&self) -> Format {
        self.inner.format()
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn file(&self) -> &str {
        self.inner.file()
    }

    fn location(&self) -> &std::path::Path {
        self.inner.location()
    }

    fn num_entries(&self) -> u64 {
        self.inner.num_entries()
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn clusters(&self) -> Vec<Range<u64>> {
        self.inner.clusters()
    }

    fn read(
        &self,
        names: &[&str],
        entries: Range<u64>,
        context: &Context,
    ) -> Result<Vec<ArrayRef>> {
        let path = |name: &&str| {
            let path = self.paths.get(*name).map(String::as_str);
            path.ok_or_else(|| Error::not_found(format!("no column named {name:?}")))
        };
        let paths = names.iter().map(path).collect::<Result<Vec<_>>>()?;
        self.inner.read(&paths, entries, context)
    }
}
