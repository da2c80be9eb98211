//! A table as a dataset: the part that Parquet and Arrow IPC files share.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, new_empty_array};
use arrow_schema::Field;
use arrow_select::concat::concat;
use nyssa_data::dataset::{Arrays, ColumnBytes, ColumnInfo, Dataset, Format, check_entries};
use nyssa_io::{OpenOptions, Source};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::problem::DatasetCheck;

use crate::columns::Columns;
use crate::layout::Layout;
use crate::metadata::About;

/// What is known of a table when it is open.
pub(crate) struct Head {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) columns: Columns,
    pub(crate) about: About,
    /// The entries of each row group or record batch.
    pub(crate) clusters: Vec<Range<u64>>,
}

impl Head {
    /// Returns the entries of each row group or record batch, of the numbers of their rows.
    ///
    /// # Errors
    /// An error of `rows`; the error `too_many` for more than 2^64 entries.
    pub(crate) fn clusters(
        rows: impl Iterator<Item = Result<u64>>,
        too_many: impl Fn() -> Error,
    ) -> Result<Vec<Range<u64>>> {
        let mut end = 0u64;
        rows.map(|rows| {
            let start = end;
            end = end.checked_add(rows?).ok_or_else(&too_many)?;
            Ok(start..end)
        })
        .collect()
    }

    /// Returns the number of entries.
    pub(crate) fn entries(&self) -> u64 {
        self.clusters.last().map_or(0, |cluster| cluster.end)
    }

    /// Returns the number of each row group or record batch that has some of `entries`, and these entries within it.
    pub(crate) fn parts(&self, entries: &Range<u64>) -> impl Iterator<Item = (usize, Range<u64>)> {
        let Range { start, end } = *entries;
        self.clusters.iter().enumerate().filter_map(move |(number, cluster)| {
            let (from, to) = (start.max(cluster.start), end.min(cluster.end));
            (from < to).then(|| (number, from - cluster.start..to - cluster.start))
        })
    }
}

/// The values of a format of tables.
pub(crate) trait Values: Send + Sync {
    /// The format.
    const FORMAT: Format;

    /// Reads entries of columns, which are given by their numbers and the fields that they have in the dataset.
    ///
    /// # Errors
    /// `OutOfSpecification` for a damaged table; `LimitExceeded` for values that do not fit one array; `Cancelled`; `Io`.
    fn read(
        &self,
        head: &Head,
        columns: &[(usize, Field)],
        entries: &Range<u64>,
        context: &Context,
    ) -> Result<Arrays>;

    /// Says how the values are stored.
    ///
    /// # Errors
    /// `OutOfSpecification` for a damaged table; `Cancelled`; `Io`.
    fn layout(&self, head: &Head, context: &Context) -> Result<Layout>;

    /// Reads and decodes everything, and collects the problems.
    ///
    /// # Errors
    /// Only `Io` and `Cancelled`.
    fn check(&self, head: &Head, context: &Context) -> Result<DatasetCheck>;

    /// Returns the sizes of a column, if the format knows them.
    fn column_bytes(&self, _column: usize) -> Option<ColumnBytes> {
        None
    }
}

/// An open table.
pub(crate) struct Table<V> {
    pub(crate) head: Head,
    pub(crate) values: V,
}

impl<V: Values> Dataset for Table<V> {
    fn format(&self) -> Format {
        V::FORMAT
    }

    fn name(&self) -> &str {
        &self.head.about.object
    }

    fn file(&self) -> &str {
        self.head.source.name()
    }

    fn location(&self) -> &Path {
        self.head.source.location()
    }

    fn num_entries(&self) -> u64 {
        self.head.entries()
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.head.columns.items
    }

    fn title(&self, column: &str) -> String {
        self.head.columns.title(column)
    }

    fn description(&self) -> String {
        self.head.about.description.clone()
    }

    fn column_bytes(&self, column: &str) -> Result<Option<ColumnBytes>> {
        let index = self.columns().iter().position(|item| item.name == column);
        Ok(index.and_then(|index| self.values.column_bytes(index)))
    }

    fn close(&self) {
        self.head.source.close();
    }

    fn check_open(&self, _entries: &Range<u64>) -> Result<()> {
        Ok(self.head.source.check_open()?)
    }

    fn open_options(&self) -> Vec<OpenOptions> {
        self.head.source.options().cloned().into_iter().collect()
    }

    fn clusters(&self) -> Vec<Range<u64>> {
        self.head.clusters.iter().filter(|cluster| !cluster.is_empty()).cloned().collect()
    }

    fn read(&self, names: &[&str], entries: Range<u64>, context: &Context) -> Result<Arrays> {
        check_entries(&entries, self.num_entries())?;
        self.head.source.check_open()?;
        let columns = self.head.columns.find(names).in_file(self.file())?;
        let arrays = self.values.read(&self.head, &columns, &entries, context);
        arrays.in_file(self.file()).in_object(self.name())
    }
}

/// Joins arrays of the type of `field`.
///
/// # Errors
/// `LimitExceeded` for arrays that do not fit one array.
pub(crate) fn joined(parts: &[ArrayRef], field: &Field) -> Result<ArrayRef> {
    match parts {
        [] => Ok(new_empty_array(field.data_type())),
        [only] => Ok(Arc::clone(only)),
        _ => concat(&parts.iter().map(AsRef::as_ref).collect::<Vec<_>>())
            .map_err(|error| Error::limit("the entries do not fit one array").with_source(error)),
    }
}
