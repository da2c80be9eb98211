//! Divides entries into ranges that are read one by one, possibly by several processes.

use std::ops::Range;

use arrow_array::ArrayRef;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};

use super::StepSize;
use crate::dataset::Dataset;
use crate::heuristics::steps;

/// Divides `entries` into ranges, in order. If clusters fit `size`, ranges end with clusters. A larger
/// cluster is divided into equal parts.
///
/// [`StepSize::Memory`] limits the size of the arrays of one range. `measure` counts their bytes. The size of
/// an entry is estimated from a few entries of the columns `names`, and only these are read.
///
/// # Errors
/// `InvalidArgument` for a range beyond the entries; with [`StepSize::Memory`], an error if the sample cannot be
/// read.
pub fn partitions(
    dataset: &dyn Dataset,
    names: &[&str],
    entries: Range<u64>,
    size: StepSize,
    measure: impl Fn(&[ArrayRef]) -> u64,
    context: &Context,
) -> Result<Vec<Range<u64>>> {
    let total = dataset.num_entries();
    if entries.start > entries.end || entries.end > total {
        let Range { start, end } = entries;
        return Err(Error::invalid_argument(format!(
            "entries {start}..{end} are not within the {total} entries"
        )));
    }
    let clip = |cluster: Range<u64>| cluster.start.max(entries.start)..cluster.end.min(entries.end);
    let clusters = dataset.clusters().into_iter().map(clip);
    let clusters: Vec<_> = clusters.filter(|cluster| cluster.start < cluster.end).collect();
    let most = match size {
        StepSize::Cluster => return Ok(clusters),
        StepSize::Entries(most) => most,
        StepSize::Memory(bytes) => {
            let entry = bytes_per_entry(dataset, names, &clusters, measure, context)?;
            (bytes as f64 / entry.max(1.0)) as u64
        }
    };
    Ok(grouped(&clusters, most.max(1)))
}

/// Joins clusters up to `most` entries, and divides larger clusters.
fn grouped(clusters: &[Range<u64>], most: u64) -> Vec<Range<u64>> {
    let mut groups: Vec<Range<u64>> = Vec::new();
    for cluster in clusters {
        let length = cluster.end - cluster.start;
        match groups.last_mut().filter(|last| cluster.end - last.start <= most) {
            Some(last) => last.end = cluster.end,
            None => {
                let parts = length.div_ceil(most);
                let bound = |part: u64| {
                    // The product of two numbers of entries can need 128 bits.
                    let entry = u128::from(length) * u128::from(part) / u128::from(parts);
                    cluster.start + entry as u64
                };
                groups.extend((0..parts).map(|part| bound(part)..bound(part + 1)));
            }
        }
    }
    groups
}

/// Returns the mean size of an entry, measured with the first entries of some clusters.
fn bytes_per_entry(
    dataset: &dyn Dataset,
    names: &[&str],
    clusters: &[Range<u64>],
    measure: impl Fn(&[ArrayRef]) -> u64,
    context: &Context,
) -> Result<f64> {
    let samples = clusters.len().min(steps::SAMPLES);
    let mut sum = 0.0;
    for sample in 0..samples {
        let Some(cluster) = clusters.get(sample * clusters.len() / samples) else { continue };
        let length = cluster.end - cluster.start;
        let mut entries = 1;
        sum += loop {
            let range = cluster.start..cluster.start + entries;
            let bytes = measure(&dataset.read(names, range, context)?);
            if entries == length || bytes >= steps::SAMPLE_BYTES {
                break bytes as f64 / entries as f64;
            }
            entries = entries.saturating_mul(steps::SAMPLE_GROWTH).min(length);
        };
    }
    Ok(sum / samples.max(1) as f64)
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "lists of ranges, some of one")]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_with_clusters_where_those_fit() {
        let clusters = [0..100, 100..200, 200..230, 230..530, 530..540];
        assert_eq!(grouped(&clusters, 200), [0..200, 200..230, 230..380, 380..540]);
        assert_eq!(grouped(&clusters, 1000), [0..540]);
        assert_eq!(grouped(&clusters[..1], 30), [0..25, 25..50, 50..75, 75..100]);
        assert_eq!(grouped(&[7..10], 1), [7..8, 8..9, 9..10]);
        assert_eq!(grouped(&[0..u64::MAX], u64::MAX / 2 + 1).len(), 2);
        assert_eq!(grouped(&[], 5), []);
    }
}
