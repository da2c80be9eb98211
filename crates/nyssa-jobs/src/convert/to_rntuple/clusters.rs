//! Decides where the clusters of the output end. The sizes of the baskets of the tree and of a sample of the
//! output decide.

use std::ops::Range;
use std::sync::Arc;

use nyssa_rntuple::page::SealedColumn;
use nyssa_rntuple::seal::{Scratch, SealSettings};
use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_ttree::{Basket, Branch, Shape, Tree};
use rayon::prelude::*;

use super::model::{Input, Source};
use super::read_ahead;
use super::sample_baskets::SampleBaskets;
use super::unit::Units;
use crate::heuristics::convert;
use crate::job::cutting::{Amounts, Cutter, Span};

/// The sizes of the units of a conversion, for each byte of their baskets.
pub(super) struct Sizes {
    factors: Vec<Factors>,
}

/// The stored and decoded bytes for one byte of baskets, or for one entry of a counter.
#[derive(Clone, Copy)]
struct Factors {
    stored: f64,
    decoded: f64,
}

impl Sizes {
    /// Returns the sizes without a sample: the output is unknown, and the decoded size is an upper limit.
    fn unknown(units: &Units<'_>) -> Self {
        let factors = |source: &Source| match source {
            Source::Offsets(_) => {
                Factors { stored: convert::OFFSET_BYTES / 2.0, decoded: convert::OFFSET_BYTES }
            }
            _ => Factors { stored: 1.0, decoded: convert::EXPANSION },
        };
        Self { factors: units.units.iter().map(|unit| factors(&unit.source)).collect() }
    }

    /// Seals some entries of the cluster `first` to estimate sizes. If all data fit into one cluster, nothing is
    /// sealed.
    ///
    /// # Errors
    /// `Cancelled`.
    pub(super) fn new(
        units: &Units<'_>,
        entries: &Range<u64>,
        first: &Range<u64>,
        settings: &SealSettings,
        cluster_size: u64,
        (sample_baskets, context): (&Arc<SampleBaskets>, &Context),
    ) -> Result<Self> {
        let mut sizes = Self::unknown(units);
        let all: f64 = (0..units.units.len()).map(|unit| sizes.decoded(units, unit, entries)).sum();
        if all <= cluster_size as f64 {
            return Ok(sizes);
        }
        let length = first.end - first.start;
        let bytes = (cluster_size / convert::SIZE_SAMPLE_DIVISOR)
            .max(convert::MIN_SIZE_SAMPLE_BYTES)
            .min(cluster_size);
        let count = u128::from(length) * u128::from(bytes) / u128::from(cluster_size.max(1));
        let count = u64::try_from(count).unwrap_or(length).clamp(1, length.max(1));
        let start = first.start + (length.max(1) - count) / 2;
        let sample = start..start + count;
        let whole = |_| Some(sample.clone());
        let (reader, bytes) = (units.reader, context.ahead_bytes());
        let plan =
            read_ahead::Plan { reader, inputs: units.inputs, units: units.units, sample_baskets };
        let ahead = plan.begin_samples(whole, bytes);
        let seen: Vec<Option<Factors>> = context.pool().install(|| {
            let each = units.units.par_iter().enumerate().map_init(
                Scratch::new,
                |scratch, (index, unit)| {
                    context.check()?;
                    let held = ahead.as_ref().map(|ahead| ahead.hold(index, context));
                    let read = units.read(unit, usize::MAX, &sample);
                    drop(held);
                    let sealed = read.and_then(|data| units.seal(unit, &data, settings, scratch));
                    // An error of the branch appears again when the branch is converted.
                    let Ok(columns) = sealed else { return Ok(None) };
                    let given = sizes.given(units, index, &sample);
                    let bytes = columns.iter().map(SealedColumn::page_bytes);
                    let (decoded, stored) =
                        bytes.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
                    let factor = |bytes: u64| bytes as f64 / given;
                    let factors = Factors { stored: factor(stored), decoded: factor(decoded) };
                    Ok((given > 0.0).then_some(factors))
                },
            );
            each.collect::<Result<_>>()
        })?;
        for (known, seen) in sizes.factors.iter_mut().zip(seen) {
            *known = seen.unwrap_or(*known);
        }
        Ok(sizes)
    }

    /// Returns the number of bytes of baskets that a unit reads. For a counter, returns the number of entries.
    fn given(&self, units: &Units<'_>, unit: usize, entries: &Range<u64>) -> f64 {
        match branch(units, unit) {
            Some(branch) => stored(branch, entries) as f64,
            None => (entries.end - entries.start) as f64,
        }
    }

    /// Returns the decoded bytes of a unit. They are exact for values of fixed size.
    pub(super) fn decoded(&self, units: &Units<'_>, unit: usize, entries: &Range<u64>) -> f64 {
        let fixed = branch(units, unit).and_then(|branch| fixed(branch, entries));
        let factor = self.factors.get(unit).map_or(convert::EXPANSION, |factors| factors.decoded);
        fixed.map_or_else(|| self.given(units, unit, entries) * factor, |fixed| fixed as f64)
    }

    /// Returns the cutter that divides `entries` into clusters of about `cluster_size` bytes on storage. A
    /// cluster ends where a cluster of the tree ends if that is near.
    pub(super) fn cutter(
        &self,
        tree: &Tree,
        units: &Units<'_>,
        entries: &Range<u64>,
        cluster_size: u64,
        memory: u64,
    ) -> Cutter {
        let ends = ends(tree, entries);
        let mut amounts = vec![Amounts::default(); ends.len()];
        for (unit, factors) in self.factors.iter().enumerate() {
            let branch = branch(units, unit);
            let given = branch.map(|branch| spread(branch, entries.start, &ends));
            let mut from = entries.start;
            for (index, (&(end, _), amounts)) in ends.iter().zip(&mut amounts).enumerate() {
                let given = match &given {
                    Some(bytes) => bytes.get(index).copied().unwrap_or(0.0),
                    None => (end - from) as f64,
                };
                let fixed = branch.and_then(|branch| fixed(branch, &(from..end)));
                let decoded = fixed.map_or(given * factors.decoded, |fixed| fixed as f64);
                amounts.stored += given * factors.stored;
                amounts.decoded += decoded;
                amounts.largest = amounts.largest.max(decoded);
                from = end;
            }
        }
        let spans = ends.iter().zip(amounts);
        let spans = spans.map(|(&(end, is_cluster), amounts)| Span { end, amounts, is_cluster });
        Cutter::new(entries.start, spans, cluster_size, memory / convert::BRANCH_DIVISOR)
    }
}

/// Returns the branch that a unit reads, or `None` for the offsets of a counter.
fn branch<'a>(units: &Units<'a>, unit: usize) -> Option<&'a Branch> {
    units.inputs.get(units.units.get(unit)?.input()?).map(|input| input.branch)
}

/// Estimates the first cluster before sizes of the output are known: it has `cluster_size` bytes of baskets.
pub(super) fn first(
    inputs: &[Input<'_>],
    taken: &[usize],
    entries: &Range<u64>,
    cluster_size: u64,
    memory: u64,
) -> Range<u64> {
    let branches = || taken.iter().filter_map(|&index| inputs.get(index)).map(|input| input.branch);
    let zipped: u64 = branches().map(|branch| stored(branch, entries)).fold(0, u64::saturating_add);
    let largest = branches().map(|branch| decoded(branch, entries)).max().unwrap_or(0);
    let share = (memory / convert::BRANCH_DIVISOR).max(1);
    let pieces = zipped.div_ceil(cluster_size.max(1)).max(largest.div_ceil(share)).max(1);
    entries.start..entries.start + (entries.end - entries.start).div_ceil(pieces)
}

/// Returns entries from the middle of `entries` in which `branch` has about this number of decoded bytes, or all
/// entries.
pub(super) fn part(branch: &Branch, entries: &Range<u64>, bytes: u64) -> Range<u64> {
    let count = entries.end - entries.start;
    let pieces = decoded(branch, entries).div_ceil(bytes.max(1)).clamp(1, count.max(1));
    let taken = count.div_ceil(pieces);
    let start = entries.start + (count - taken) / 2;
    start..start + taken
}

/// Returns the ends of the spans of a tree: the ends of its own clusters, with `true`, and ends at equal
/// distances.
fn ends(tree: &Tree, entries: &Range<u64>) -> Vec<(u64, bool)> {
    let count = entries.end - entries.start;
    let mut ends: Vec<(u64, bool)> =
        tree.cluster_starts.iter().map(|&start| (start, true)).collect();
    let piece = count.div_ceil(convert::SPANS).max(1);
    ends.extend(
        (1..convert::SPANS).map(|number| (entries.start.saturating_add(number * piece), false)),
    );
    ends.push((entries.end, true));
    ends.retain(|(end, _)| (entries.start + 1..=entries.end).contains(end));
    ends.sort_unstable_by_key(|&(end, own)| (end, !own));
    ends.dedup_by_key(|(end, _)| *end);
    ends
}

/// Returns the compressed bytes of a branch in each span, including the sub-branches of a split branch.
fn spread(branch: &Branch, start: u64, ends: &[(u64, bool)]) -> Vec<f64> {
    let mut bytes = vec![0.0; ends.len()];
    add(branch, start, ends, &mut bytes);
    bytes
}

fn add(branch: &Branch, start: u64, ends: &[(u64, bool)], bytes: &mut [f64]) {
    for basket in &branch.baskets {
        let (first, end) = (basket.first_entry, basket.first_entry.saturating_add(basket.entries));
        let density = basket.bytes as f64 / basket.entries.max(1) as f64;
        let index = ends.partition_point(|(other, _)| *other <= first);
        let mut from =
            index.checked_sub(1).and_then(|i| ends.get(i)).map_or(start, |(end, _)| *end);
        for (&(span_end, _), bytes) in ends[index..].iter().zip(&mut bytes[index..]) {
            if from >= end {
                break;
            }
            *bytes += density * span_end.min(end).saturating_sub(from.max(first)) as f64;
            from = span_end;
        }
    }
    let below = branch.split.iter().flat_map(|_| &branch.branches);
    below.for_each(|branch| add(branch, start, ends, bytes));
}

/// Returns the compressed bytes of the baskets of `branch`, including the sub-branches of a split branch.
/// Baskets that are only partly in the range count in part.
pub(super) fn stored(branch: &Branch, entries: &Range<u64>) -> u64 {
    let below = branch.split.iter().flat_map(|_| &branch.branches);
    let below = below.map(|branch| stored(branch, entries)).fold(0, u64::saturating_add);
    own(branch, entries).saturating_add(below)
}

fn own(branch: &Branch, entries: &Range<u64>) -> u64 {
    let first = branch.baskets.partition_point(|basket| {
        basket.first_entry.saturating_add(basket.entries) <= entries.start
    });
    let inside = branch.baskets[first..].iter().take_while(|b| b.first_entry < entries.end);
    let share = |basket: &Basket| {
        let end = basket.first_entry.saturating_add(basket.entries).min(entries.end);
        let part = end.saturating_sub(basket.first_entry.max(entries.start));
        let all = u128::from(basket.entries.max(1));
        u64::try_from(u128::from(basket.bytes) * u128::from(part) / all).unwrap_or(u64::MAX)
    };
    inside.map(share).fold(0, u64::saturating_add)
}

/// Returns the decoded bytes of `branch`. They are exact for values of fixed size; otherwise they are an upper
/// limit that follows from the compressed bytes.
pub(super) fn decoded(branch: &Branch, entries: &Range<u64>) -> u64 {
    if branch.split.is_some() {
        let below = branch.branches.iter().map(|branch| decoded(branch, entries));
        return below.fold(0, u64::saturating_add);
    }
    let guess = || (stored(branch, entries) as f64 * convert::EXPANSION) as u64;
    fixed(branch, entries).unwrap_or_else(guess)
}

/// Returns the decoded bytes of a branch whose entries all have the same size.
pub(super) fn fixed(branch: &Branch, entries: &Range<u64>) -> Option<u64> {
    let plain = match &branch.shape {
        Ok(Shape::Plain(plain)) if plain.counter.is_none() && branch.split.is_none() => plain,
        _ => return None,
    };
    let size = plain.element.size()? as u64;
    let size = plain.dimensions.iter().try_fold(size, |size, &n| size.checked_mul(n))?;
    Some(size.saturating_mul(entries.end - entries.start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nyssa_root::arrow::Number;
    use nyssa_ttree::Plain;

    fn branch(number: Number, baskets: &[(u64, u64, u64)]) -> Branch {
        let basket = |&(first_entry, entries, bytes)| Basket {
            seek: 100,
            bytes,
            first_entry,
            entries,
            embedded: None,
        };
        Branch {
            name: "b".to_owned(),
            path: "b".to_owned(),
            title: String::new(),
            class: "TBranch".to_owned(),
            first_entry: 0,
            entries: 100,
            leaves: Vec::new(),
            baskets: baskets.iter().map(basket).collect(),
            branches: Vec::new(),
            shape: Ok(Shape::Plain(Plain {
                element: number.into(),
                dimensions: vec![2],
                counter: None,
            })),
            complete: true,
            is_elsewhere: false,
            stated: Default::default(),
            split: None,
        }
    }

    #[test]
    fn spans_end_where_clusters_of_the_tree_do() {
        let tree = Tree {
            name: "t".to_owned(),
            title: String::new(),
            entries: 1000,
            branches: Vec::new(),
            cluster_starts: vec![0, 40, 503],
        };
        let ends = ends(&tree, &(100..1000));
        assert_eq!(
            ends.iter().filter(|(_, own)| *own).collect::<Vec<_>>(),
            [&(503, true), &(1000, true)]
        );
        assert_eq!((ends[0], ends[1], ends.len()), ((104, false), (108, false), 226));
        // 600 bytes of 60 entries, and 400 of 40.
        let branch = branch(Number::Int32, &[(0, 60, 600), (60, 40, 800)]);
        let ends = [(30, false), (70, false), (100, true)];
        assert_eq!(spread(&branch, 0, &ends), [300.0, 500.0, 600.0]);
        assert_eq!(spread(&branch, 20, &ends), [100.0, 500.0, 600.0]);
        assert_eq!(spread(&branch, 20, &ends[..1]), [100.0]);
    }

    #[test]
    fn the_first_cluster() {
        let branch = branch(Number::Float32, &[(0, 60, 600), (60, 40, 400)]);
        let inputs = [Input { path: "b".to_owned(), branch: &branch }];
        let of = |cluster_size, memory| first(&inputs, &[0], &(0..100), cluster_size, memory);
        assert_eq!(of(1000, 1 << 30), 0..100);
        assert_eq!(of(300, 1 << 30), 0..25);
        // 100 entries of two floats are 800 bytes; a quarter of 1600 is 400.
        assert_eq!(of(1000, 1600), 0..50);
    }

    #[test]
    fn baskets_at_the_edges_count_in_part() {
        let branch = branch(Number::Int32, &[(0, 60, 600), (60, 40, 400)]);
        assert_eq!(stored(&branch, &(0..100)), 1000);
        assert_eq!(stored(&branch, &(30..70)), 400);
        assert_eq!(stored(&branch, &(60..60)), 0);
        assert_eq!(decoded(&branch, &(10..20)), 80);
    }
}
