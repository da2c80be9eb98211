//! Value-by-value comparison of any two datasets, in parallel and in bounded memory.

mod compare;
mod report;
mod shape;
mod show;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use rayon::prelude::*;

pub use compare::{Relation, differences, relation, same};
pub(super) use compare::{alternatives, lists};
pub use report::{Compared, Difference, Incomparable, Report};

use super::{Dataset, Filter, Item};
use crate::Context;
use crate::arrow::brief;
use crate::error::{Error, Result};
use crate::schema::FieldNames;

/// Bytes of arrays in memory at once.
pub const MEMORY_BUDGET: u64 = 256 << 20;
/// Entries read first, to learn how large they are.
const PROBE_ENTRIES: u64 = 1000;

/// What is compared, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which names are compared; names of b as they are in b.
    pub filter: Filter,
    /// Entry range; `None` compares all.
    pub entries: Option<Range<u64>>,
    /// Integers of other widths are compared by value instead of being incomparable.
    pub integers_by_value: bool,
    /// Arrays of fixed size and lists, dimensions kept as one, and strings and lists of characters are
    /// compared by value instead of being incomparable.
    pub shapes_by_value: bool,
    /// Bytes of arrays in memory at once, approximately.
    pub memory_budget: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            entries: None,
            integers_by_value: true,
            shapes_by_value: true,
            memory_budget: MEMORY_BUDGET,
        }
    }
}

/// Compares all columns that both datasets have: those of equal names, and a branch with the field that
/// a conversion makes of it, where RNTuple does not allow its name.
///
/// # Errors
/// `InvalidArgument` for an entry range beyond both, `Cancelled`, and whatever is wrong with a file.
pub fn diff(
    a: &dyn Dataset,
    b: &dyn Dataset,
    options: &Options,
    context: &Context,
) -> Result<Report> {
    let mut report = Report::default();
    let takes = |item: &&Item| options.filter.takes(&item.name);
    let mut rest: HashMap<&str, &Item> =
        b.items().iter().map(|item| (item.name.as_str(), item)).collect();
    fn fields(dataset: &dyn Dataset) -> HashMap<&str, String> {
        converted(dataset.items().iter().map(|item| item.name.as_str()))
    }
    let (in_a, in_b) = (fields(a), fields(b));
    let known: HashSet<&str> = in_a.keys().copied().collect();
    let others = in_b.iter().filter(|(name, _)| !known.contains(*name));
    let by_field: HashMap<&str, &str> =
        others.map(|(&name, field)| (field.as_str(), name)).collect();
    let mut pairs = Vec::new();
    for item in a.items().iter().filter(takes) {
        let field = || in_a.get(item.name.as_str()).and_then(|field| by_field.get(field.as_str()));
        let name = match in_b.contains_key(item.name.as_str()) {
            true => Some(item.name.as_str()),
            false => field().copied(),
        };
        match name.and_then(|name| rest.remove(name)) {
            Some(other) => pairs.push((item, other)),
            None => report.only_in_a.push(item.name.clone()),
        }
    }
    report.only_in_b = b
        .items()
        .iter()
        .filter(|item| rest.contains_key(item.name.as_str()) && takes(item))
        .map(|item| item.name.clone())
        .collect();
    compare_pairs(a, b, &pairs, options, context, report)
}

/// Compares the named columns: (name in a, name in b).
///
/// # Errors
/// `NotFound` for a name that is not there, otherwise as [`diff`].
pub fn diff_pairs(
    a: &dyn Dataset,
    b: &dyn Dataset,
    names: &[(String, String)],
    options: &Options,
    context: &Context,
) -> Result<Report> {
    let index = |dataset: &dyn Dataset| -> HashMap<String, usize> {
        dataset.items().iter().enumerate().map(|(i, item)| (item.name.clone(), i)).collect()
    };
    let (in_a, in_b) = (index(a), index(b));
    let missing = |name: &str, dataset: &dyn Dataset| {
        Error::not_found(format!("{name:?} is not a column of {}", dataset.name()))
            .at(|place| place.file = Some(dataset.file().to_owned()))
    };
    let mut pairs = Vec::with_capacity(names.len());
    for (left, right) in names {
        let left = in_a.get(left).ok_or_else(|| missing(left, a))?;
        let right = in_b.get(right).ok_or_else(|| missing(right, b))?;
        pairs.push((&a.items()[*left], &b.items()[*right]));
    }
    compare_pairs(a, b, &pairs, options, context, Report::default())
}

/// The names of columns, and those of the fields that a conversion makes of them.
pub(super) fn converted<'a>(
    columns: impl Iterator<Item = &'a str> + Clone,
) -> HashMap<&'a str, String> {
    let mut names = FieldNames::reserving(columns.clone());
    columns.map(|name| (name, names.give(name))).collect()
}

/// A pair that is compared, and what is known of its size.
struct Pair<'a> {
    names: (&'a str, &'a str),
    /// Both are compared as flat lists.
    flat: bool,
    bytes_per_entry: f64,
    result: Compared,
}

fn compare_pairs(
    a: &dyn Dataset,
    b: &dyn Dataset,
    items: &[(&Item, &Item)],
    options: &Options,
    context: &Context,
    mut report: Report,
) -> Result<Report> {
    report.entries_a = a.num_entries();
    report.entries_b = b.num_entries();
    let common = report.entries_a.min(report.entries_b);
    let entries = options.entries.clone().unwrap_or(0..common);
    if entries.start > entries.end || entries.end > common {
        return Err(Error::invalid_argument(format!(
            "entries {}..{} are not within the {common} entries that both datasets have",
            entries.start, entries.end
        )));
    }
    let mut pairs = Vec::new();
    for &(left, right) in items {
        match check(left, right, options) {
            Ok((result, flat)) => {
                let names = (left.name.as_str(), right.name.as_str());
                pairs.push(Pair { names, flat, bytes_per_entry: 0.0, result });
            }
            Err(reason) => {
                report.incomparable.push(Incomparable { name: left.name.clone(), reason });
            }
        }
    }
    let mut job = Job { a, b, budget: options.memory_budget.max(1), context };
    job.run(&mut pairs, entries.clone())?;
    report.compared_entries = entries.end - entries.start;
    report.compared = pairs.into_iter().map(|pair| pair.result).collect();
    report.conclude(options.entries.is_none());
    Ok(report)
}

/// An empty result, and whether both are compared as flat lists; the reason against it.
fn check(a: &Item, b: &Item, options: &Options) -> std::result::Result<(Compared, bool), String> {
    let field_a = a.field.as_ref().map_err(|reason| format!("a cannot be read: {reason}"))?;
    let field_b = b.field.as_ref().map_err(|reason| format!("b cannot be read: {reason}"))?;
    let (type_a, type_b) = (field_a.data_type().to_string(), field_b.data_type().to_string());
    let (data_a, data_b) = (field_a.data_type(), field_b.data_type());
    let flat = match relation(data_a, data_b) {
        Relation::Same => false,
        Relation::IntegerWidths if options.integers_by_value => false,
        _ if options.shapes_by_value && shape::alike(data_a, data_b) => true,
        _ => {
            return Err(format!(
                "a is {} ({}), b is {} ({})",
                a.type_name,
                brief(&type_a),
                b.type_name,
                brief(&type_b)
            ));
        }
    };
    let (name, name_b) = (a.name.clone(), b.name.clone());
    Ok((Compared { name, name_b, type_a, type_b, different_entries: 0, first: None }, flat))
}

struct Job<'a> {
    a: &'a dyn Dataset,
    b: &'a dyn Dataset,
    budget: u64,
    context: &'a Context,
}

impl Job<'_> {
    /// Compares chunk by chunk: a few first entries of all columns, then the clusters of b, each in
    /// batches of columns that fit the budget.
    fn run(&mut self, pairs: &mut [Pair<'_>], entries: Range<u64>) -> Result<()> {
        let probe = entries.start..entries.end.min(entries.start + PROBE_ENTRIES);
        let total = (entries.end - entries.start).saturating_mul(pairs.len() as u64);
        let mut done = 0;
        self.compare(pairs, probe.clone())?;
        done += (probe.end - probe.start) * pairs.len() as u64;
        for cluster in self.b.clusters() {
            let cluster = cluster.start.max(probe.end)..cluster.end.min(entries.end);
            let mut first = 0;
            while !cluster.is_empty() && first < pairs.len() {
                let (columns, step) = self.batch(&pairs[first..], cluster.end - cluster.start);
                let batch = &mut pairs[first..first + columns];
                let mut start = cluster.start;
                while start < cluster.end {
                    self.context.check()?;
                    let range = start..cluster.end.min(start.saturating_add(step));
                    start = range.end;
                    done += (range.end - range.start) * columns as u64;
                    self.compare(batch, range)?;
                    self.context.report(done, total);
                }
                first += columns;
            }
        }
        Ok(())
    }

    /// How many columns, and entries at a time, fit the budget.
    fn batch(&self, pairs: &[Pair<'_>], entries: u64) -> (usize, u64) {
        let mut bytes = 0.0;
        let fits = pairs.iter().take_while(|pair| {
            bytes += pair.bytes_per_entry * entries as f64;
            bytes <= self.budget as f64
        });
        match fits.count() {
            0 => {
                let per_entry = pairs.first().map_or(0.0, |pair| pair.bytes_per_entry).max(1e-9);
                (1, ((self.budget as f64 / per_entry) as u64).max(1))
            }
            columns => (columns, entries),
        }
    }

    fn compare(&self, pairs: &mut [Pair<'_>], range: Range<u64>) -> Result<()> {
        if range.is_empty() || pairs.is_empty() {
            return Ok(());
        }
        let (names_a, names_b): (Vec<_>, Vec<_>) = pairs.iter().map(|pair| pair.names).unzip();
        let left = self.a.read(&names_a, range.clone(), self.context)?;
        let right = self.b.read(&names_b, range.clone(), self.context)?;
        if left.len() != pairs.len() || right.len() != pairs.len() {
            return Err(Error::out_of_spec("a read returned another number of columns than asked"));
        }
        self.context.pool().install(|| {
            pairs
                .par_iter_mut()
                .zip(left.par_iter().zip(&right))
                .for_each(|(pair, (a, b))| pair.add(a, b, &range));
        });
        Ok(())
    }
}

impl Pair<'_> {
    fn add(&mut self, a: &ArrayRef, b: &ArrayRef, range: &Range<u64>) {
        let entries = (range.end - range.start).max(1);
        let bytes = a.get_array_memory_size() + b.get_array_memory_size();
        self.bytes_per_entry = self.bytes_per_entry.max(bytes as f64 / entries as f64);
        let flat = self
            .flat
            .then(|| (shape::flattened(a, b.data_type()), shape::flattened(b, a.data_type())));
        let (a, b) = flat.as_ref().map_or((a, b), |(a, b)| (a, b));
        if a.len() as u64 == range.end - range.start && same(a, b) {
            return;
        }
        let (count, first) = differences(a, b);
        self.result.different_entries += count;
        if let (Some(index), None) = (first, &self.result.first) {
            let (item, a, b) = show::narrowed(a, b, index);
            let entry = range.start + index as u64;
            self.result.first = Some(Difference { entry, item, a, b });
        }
    }
}

#[cfg(test)]
mod tests;
