//! Fills histograms of expressions, on all threads, while the next entries are read.
//!
//! ```text
//! plans ── prepared ──> the columns to read, each once
//! steps of entries ──> pieces ── fill ──> a histogram of each piece ── add, in order ──> histograms
//! ```
//!
//! Numbers of values are exact. Sums of weights are rounded in an order that follows from the steps, which depend on the
//! number of threads: they may differ in their last bits. In memory are two steps ([`Steps`]), and a few histograms for
//! each thread. A value of an entry is repeated for the items of the lists with
//! which it is filled, such as the weight of an event for its jets. Missing values are counted, and are in no bin.

mod axis;
mod contents;
mod fill;
mod prepared;
mod statistics;
mod values;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_root::guard::to_usize;
use rayon::prelude::*;

pub use axis::{Axis, MAX_CATEGORIES, Transform};
pub use contents::Histogram;
pub use prepared::{HistogramPlan, types};
pub use statistics::Statistics;

use crate::dataset::AnyDataset;
use crate::dataset::steps::{Finish, InputPart, StepSize, Steps};
use crate::heuristics::histogram;
use crate::view::Aliases;
use prepared::Prepared;

/// The columns of some entries, and the number of these entries.
type Columns = (Vec<ArrayRef>, usize);

/// Fills histograms of all entries of a dataset. Each column is read once. Expressions may use `aliases`, and those
/// that `stored` returns, which is called if a name is not known otherwise.
///
/// # Errors
/// `InvalidArgument` for expressions that do not parse, do not fit each other, or do not fit their axes; `NotFound`
/// with the nearest names; `LimitExceeded` for too many bins or texts; an error if the dataset cannot be read.
pub fn fill(
    dataset: &AnyDataset,
    plans: &[HistogramPlan],
    aliases: &Aliases,
    stored: &dyn Fn() -> Result<Aliases>,
    context: &Context,
) -> Result<Vec<Histogram>> {
    let prepared = Prepared::new(dataset.as_ref(), plans, aliases, stored)?;
    let mut filled: Vec<Histogram> = prepared.plans.iter().map(|plan| plan.empty.clone()).collect();
    let total = dataset.num_entries();
    let mut steps = steps(dataset, prepared.columns.clone());
    let mut done = 0u64;
    while let Some(step) = steps.next(context)? {
        steps.prepare(context)?;
        let (arrays, length) = step.data;
        let pieces = pieces(length, &filled);
        let fill = |piece: &Range<usize>| {
            context.check()?;
            let arrays: Vec<ArrayRef> =
                arrays.iter().map(|array| array.slice(piece.start, piece.len())).collect();
            fill::fill(&prepared, &arrays, piece.len())
        };
        let made: Result<Vec<_>> = context.pool().install(|| pieces.par_iter().map(fill).collect());
        for made in made? {
            for (sum, made) in filled.iter_mut().zip(&made) {
                sum.add(made)?;
            }
        }
        done += length as u64;
        context.report(done, total);
    }
    Ok(filled)
}

/// Reads the columns step by step.
fn steps(dataset: &AnyDataset, names: Vec<String>) -> Steps<Columns> {
    let parts = InputPart::new(dataset, 0..dataset.num_entries()).alone();
    let finish: Finish<Columns> =
        Arc::new(|_: &[FieldRef], arrays: Vec<ArrayRef>, rows: u64, _: &Context| {
            Ok(((arrays, to_usize(rows, "a number of entries")?), 0))
        });
    let size = StepSize::Memory(histogram::STEP_BYTES);
    Steps::new(parts, names, false, size, finish, Arc::default())
}

/// Divides the entries of a step into pieces. Large histograms are filled in fewer pieces, because each piece has
/// histograms of its own.
fn pieces(length: usize, histograms: &[Histogram]) -> Vec<Range<usize>> {
    let bins: usize = histograms.iter().map(|item| item.sums.len()).sum();
    let most = (histogram::PIECE_BINS / bins.max(1)).max(1);
    let entries = histogram::PIECE_ENTRIES.max(length.div_ceil(most));
    (0..length).step_by(entries).map(|start| start..length.min(start + entries)).collect()
}
