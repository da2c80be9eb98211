//! Divides the entries of a tree into clusters: ranges that need little more than their own bytes.

use std::ops::Range;

use crate::heuristics::read;
use crate::model::{Branch, Tree};

/// Returns the clusters that auto-flushes made. If there are none, returns ranges that start with a basket of
/// the largest branch. A cluster also starts where a branch begins late, so that the branch has values for all entries of
/// a cluster or for none.
pub(crate) fn of_tree(tree: &Tree) -> Vec<Range<u64>> {
    let mut starts = if tree.cluster_starts.is_empty() {
        basket_starts(tree)
    } else {
        tree.cluster_starts.clone()
    };
    visit(&tree.branches, &mut |branch| starts.push(branch.first_entry));
    starts.retain(|&start| start > 0 && start < tree.entries);
    starts.sort_unstable();
    starts.dedup();
    let mut clusters = Vec::with_capacity(starts.len() + 1);
    let mut from = 0;
    for start in starts {
        clusters.push(from..start);
        from = start;
    }
    if from < tree.entries {
        clusters.push(from..tree.entries);
    }
    clusters
}

/// Selects basket starts of the largest branch so that about [`CLUSTER_BYTES`](crate::heuristics::read::CLUSTER_BYTES) of the tree are between two of
/// them.
fn basket_starts(tree: &Tree) -> Vec<u64> {
    let mut largest: Option<(&Branch, u64)> = None;
    let mut total = 0_u64;
    visit(&tree.branches, &mut |branch| {
        let bytes = stored(branch);
        total = bytes.saturating_add(total);
        if largest.is_none_or(|(_, most)| bytes > most) {
            largest = Some((branch, bytes));
        }
    });
    let Some((branch, bytes)) = largest else { return Vec::new() };
    // The number of bytes that the largest branch has in one cluster.
    let share = (read::CLUSTER_BYTES as f64 * bytes as f64 / (total as f64).max(1.0)) as u64;
    let mut starts = Vec::new();
    let mut since = 0_u64;
    for basket in &branch.baskets {
        if since >= share.max(1) {
            starts.push(basket.first_entry);
            since = 0;
        }
        since = basket.bytes.saturating_add(since);
    }
    starts
}

fn stored(branch: &Branch) -> u64 {
    branch.baskets.iter().map(|basket| basket.bytes).fold(0, u64::saturating_add)
}

fn visit<'t>(branches: &'t [Branch], each: &mut impl FnMut(&'t Branch)) {
    for branch in branches {
        each(branch);
        visit(&branch.branches, each);
    }
}
