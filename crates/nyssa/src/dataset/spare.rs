//! Reading what can be read: columns that are damaged, or of a kind that nyssa does not read, are left
//! out, and where only a part of a column is, that part.

use std::ops::Range;

use arrow_array::ArrayRef;

use super::{AnyDataset, Dataset};
use crate::Context;
use crate::error::{Error, Kind, Result};

/// Reads columns of a dataset.
type Read<'r> = dyn Fn(&dyn Dataset, &[&str]) -> Result<Vec<ArrayRef>> + 'r;

/// A column, or a part of one, that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name or path.
    pub column: String,
    /// Why it cannot be read, and where.
    pub reason: String,
}

impl LeftOut {
    fn new(column: &str, error: &Error) -> Self {
        Self { column: column.to_owned(), reason: error.brief() }
    }
}

/// Columns of a dataset that are read as far as that is possible. What cannot be read once is not
/// asked for again.
pub struct Sparing<'a> {
    dataset: &'a dyn Dataset,
    /// The dataset without parts of columns, once there are such.
    without: Option<AnyDataset>,
    names: Vec<String>,
    left_out: Vec<LeftOut>,
}

impl<'a> Sparing<'a> {
    /// The columns `names` of `dataset`. Those that are known to be unreadable are left out.
    ///
    /// # Errors
    /// Those of [`Dataset::without`].
    pub fn new(dataset: &'a dyn Dataset, names: &[&str], context: &Context) -> Result<Self> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut this = Self { dataset, without: None, names, left_out: Vec::new() };
        let unreadable = this.unreadable();
        let mut found = Vec::new();
        for LeftOut { column, reason } in unreadable {
            let below = [format!("{column}/"), format!("{column}.")];
            let is_below = |name: &str| below.iter().any(|below| name.starts_with(below));
            let all = dataset.items().iter().chain(dataset.below());
            let parts = all.filter(|item| is_below(&item.name)).filter_map(|item| {
                let reason = item.field.as_ref().err()?.clone();
                Some(LeftOut { column: item.name.clone(), reason })
            });
            let parts: Vec<LeftOut> = parts.collect();
            match parts.is_empty() {
                true => found.push(LeftOut { column, reason }),
                false => found.extend(parts),
            }
        }
        this.leave_out(found, context)?;
        Ok(this)
    }

    /// The dataset that is read: its columns may lack parts.
    pub fn dataset(&self) -> &dyn Dataset {
        self.without.as_deref().unwrap_or(self.dataset)
    }

    /// The same for those who keep it; `None` where no column lacks a part.
    pub fn without(&self) -> Option<AnyDataset> {
        self.without.clone()
    }

    /// The columns that are read.
    pub fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// What was left out since this was asked last.
    pub fn take_left_out(&mut self) -> Vec<LeftOut> {
        std::mem::take(&mut self.left_out)
    }

    /// Reads entries of [`Sparing::names`], which get fewer where some cannot be read.
    ///
    /// # Errors
    /// `Io`, `Cancelled`, and wrong arguments.
    pub fn read(&mut self, entries: Range<u64>, context: &Context) -> Result<Vec<ArrayRef>> {
        let range = entries.clone();
        self.attempt(&[entries], context, &|dataset, names| {
            dataset.read(names, range.clone(), context)
        })
    }

    /// As [`Sparing::read`], for entries in any order.
    ///
    /// # Errors
    /// Those of [`Sparing::read`].
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
            Err(error) if is_spared(&error) => {}
            done => return done,
        }
        let found = self.dataset().damaged(&self.names(), entries, context)?;
        self.leave_out(found, context)?;
        match read(self.dataset(), &self.names()) {
            Err(error) if is_spared(&error) => {}
            done => return done,
        }
        // What can be read part by part, but not together.
        let mut found = Vec::new();
        for name in self.names() {
            match read(self.dataset(), &[name]) {
                Err(error) if is_spared(&error) => found.push(LeftOut::new(name, &error)),
                Err(error) => return Err(error),
                Ok(_) => {}
            }
        }
        self.leave_out(found, context)?;
        read(self.dataset(), &self.names())
    }

    /// Takes away whole columns, and parts of others.
    fn leave_out(&mut self, found: Vec<LeftOut>, context: &Context) -> Result<()> {
        let (whole, parts): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|one| self.names.contains(&one.column));
        self.names.retain(|name| whole.iter().all(|one| one.column != *name));
        self.left_out.extend(whole);
        if parts.is_empty() {
            return Ok(());
        }
        if let Some(without) = self.dataset().without(&parts, context)? {
            self.without = Some(without);
            self.left_out.extend(parts);
        }
        // Without these parts some columns may not be what they were.
        let unreadable = self.unreadable();
        self.names.retain(|name| unreadable.iter().all(|one| one.column != *name));
        self.left_out.extend(unreadable);
        Ok(())
    }

    fn unreadable(&self) -> Vec<LeftOut> {
        let dataset = self.dataset();
        let reason = |name: &String| {
            let reason = dataset.item(name)?.field.as_ref().err()?.clone();
            Some(LeftOut { column: name.clone(), reason })
        };
        self.names.iter().filter_map(reason).collect()
    }
}

/// Whether others can be read where this went wrong.
pub(crate) fn is_spared(error: &Error) -> bool {
    !matches!(error.kind(), Kind::Cancelled | Kind::Io | Kind::NotFound | Kind::InvalidArgument)
}

/// The columns of `names` that cannot be read of these entries.
pub(super) fn damaged<D: Dataset + ?Sized>(
    dataset: &D,
    names: &[&str],
    entries: &[Range<u64>],
    context: &Context,
) -> Result<Vec<LeftOut>> {
    each(names, entries, |name, range| dataset.read(&[name], range, context).map(drop))
}

/// Those of `names` for which `read` fails in one of these ranges of entries.
pub(crate) fn each(
    names: &[&str],
    entries: &[Range<u64>],
    read: impl Fn(&str, Range<u64>) -> Result<()>,
) -> Result<Vec<LeftOut>> {
    let mut found = Vec::new();
    for &name in names {
        match entries.iter().try_for_each(|range| read(name, range.clone())) {
            Err(error) if is_spared(&error) => found.push(LeftOut::new(name, &error)),
            read => read?,
        }
    }
    Ok(found)
}
