//! Proof that nothing was lost: both sides are read back and every value is compared.

use std::ops::Range;

use super::map::FieldMap;
use crate::Context;
use crate::dataset::diff::{self, Report};
use crate::dataset::{Dataset, Slice};
use crate::error::Result;

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
    let options =
        diff::Options { memory_budget, shapes_by_value: false, ..diff::Options::default() };
    diff::diff_pairs(&slice, ntuple, &pairs, &options, context)
}
