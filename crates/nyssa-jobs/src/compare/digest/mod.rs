//! Computes digests of the values of a dataset. They are equal for a TTree and the RNTuple that was made from it.
//!
//! A digest depends only on the values and their order, and not on compression, baskets, pages, clusters, threads, or
//! the widths of integers. [`ColumnHasher`] defines what is hashed.

mod column;
mod report;

use std::ops::Range;

use arrow_array::ArrayRef;
use rayon::prelude::*;

pub use column::ColumnHasher;
pub use report::{Comparison, Difference, Digest, DigestReport, Expected, HASH, Undigested};

use crate::compare::Selection;
use nyssa_data::dataset::batches::{self, Measured};
use nyssa_data::dataset::{ColumnInfo, Dataset};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};

/// Adds the values of arrays to the digests of their columns. A column whose values have no digest loses it.
pub(crate) fn add_arrays(
    digests: &mut [Option<ColumnHasher>],
    arrays: &[ArrayRef],
    context: &Context,
) {
    context.pool().install(|| {
        digests.par_iter_mut().zip(arrays).for_each(|(digest, array)| {
            if digest.as_mut().is_some_and(|digest| digest.add(array).is_err()) {
                *digest = None;
            }
        });
    });
}

/// Reads all columns and hashes their values. Columns that cannot be read are listed with the reason.
///
/// # Errors
/// `InvalidArgument` for a range of entries beyond the dataset; `Cancelled`; an error if the file is damaged or
/// cannot be read.
pub fn digest(
    dataset: &dyn Dataset,
    selection: &Selection,
    context: &Context,
) -> Result<DigestReport> {
    let all = dataset.num_entries();
    let entries = selection.entries.clone().unwrap_or(0..all);
    if entries.start > entries.end || entries.end > all {
        return Err(Error::invalid_argument(format!(
            "entries {}:{} are not within the {all} entries that there are",
            entries.start, entries.end
        )))
        .in_file(dataset.file())
        .in_object(dataset.name());
    }
    let mut report = DigestReport::new(dataset, entries.clone());
    let mut columns = Vec::new();
    let takes = |name: &str| selection.takes(name);
    for item in dataset.columns().iter().filter(|item| takes(&item.name)) {
        match item
            .field
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|it| ColumnHasher::new(it.data_type()))
        {
            Ok(column) => columns.push(HashedColumn { item, column, bytes_per_entry: 0.0 }),
            Err(reason) => report.undigested.push(Undigested { name: item.name.clone(), reason }),
        }
    }
    let read = |columns: &mut [HashedColumn<'_>], range| add(dataset, columns, range, context);
    batches::each(dataset, &mut columns, entries, selection.memory_budget, context, read)?;
    report.digests.extend(columns.into_iter().map(|hashed| Digest {
        name: hashed.item.name.clone(),
        type_name: hashed.item.type_name.clone(),
        digest: hashed.column.digest(),
    }));
    Ok(report)
}

/// A column that is hashed.
struct HashedColumn<'a> {
    item: &'a ColumnInfo,
    column: ColumnHasher,
    bytes_per_entry: f64,
}

impl Measured for HashedColumn<'_> {
    fn bytes_per_entry(&self) -> f64 {
        self.bytes_per_entry
    }
}

/// Reads and hashes a range of entries.
fn add(
    dataset: &dyn Dataset,
    columns: &mut [HashedColumn<'_>],
    range: Range<u64>,
    context: &Context,
) -> Result<()> {
    let names: Vec<_> = columns.iter().map(|column| column.item.name.as_str()).collect();
    let arrays = dataset.read(&names, range.clone(), context)?;
    let entries = (range.end - range.start).max(1) as f64;
    context.pool().install(|| {
        columns.par_iter_mut().zip(arrays).try_for_each(|(hashed, array)| {
            let bytes = array.get_array_memory_size() as f64;
            hashed.bytes_per_entry = hashed.bytes_per_entry.max(bytes / entries);
            hashed.column.add(&array).in_field(&hashed.item.name)
        })
    })
}
