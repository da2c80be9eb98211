//! Keeps the ends of clusters (`TTree::Fill`, `TTree::MarkEventCluster`).

use super::options::AutoFlush;

/// Says where clusters end.
#[derive(Clone, Debug)]
pub(super) struct Clusters {
    auto_flush: AutoFlush,
    /// The number of entries of a cluster, once it is known.
    size: Option<u64>,
    /// The first entry of the open cluster.
    pub start: u64,
}

/// The ends of the clusters that are complete, as runs of clusters of one size.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs(Vec<Run>);

/// Some clusters of one size. Only the last of them may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u64,
    end: u64,
    size: u64,
}

impl Run {
    fn is_complete(&self) -> bool {
        (self.end - self.first).is_multiple_of(self.size)
    }
}

/// The clusters as the metadata of a tree describe them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Described {
    /// ROOT's `fAutoFlush`: the size of clusters behind all ranges.
    pub auto_flush: i64,
    /// The last entry of each range of clusters, and the size of clusters in it.
    pub ranges: Vec<(u64, u64)>,
}

impl Clusters {
    /// Starts with the first cluster.
    pub fn new(auto_flush: AutoFlush) -> Self {
        let size = match auto_flush {
            AutoFlush::Entries(size) => Some(size),
            _ => None,
        };
        Self { auto_flush, size, start: 0 }
    }

    /// Starts again with the first entry. The size of clusters stays.
    pub fn fork(&self) -> Self {
        Self { start: 0, ..*self }
    }

    /// Returns the end of the open cluster, if it is known.
    pub fn end(&self) -> Option<u64> {
        self.size.map(|size| self.start.saturating_add(size))
    }

    /// Returns the number of bytes of full baskets that ends the open cluster, if it is not known by entries.
    pub fn bytes(&self) -> Option<u64> {
        match (self.size, self.auto_flush) {
            (None, AutoFlush::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// Returns whether the tree has clusters that end without a call.
    pub fn are_automatic(&self) -> bool {
        self.auto_flush != AutoFlush::Never
    }

    /// Sets the size of clusters to that of the open one, which ends at `end`.
    pub fn settle(&mut self, end: u64) {
        self.size = Some(end - self.start);
    }

    /// Returns ROOT's `fAutoFlush`: the size of clusters, if it is known.
    pub fn nominal(&self) -> i64 {
        let entries = |size| i64::try_from(size).unwrap_or(i64::MAX);
        self.size.map_or(self.auto_flush.number(), entries)
    }
}

impl Runs {
    /// Adds a cluster.
    pub fn close(&mut self, first: u64, end: u64) {
        let size = end - first;
        match self.0.last_mut() {
            _ if size == 0 => {}
            Some(run) if run.is_complete() && size <= run.size => run.end = end,
            _ => self.0.push(Run { first, end, size }),
        }
    }

    /// Returns the number of clusters.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|run| (run.end - run.first).div_ceil(run.size)).sum()
    }

    /// Returns the clusters for the metadata of the tree. `nominal` is ROOT's `fAutoFlush` for clusters to come.
    pub fn describe(&self, nominal: i64) -> Described {
        let Some((last, before)) = self.0.split_last() else {
            return Described { auto_flush: nominal, ranges: Vec::new() };
        };
        let ranges = before.iter().map(|run| (run.end - 1, run.size)).collect();
        let only = last.end - last.first == last.size;
        // A single cluster needs no size: it ends with the tree.
        let whole = before.is_empty() && only && nominal < 0;
        let auto_flush = match last.size as i64 {
            _ if whole => nominal,
            size if only => size.max(nominal),
            size => size,
        };
        Described { auto_flush, ranges }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(auto_flush: i64, ends: &[u64]) -> (i64, Vec<(u64, u64)>) {
        let (mut runs, mut first) = (Runs::default(), 0);
        for &end in ends {
            runs.close(std::mem::replace(&mut first, end), end);
        }
        let nominal = Clusters::new(auto_flush.into()).nominal();
        let Described { auto_flush, ranges } = runs.describe(nominal);
        (auto_flush, ranges)
    }

    #[test]
    fn equal_clusters_need_no_range() {
        assert_eq!(described(100, &[]), (100, vec![]));
        assert_eq!(described(100, &[100, 200, 250]), (100, vec![]));
        assert_eq!(described(100, &[30]), (100, vec![]));
        assert_eq!(described(-30_000_000, &[30]), (-30_000_000, vec![]));
        assert_eq!(described(-30_000_000, &[30, 60, 61]), (30, vec![]));
    }

    #[test]
    fn other_clusters_are_ranges() {
        assert_eq!(described(100, &[30, 130, 230, 240]), (100, vec![(29, 30)]));
        assert_eq!(described(100, &[100, 150, 200]), (100, vec![(149, 100)]));
        assert_eq!(described(0, &[10, 30, 35, 36]), (1, vec![(9, 10), (34, 20)]));
    }
}
