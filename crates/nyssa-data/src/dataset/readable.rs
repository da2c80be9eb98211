//! Reads the columns that can be read and leaves out the other columns. A column is left out if its bytes are damaged
//! or if nyssa cannot read its type. If only a part of a column is unreadable, only that part is left out.

use std::ops::Range;

use arrow_array::ArrayRef;
use nyssa_root::Context;
use nyssa_root::error::{Error, Kind, Result};

use super::{AnyDataset, Dataset};

/// A function that reads columns of a dataset.
type Read<'r> = dyn Fn(&dyn Dataset, &[&str]) -> Result<Vec<ArrayRef>> + 'r;

/// A column, or a part of a column, that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The name or path of the column.
    pub column: String,
    /// The reason, and the place in the file.
    pub reason: String,
}

impl LeftOut {
    fn new(column: &str, error: &Error) -> Self {
        Self { column: column.to_owned(), reason: error.brief() }
    }
}

/// A reader of the readable columns of a dataset. A column that failed once is not read again.
pub struct ReadableColumns<'a> {
    dataset: &'a dyn Dataset,
    /// The dataset without the unreadable parts of columns, if there are any.
    without: Option<AnyDataset>,
    names: Vec<String>,
    left_out: Vec<LeftOut>,
}

impl<'a> ReadableColumns<'a> {
    /// Starts with the columns `names` of `dataset`. Columns that are known to be unreadable are left out.
    ///
    /// # Errors
    /// Returns an error if the dataset cannot be opened without unreadable parts.
    pub fn new(dataset: &'a dyn Dataset, names: &[&str], context: &Context) -> Result<Self> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut this = Self { dataset, without: None, names, left_out: Vec::new() };
        let unreadable = this.unreadable();
        let mut unread = Vec::new();
        for LeftOut { column, reason } in unreadable {
            let below = [format!("{column}/"), format!("{column}.")];
            let is_below = |name: &str| below.iter().any(|below| name.starts_with(below));
            let all = dataset.columns().iter().chain(dataset.subcolumns());
            let parts = all.filter(|item| is_below(&item.name)).filter_map(|item| {
                let reason = item.field.as_ref().err()?.clone();
                Some(LeftOut { column: item.name.clone(), reason })
            });
            let parts: Vec<LeftOut> = parts.collect();
            match parts.is_empty() {
                true => unread.push(LeftOut { column, reason }),
                false => unread.extend(parts),
            }
        }
        this.leave_out(unread, context)?;
        Ok(this)
    }

    /// Returns the dataset that is read. Its columns can lack unreadable parts.
    pub fn dataset(&self) -> &dyn Dataset {
        self.without.as_deref().unwrap_or(self.dataset)
    }

    /// Returns the dataset without unreadable parts. Returns `None` if all columns are whole.
    pub fn without(&self) -> Option<AnyDataset> {
        self.without.clone()
    }

    /// Returns the names of the columns that are still read.
    pub fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// Returns the columns, and parts of columns, that were left out since the last call.
    pub fn take_left_out(&mut self) -> Vec<LeftOut> {
        std::mem::take(&mut self.left_out)
    }

    /// Reads entries of [`ReadableColumns::names`]. A column that cannot be read is removed from these names.
    ///
    /// # Errors
    /// `Io`, `Cancelled`, `InvalidArgument`. Damaged columns are left out.
    pub fn read(&mut self, entries: Range<u64>, context: &Context) -> Result<Vec<ArrayRef>> {
        let range = entries.clone();
        self.attempt(&[entries], context, &|dataset, names| {
            dataset.read(names, range.clone(), context)
        })
    }

    /// Reads entries in any order. A column that cannot be read is removed from [`ReadableColumns::names`].
    ///
    /// # Errors
    /// `Io`, `Cancelled`, `InvalidArgument`. Damaged columns are left out.
    pub fn take(&mut self, indices: &[u64], context: &Context) -> Result<Vec<ArrayRef>> {
        let mut wanted = self.dataset.clusters();
        let mut sorted = indices.to_vec();
        sorted.sort_unstable();
        wanted.retain(|cluster| {
            let first = sorted.partition_point(|&index| index < cluster.start);
            sorted.get(first).is_some_and(|&index| index < cluster.end)
        });
        self.attempt(&wanted, context, &|dataset, names| dataset.take(names, indices, context))
    }

    fn attempt(
        &mut self,
        entries: &[Range<u64>],
        context: &Context,
        read: &Read<'_>,
    ) -> Result<Vec<ArrayRef>> {
        match read(self.dataset(), &self.names()) {
            Err(error) if leaves_others_readable(&error) => {}
            done => return done,
        }
        let damaged = self.dataset().damaged(&self.names(), entries, context)?;
        self.leave_out(damaged, context)?;
        match read(self.dataset(), &self.names()) {
            Err(error) if leaves_others_readable(&error) => {}
            done => return done,
        }
        // Each column can be read alone, but not all of them together.
        let mut damaged = Vec::new();
        for name in self.names() {
            match read(self.dataset(), &[name]) {
                Err(error) if leaves_others_readable(&error) => {
                    damaged.push(LeftOut::new(name, &error))
                }
                Err(error) => return Err(error),
                Ok(_) => {}
            }
        }
        self.leave_out(damaged, context)?;
        read(self.dataset(), &self.names())
    }

    /// Leaves out whole columns, and parts of columns.
    fn leave_out(&mut self, damaged: Vec<LeftOut>, context: &Context) -> Result<()> {
        let (whole, parts): (Vec<_>, Vec<_>) =
            damaged.into_iter().partition(|item| self.names.contains(&item.column));
        self.names.retain(|name| whole.iter().all(|item| item.column != *name));
        self.left_out.extend(whole);
        if parts.is_empty() {
            return Ok(());
        }
        if let Some(without) = self.dataset().without(&parts, context)? {
            self.without = Some(without);
            self.left_out.extend(parts);
        }
        // A column is removed if all of its parts are left out.
        let unreadable = self.unreadable();
        self.names.retain(|name| unreadable.iter().all(|item| item.column != *name));
        self.left_out.extend(unreadable);
        Ok(())
    }

    fn unreadable(&self) -> Vec<LeftOut> {
        let dataset = self.dataset();
        let reason = |name: &String| {
            let reason = dataset.find_column(name)?.field.as_ref().err()?.clone();
            Some(LeftOut { column: name.clone(), reason })
        };
        self.names.iter().filter_map(reason).collect()
    }
}

/// Returns whether other columns may still be readable after this error.
pub fn leaves_others_readable(error: &Error) -> bool {
    !matches!(error.kind(), Kind::Cancelled | Kind::Io | Kind::NotFound | Kind::InvalidArgument)
}

/// Finds the columns of `names` that cannot be read for these entries.
pub(super) fn damaged<D: Dataset + ?Sized>(
    dataset: &D,
    names: &[&str],
    entries: &[Range<u64>],
    context: &Context,
) -> Result<Vec<LeftOut>> {
    each(names, entries, |name, range| dataset.read(&[name], range, context).map(drop))
}

/// Finds the columns of `names` for which `read` fails in one of these ranges of entries.
pub fn each(
    names: &[&str],
    entries: &[Range<u64>],
    read: impl Fn(&str, Range<u64>) -> Result<()>,
) -> Result<Vec<LeftOut>> {
    let mut damaged = Vec::new();
    for &name in names {
        match entries.iter().try_for_each(|range| read(name, range.clone())) {
            Err(error) if leaves_others_readable(&error) => {
                damaged.push(LeftOut::new(name, &error))
            }
            read => read?,
        }
    }
    Ok(damaged)
}
