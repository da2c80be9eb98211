//! Verifies a conversion: reads both files back and compares every value.

use std::collections::HashMap;
use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use nyssa_data::dataset::Dataset;
use nyssa_data::view::Slice;
use nyssa_rntuple::read::{self, StreamerForm};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::RootFile;

use super::model::FieldMap;
use crate::compare::diff::{self, DiffOptions, DiffReport, Relation, Tolerance};

/// Compares every converted branch, in the range `entries` of the tree, with its field, bit by bit. Fields of `tolerances`
/// may differ by the error that their encoding states.
///
/// # Errors
/// `Cancelled`; an error if a file is damaged or cannot be read. Differences are in the report.
pub fn compare(
    tree: &dyn Dataset,
    entries: Range<u64>,
    ntuple: &dyn Dataset,
    fields: &[FieldMap],
    tolerances: &HashMap<String, Tolerance>,
    memory_budget: u64,
    context: &Context,
) -> Result<DiffReport> {
    let pairs: Vec<_> = fields
        .iter()
        .filter(|field| field.readable)
        .map(|field| (field.branch.clone(), field.field.clone()))
        .collect();
    let slice = Slice::new(tree, entries)?;
    let tolerances = tolerances.clone();
    let options = DiffOptions { tolerances, ..DiffOptions::of_job(memory_budget) };
    diff::diff_pairs(&slice, ntuple, &pairs, &options, context)
}

/// Returns whether a branch and a field read as values of one type. The classes that a file describes decide the
/// types of pointers, and the output describes fewer classes than the input.
pub(super) fn read_alike(
    (tree, branch): (&dyn Dataset, &str),
    (ntuple, field): (&dyn Dataset, &str),
) -> bool {
    let of = |dataset: &dyn Dataset, name: &str| {
        let column = dataset.columns().iter().find(|column| column.name == name)?;
        column.field.as_ref().ok().map(|field| field.data_type().clone())
    };
    match (of(tree, branch), of(ntuple, field)) {
        (Some(a), Some(b)) => diff::relation(&a, &b) == Relation::Same,
        _ => false,
    }
}

/// Compares the objects in a streamer field with the objects that `read` streams again from the entries of the tree.
/// `first` is the first entry. This is for branches that read as another type than the field.
///
/// # Errors
/// `OutOfSpecification` if bytes differ; `Cancelled`; an error if a file is damaged or cannot be read.
pub(super) fn same_bytes(
    file: &RootFile,
    ntuple: &str,
    field: &str,
    first: u64,
    read: impl Fn(&Range<u64>) -> Result<ArrayRef>,
    context: &Context,
) -> Result<()> {
    let options = read::RNTupleReadOptions {
        streamer: StreamerForm::Raw,
        ..read::RNTupleReadOptions::default()
    };
    let raw = read::Reader::open_with(file, ntuple, options)?;
    for cluster in raw.clusters() {
        context.check()?;
        let streamed = read(&(cluster.start + first..cluster.end + first))?;
        let stored = raw.read(&[field], cluster, context)?;
        if stored.first().map(Array::to_data) != Some(streamed.to_data()) {
            let message = "the objects that were written differ from the objects of the tree";
            return Err(Error::out_of_spec(message)).in_field(field);
        }
    }
    Ok(())
}
