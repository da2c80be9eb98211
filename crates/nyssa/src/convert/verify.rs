//! Proof that nothing was lost: both sides are read back and every value is compared.

use std::ops::Range;

use super::map::FieldMap;
use crate::Context;
use crate::dataset::diff::{self, Report};
use crate::dataset::{Dataset, Slice};
use crate::error::{Error, Result};

/// Differences named in an error.
const SHOWN: usize = 8;

/// Compares every converted branch, for `entries` of the tree, with its field, bit by bit.
///
/// # Errors
/// Whatever is wrong with a file, `Cancelled`. Differences are in the report.
pub fn compare(
    tree: &dyn Dataset,
    entries: Range<u64>,
    ntuple: &dyn Dataset,
    fields: &[FieldMap],
    memory_budget: u64,
    context: &Context,
) -> Result<Report> {
    let pairs: Vec<_> = fields
        .iter()
        .filter(|field| field.readable)
        .map(|field| (field.branch.clone(), field.field.clone()))
        .collect();
    let slice = Slice::new(tree, entries)?;
    let options = diff::Options { memory_budget, ..diff::Options::default() };
    diff::diff_pairs(&slice, ntuple, &pairs, &options, context)
}

/// An error that names what is different.
///
/// # Errors
/// `OutOfSpecification` when the report tells of any difference.
pub fn require_equal(report: &Report) -> Result<()> {
    if report.equal {
        return Ok(());
    }
    let mut found: Vec<String> = Vec::new();
    if report.entries_a != report.entries_b {
        found.push(format!(
            "the tree has {} entries, the RNTuple {}",
            report.entries_a, report.entries_b
        ));
    }
    found.extend(report.incomparable.iter().map(|it| format!("{}: {}", it.name, it.reason)));
    found.extend(report.different().map(|compared| match &compared.first {
        Some(first) => format!(
            "{}: {} entries differ, the first is {}{} with {} in the tree and {} in the RNTuple",
            compared.name, compared.different_entries, first.entry, first.item, first.a, first.b
        ),
        None => format!("{}: {} entries differ", compared.name, compared.different_entries),
    }));
    let more = found.len().saturating_sub(SHOWN);
    found.truncate(SHOWN);
    if more > 0 {
        found.push(format!("and {more} more"));
    }
    Err(Error::out_of_spec(format!(
        "the written RNTuple does not hold the same values as the tree; no output is left:\n  {}",
        found.join("\n  ")
    )))
}
