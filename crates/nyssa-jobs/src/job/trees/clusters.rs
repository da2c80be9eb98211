//! Decides where the clusters of a rewritten TTree end.

use std::ops::Range;

use nyssa_ttree::stored::ClusterRuns;
use nyssa_ttree::write::AutoFlush;

use super::entries::Entries;

/// The clusters of the output.
pub(crate) struct Clusters {
    /// The entries of each cluster.
    pub ranges: Vec<Range<u64>>,
    /// The clusters, as the tree describes them.
    pub runs: ClusterRuns,
}

impl Clusters {
    /// Keeps the clusters of the input, with the entries that are selected.
    pub(crate) fn kept(stored: &ClusterRuns, entries: &Entries, is_whole: bool) -> Self {
        if is_whole {
            return Self { ranges: stored.ranges().collect(), runs: stored.clone() };
        }
        let ends = stored.ranges().map(|range| entries.before(range.end));
        let mut last = 0;
        let ranges = ends.map(|end| std::mem::replace(&mut last, end)..end);
        Self::of(ranges.filter(|range| !range.is_empty()).collect(), stored.auto_flush)
    }

    /// Makes clusters of one size of `count` entries. `size` is the number of entries of a cluster; `None` makes one cluster.
    pub(crate) fn new(count: u64, size: Option<u64>, rule: AutoFlush) -> Self {
        let size = size.unwrap_or(count).max(1);
        let ranges = (0..count.div_ceil(size)).map(|number| {
            let start = number * size;
            start..count.min(start.saturating_add(size))
        });
        Self::of(ranges.collect(), rule.number())
    }

    fn of(ranges: Vec<Range<u64>>, auto_flush: i64) -> Self {
        let mut runs = ClusterRuns::default();
        runs.auto_flush = auto_flush;
        ranges.iter().for_each(|range| runs.close(range.start, range.end));
        Self { ranges, runs }
    }
}
