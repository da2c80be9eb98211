//! Where the clusters of the output begin: a function of the tree and the options alone, so that
//! the output does not depend on the number of threads.

use std::ops::Range;

use super::map::Input;
use super::options::Options;
use crate::ttree::{Branch, Shape, Tree};

/// Share of the memory budget that one branch may take in one cluster: room for several at once.
const BRANCH_SHARE: u64 = 4;
/// Decoded bytes for each zipped byte of a branch whose size is not known before it is read.
pub(super) const EXPANSION: u64 = 6;

/// Clusters of about `options.cluster_bytes` zipped input bytes that cover `entries`, of about equal
/// sizes, beginning where the tree's own clusters do when one of those is near.
pub(super) fn plan(
    tree: &Tree,
    inputs: &[Input<'_>],
    taken: &[usize],
    entries: &Range<u64>,
    options: &Options,
) -> Vec<Range<u64>> {
    let count = entries.end - entries.start;
    if count == 0 {
        return Vec::new();
    }
    let branches = || taken.iter().filter_map(|&index| inputs.get(index)).map(|input| input.branch);
    let zipped: u64 = branches().map(|branch| stored(branch, entries)).sum();
    let largest = branches().map(|branch| decoded(branch, entries)).max().unwrap_or(0);
    let share = (options.memory_budget / BRANCH_SHARE).max(1);
    let pieces =
        zipped.div_ceil(options.cluster_bytes.max(1)).max(largest.div_ceil(share)).clamp(1, count);
    let size = count.div_ceil(pieces);
    let mut starts = vec![entries.start];
    for piece in 1..pieces {
        let start = entries.start + piece * size;
        let near =
            nearest(&tree.cluster_starts, start).filter(|near| near.abs_diff(start) <= size / 4);
        starts.push(near.unwrap_or(start).min(entries.end));
    }
    starts.push(entries.end);
    starts.windows(2).map(|pair| pair[0]..pair[1]).filter(|range| !range.is_empty()).collect()
}

/// The element of sorted `starts` that is nearest to `entry`.
fn nearest(starts: &[u64], entry: u64) -> Option<u64> {
    let above = starts.partition_point(|&start| start < entry);
    let candidates = &starts[above.saturating_sub(1)..(above + 1).min(starts.len())];
    candidates.iter().copied().min_by_key(|start| start.abs_diff(entry))
}

/// Zipped bytes of the baskets of `branch`, those cut by the range counted in part; with those of
/// the sub-branches of a split branch.
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
    let share = |basket: &crate::ttree::Basket| {
        let end = basket.first_entry.saturating_add(basket.entries).min(entries.end);
        let part = end.saturating_sub(basket.first_entry.max(entries.start));
        let all = u128::from(basket.entries.max(1));
        let bytes = basket.embedded.as_ref().map_or(basket.bytes, |bytes| bytes.len() as u64);
        u64::try_from(u128::from(bytes) * u128::from(part) / all).unwrap_or(u64::MAX)
    };
    inside.map(share).fold(0, u64::saturating_add)
}

/// Decoded bytes of `branch`: exact for fixed sizes, else from its zipped bytes.
pub(super) fn decoded(branch: &Branch, entries: &Range<u64>) -> u64 {
    if branch.split.is_some() {
        let below = branch.branches.iter().map(|branch| decoded(branch, entries));
        return below.fold(0, u64::saturating_add);
    }
    let fixed = match &branch.shape {
        Ok(Shape::Plain(plain)) if plain.counter.is_none() => Some(plain),
        _ => None,
    };
    let fixed = fixed.and_then(|plain| {
        let size = plain.element.size()? as u64;
        plain.dimensions.iter().try_fold(size, |size, &n| size.checked_mul(n))
    });
    match fixed {
        Some(size) => size.saturating_mul(entries.end - entries.start),
        None => stored(branch, entries).saturating_mul(EXPANSION),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ttree::{Basket, Element, Plain};

    fn branch(element: Element, baskets: &[(u64, u64, u64)]) -> Branch {
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
            entries: 100,
            leaves: Vec::new(),
            baskets: baskets.iter().map(basket).collect(),
            branches: Vec::new(),
            shape: Ok(Shape::Plain(Plain { element, dimensions: vec![2], counter: None })),
            complete: true,
            split: None,
        }
    }

    fn clusters(starts: &[u64], cluster_bytes: u64, memory_budget: u64) -> Vec<Range<u64>> {
        let branch = branch(Element::Float32, &[(0, 60, 600), (60, 40, 400)]);
        let tree = Tree {
            name: "t".to_owned(),
            title: String::new(),
            entries: 100,
            branches: Vec::new(),
            cluster_starts: starts.to_vec(),
        };
        let inputs = [Input { path: "b".to_owned(), branch: &branch }];
        let options = Options { cluster_bytes, memory_budget, ..Options::default() };
        plan(&tree, &inputs, &[0], &(0..100), &options)
    }

    #[test]
    fn clusters_are_equal_and_snap_to_those_of_the_tree() {
        assert_eq!(clusters(&[], 1000, 1 << 30), Vec::from_iter(std::iter::once(0..100)));
        assert_eq!(clusters(&[], 300, 1 << 30), [0..25, 25..50, 50..75, 75..100]);
        assert_eq!(clusters(&[0, 22, 40, 77], 300, 1 << 30), [0..22, 22..50, 50..77, 77..100]);
    }

    #[test]
    fn the_budget_cuts_large_branches() {
        // 100 entries of two floats are 800 bytes; a quarter of 1600 is 400.
        assert_eq!(clusters(&[], 1000, 1600), [0..50, 50..100]);
    }

    #[test]
    fn baskets_at_the_edges_count_in_part() {
        let branch = branch(Element::Int32, &[(0, 60, 600), (60, 40, 400)]);
        assert_eq!(stored(&branch, &(0..100)), 1000);
        assert_eq!(stored(&branch, &(30..70)), 400);
        assert_eq!(stored(&branch, &(60..60)), 0);
        assert_eq!(decoded(&branch, &(10..20)), 80);
    }
}
