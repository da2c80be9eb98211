//! Entry ranges of a tree that are cheap to read on their own.

use std::ops::Range;

use crate::ttree::model::{Branch, Tree};

/// Stored bytes of all branches that a cluster should have at least, where the tree does not say where
/// its clusters start: ROOT's own default for flushing a tree is 30 MB.
const CLUSTER_BYTES: u64 = 30_000_000;

/// The clusters between auto-flushes; else ranges that start where a basket of the largest branch does.
pub(crate) fn of_tree(tree: &Tree) -> Vec<Range<u64>> {
    let mut starts = if tree.cluster_starts.is_empty() {
        basket_starts(tree)
    } else {
        tree.cluster_starts.clone()
    };
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

/// Basket starts of the largest branch, thinned out to about [`CLUSTER_BYTES`] of the whole tree.
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
    // Bytes of the largest branch that stand for a cluster of the whole tree.
    let share = (CLUSTER_BYTES as f64 * bytes as f64 / (total as f64).max(1.0)) as u64;
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
