//! Reads entries in any order.

use std::collections::HashMap;
use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use arrow_select::interleave::interleave;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};
use nyssa_root::guard::to_usize;

use super::Dataset;

use crate::heuristics::dataset;

/// Reads `indices` range by range, in the order of the file, and returns them in the requested order.
pub(super) fn take<D: Dataset + ?Sized>(
    dataset: &D,
    names: &[&str],
    indices: &[u64],
    context: &Context,
) -> Result<Vec<ArrayRef>> {
    let total = dataset.num_entries();
    if let Some(index) = indices.iter().find(|&&index| index >= total) {
        return Err(Error::invalid_argument(format!(
            "entry {index} is requested, but {} has {total}",
            dataset.name()
        )));
    }
    let mut sorted = indices.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut parts = Vec::new();
    for wanted in ranges(&sorted, &dataset.clusters()) {
        context.check()?;
        let range = match wanted {
            [first, .., last] => *first..*last + 1,
            [only] => *only..*only + 1,
            [] => continue,
        };
        let start = range.start;
        let arrays = dataset.read(names, range, context)?;
        let rows = wanted.iter().map(|index| to_usize(index - start, "entry"));
        let rows = rows.map(|row| Ok((0, row?))).collect::<Result<Vec<_>>>()?;
        // Only the requested entries stay in memory.
        parts.push(arrays.iter().map(|array| gather(&[array], &rows)).collect::<Result<Vec<_>>>()?);
    }
    if parts.is_empty() {
        return dataset.read(names, 0..0, context);
    }
    let places = places(&sorted, &parts);
    let rows = indices.iter().filter_map(|index| places.get(index).copied()).collect::<Vec<_>>();
    let column = |column: usize| {
        let sources = parts.iter().filter_map(|part| part.get(column)).collect::<Vec<_>>();
        gather(&sources, &rows)
    };
    (0..names.len()).map(column).collect()
}

/// Divides ascending indices at the ends of clusters and at large gaps.
fn ranges<'i>(sorted: &'i [u64], clusters: &[Range<u64>]) -> Vec<&'i [u64]> {
    let mut ranges = Vec::new();
    let mut rest = sorted;
    while let Some(first) = rest.first() {
        let cluster = clusters.partition_point(|cluster| cluster.end <= *first);
        let end = clusters.get(cluster).map_or(u64::MAX, |cluster| cluster.end);
        let together = |pair: &[u64]| pair[1] < end && pair[1] - pair[0] <= dataset::GAP;
        let count = 1 + rest.windows(2).take_while(|pair| together(pair)).count();
        let (range, tail) = rest.split_at(count);
        ranges.push(range);
        rest = tail;
    }
    ranges
}

/// Finds the part and the row of each index.
fn places(sorted: &[u64], parts: &[Vec<ArrayRef>]) -> HashMap<u64, (usize, usize)> {
    let lengths = parts.iter().map(|part| part.first().map_or(0, |array| array.len()));
    let rows =
        lengths.enumerate().flat_map(|(part, length)| (0..length).map(move |row| (part, row)));
    sorted.iter().copied().zip(rows).collect()
}

/// Collects the values at pairs of source and row.
///
/// # Errors
/// `LimitExceeded` when they do not fit into one array.
pub(crate) fn gather(sources: &[&ArrayRef], rows: &[(usize, usize)]) -> Result<ArrayRef> {
    let sources: Vec<&dyn Array> = sources.iter().map(|array| array.as_ref()).collect();
    interleave(&sources, rows)
        .map_err(|error| Error::limit("the entries do not fit into one array").with_source(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_with_clusters_and_before_gaps() {
        let clusters = [0..10, 10..10_000];
        let taken = ranges(&[1, 2, 9, 10, 11, 9000], &clusters);
        assert_eq!(taken, [&[1, 2, 9][..], &[10, 11], &[9000]]);
        assert!(ranges(&[], &clusters).is_empty());
    }
}
