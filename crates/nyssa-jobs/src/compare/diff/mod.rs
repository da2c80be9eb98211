//! Compares two datasets value by value, on all threads and with limited memory.

mod compare;
mod options;
mod report;
mod shape;
mod show;
mod tolerance;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use rayon::prelude::*;

pub use compare::{Relation, differences, relation, same};
pub(super) use compare::{alternatives, lists, single};
pub use options::DiffOptions;
pub use report::{Compared, DiffReport, Difference, Incomparable};
pub use tolerance::Tolerance;

use nyssa_data::dataset::batches::{self, Measured};
use nyssa_data::dataset::{ColumnInfo, Dataset};
use nyssa_rntuple::schema::FieldNames;
use nyssa_root::Context;
use nyssa_root::arrow::shortened;
use nyssa_root::error::{Error, Result};

/// Compares all columns that both datasets have. Columns are matched by name. A branch whose name RNTuple does not
/// allow is matched with the field that a conversion makes from it.
///
/// # Errors
/// `InvalidArgument` for an entry range beyond both, and with `only_common` if there is no common column;
/// `Cancelled`; an error if a file is damaged.
pub fn diff(
    a: &dyn Dataset,
    b: &dyn Dataset,
    options: &DiffOptions,
    context: &Context,
) -> Result<DiffReport> {
    let mut report = DiffReport::default();
    let takes = |item: &&ColumnInfo| options.selection.takes(&item.name);
    let mut rest: HashMap<&str, &ColumnInfo> =
        b.columns().iter().map(|item| (item.name.as_str(), item)).collect();
    fn fields(dataset: &dyn Dataset) -> HashMap<&str, String> {
        converted(dataset.columns().iter().map(|item| item.name.as_str()))
    }
    let (in_a, in_b) = (fields(a), fields(b));
    let known: HashSet<&str> = in_a.keys().copied().collect();
    let others = in_b.iter().filter(|(name, _)| !known.contains(*name));
    let by_field: HashMap<&str, &str> =
        others.map(|(&name, field)| (field.as_str(), name)).collect();
    let mut pairs = Vec::new();
    for item in a.columns().iter().filter(takes) {
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
        .columns()
        .iter()
        .filter(|item| rest.contains_key(item.name.as_str()) && takes(item))
        .map(|item| item.name.clone())
        .collect();
    if options.only_common && pairs.is_empty() {
        return Err(Error::invalid_argument(format!(
            "{} and {} have no column in common: nothing was compared",
            a.file(),
            b.file()
        )));
    }
    compare_pairs(a, b, &pairs, options, context, report)
}

/// Compares the named columns: (name in a, name in b).
///
/// # Errors
/// `NotFound` for a name that does not exist; `InvalidArgument` for an entry range beyond both; `Cancelled`; an error
/// if a file is damaged.
pub fn diff_pairs(
    a: &dyn Dataset,
    b: &dyn Dataset,
    names: &[(String, String)],
    options: &DiffOptions,
    context: &Context,
) -> Result<DiffReport> {
    fn named(dataset: &dyn Dataset) -> HashMap<&str, &ColumnInfo> {
        let all = dataset.subcolumns().iter().chain(dataset.columns());
        all.map(|item| (item.name.as_str(), item)).collect()
    }
    let (in_a, in_b) = (named(a), named(b));
    let missing = |name: &str, dataset: &dyn Dataset| {
        Error::not_found(format!("{name:?} is not a column of {}", dataset.name()))
            .at(|place| place.file = Some(dataset.file().to_owned()))
    };
    let mut pairs = Vec::with_capacity(names.len());
    for (left, right) in names {
        let left = *in_a.get(left.as_str()).ok_or_else(|| missing(left, a))?;
        let right = *in_b.get(right.as_str()).ok_or_else(|| missing(right, b))?;
        pairs.push((left, right));
    }
    compare_pairs(a, b, &pairs, options, context, DiffReport::default())
}

/// Returns the names of columns, with the names of the fields that a conversion makes from them.
pub(super) fn converted<'a>(
    columns: impl Iterator<Item = &'a str> + Clone,
) -> HashMap<&'a str, String> {
    let mut names = FieldNames::reserving(columns.clone());
    columns.map(|name| (name, names.give(name))).collect()
}

/// A pair of columns that is compared, and the size of its values.
struct Pair<'a> {
    names: (&'a str, &'a str),
    /// Whether both are compared as flat lists.
    flat: bool,
    /// The precision of b, if it is not exact.
    tolerance: Option<&'a Tolerance>,
    bytes_per_entry: f64,
    result: Compared,
}

fn compare_pairs(
    a: &dyn Dataset,
    b: &dyn Dataset,
    items: &[(&ColumnInfo, &ColumnInfo)],
    options: &DiffOptions,
    context: &Context,
    mut report: DiffReport,
) -> Result<DiffReport> {
    report.entries_a = a.num_entries();
    report.entries_b = b.num_entries();
    let common = report.entries_a.min(report.entries_b);
    let entries = options.selection.entries.clone().unwrap_or(0..common);
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
                let tolerance = options.tolerances.get(names.1);
                pairs.push(Pair { names, flat, tolerance, bytes_per_entry: 0.0, result });
            }
            Err(reason) => {
                report.incomparable.push(Incomparable { name: left.name.clone(), reason });
            }
        }
    }
    let read = |pairs: &mut [Pair<'_>], range| compare((a, b), pairs, range, context);
    // The ranges follow the clusters of b, which is the output when a conversion is verified.
    let memory = options.selection.memory_budget;
    batches::each(b, &mut pairs, entries.clone(), memory, context, read)?;
    report.compared_entries = entries.end - entries.start;
    report.compared = pairs.into_iter().map(|pair| pair.result).collect();
    report.conclude(options);
    Ok(report)
}

/// Returns an empty result, and whether both columns are compared as flat lists. The error is the reason why
/// they cannot be compared.
fn check(
    a: &ColumnInfo,
    b: &ColumnInfo,
    options: &DiffOptions,
) -> std::result::Result<(Compared, bool), String> {
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
                shortened(&type_a),
                b.type_name,
                shortened(&type_b)
            ));
        }
    };
    let (name, name_b) = (a.name.clone(), b.name.clone());
    Ok((Compared { name, name_b, type_a, type_b, different_entries: 0, first: None }, flat))
}

impl Measured for Pair<'_> {
    fn bytes_per_entry(&self) -> f64 {
        self.bytes_per_entry
    }
}

/// Reads and compares a range of entries.
fn compare(
    (a, b): (&dyn Dataset, &dyn Dataset),
    pairs: &mut [Pair<'_>],
    range: Range<u64>,
    context: &Context,
) -> Result<()> {
    let (names_a, names_b): (Vec<_>, Vec<_>) = pairs.iter().map(|pair| pair.names).unzip();
    let left = a.read(&names_a, range.clone(), context)?;
    let right = b.read(&names_b, range.clone(), context)?;
    if left.len() != pairs.len() || right.len() != pairs.len() {
        return Err(Error::out_of_spec("a read returned a wrong number of columns"));
    }
    context.pool().install(|| {
        pairs
            .par_iter_mut()
            .zip(left.par_iter().zip(&right))
            .for_each(|(pair, (a, b))| pair.add(a, b, &range));
    });
    Ok(())
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
        let settled = self.tolerance.map(|tolerance| tolerance.settled(a, b));
        let a = settled.as_ref().unwrap_or(a);
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
