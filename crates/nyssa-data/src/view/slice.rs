//! Makes a dataset of a range of entries of another dataset.

use std::ops::Range;

use nyssa_root::Context;
use nyssa_root::error::{Error, Result};

use crate::dataset::{Arrays, ColumnInfo, Dataset};

/// The entries `start..end` of another dataset, counted from 0.
pub struct Slice<'a> {
    inner: &'a dyn Dataset,
    entries: Range<u64>,
}

impl<'a> Slice<'a> {
    /// Makes a dataset of the entries `entries` of `inner`.
    ///
    /// # Errors
    /// `InvalidArgument` for a range beyond the entries.
    pub fn new(inner: &'a dyn Dataset, entries: Range<u64>) -> Result<Self> {
        if entries.start > entries.end || entries.end > inner.num_entries() {
            return Err(Error::invalid_argument(format!(
                "entries {}..{} are not within the {} entries of {}",
                entries.start,
                entries.end,
                inner.num_entries(),
                inner.name()
            )));
        }
        Ok(Self { inner, entries })
    }
}

impl Dataset for Slice<'_> {
    same_object!(inner);
    same_columns!(inner);

    fn close(&self) {
        self.inner.close();
    }

    fn check_open(&self, entries: &Range<u64>) -> Result<()> {
        let start = self.entries.start;
        self.inner.check_open(&(start + entries.start..start + entries.end))
    }

    fn num_entries(&self) -> u64 {
        self.entries.end - self.entries.start
    }

    fn columns(&self) -> &[ColumnInfo] {
        self.inner.columns()
    }

    fn clusters(&self) -> Vec<Range<u64>> {
        let cut =
            |entry: u64| entry.clamp(self.entries.start, self.entries.end) - self.entries.start;
        let clusters = self.inner.clusters().into_iter();
        clusters
            .map(|range| cut(range.start)..cut(range.end))
            .filter(|range| !range.is_empty())
            .collect()
    }

    fn read(&self, names: &[&str], entries: Range<u64>, context: &Context) -> Result<Arrays> {
        if entries.start > entries.end || entries.end > self.num_entries() {
            return Err(Error::invalid_argument(format!(
                "entries {}..{} are not within {}",
                entries.start,
                entries.end,
                self.num_entries()
            )));
        }
        let start = self.entries.start;
        self.inner.read(names, start + entries.start..start + entries.end, context)
    }
}
