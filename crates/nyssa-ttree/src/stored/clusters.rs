//! Joins the clusters of trees (`TTree::fClusterRangeEnd`, `fClusterSize`, `fAutoFlush`).

use std::ops::Range;

/// The clusters of a tree, as runs of clusters of one size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterRuns {
    runs: Vec<Run>,
    /// ROOT's `fAutoFlush`: the rule for more clusters. For several trees it is the rule of the first tree.
    pub auto_flush: i64,
}

/// Some clusters of one size. Only the last cluster may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u64,
    end: u64,
    size: u64,
}

impl ClusterRuns {
    /// Makes the clusters of a tree of `entries` entries from its ranges, which are the last entry and the size of clusters.
    pub fn of(entries: u64, ranges: impl Iterator<Item = (i64, i64)>, auto_flush: i64) -> Self {
        let mut runs = Self { runs: Vec::new(), auto_flush };
        let mut first = 0;
        let last = i64::try_from(entries).unwrap_or(i64::MAX);
        for (end, size) in
            ranges.map(|(end, size)| (end.saturating_add(1), size)).chain([(last, auto_flush)])
        {
            let end = u64::try_from(end).unwrap_or(0).min(entries);
            if end > first {
                // A size in bytes, or no size, means one cluster.
                let size = u64::try_from(size).ok().filter(|&size| size > 0).unwrap_or(end - first);
                runs.push(Run { first, end, size: size.min(end - first) });
                first = end;
            }
        }
        runs
    }

    /// Adds the clusters of the following tree.
    pub fn extend(&mut self, other: &Self) {
        let start = self.end();
        for run in &other.runs {
            self.push(Run { first: start + run.first, end: start + run.end, size: run.size });
        }
    }

    /// Adds a cluster.
    pub fn close(&mut self, first: u64, end: u64) {
        if end > first {
            self.push(Run { first, end, size: end - first });
        }
    }

    /// Removes the cluster to which the next entries belong by `fAutoFlush`, and returns its first entry. `ranged` is
    /// the number of entries for which the tree has ranges of clusters, which stay unchanged.
    pub fn reopen(&mut self, ranged: u64) -> u64 {
        let end = self.end();
        let size = u64::try_from(self.auto_flush).ok().filter(|&size| size > 0);
        let open = end.saturating_sub(ranged) % size.unwrap_or(u64::MAX);
        if let Some(last) = self.runs.last_mut() {
            last.end -= open;
        }
        self.runs.retain(|run| run.first < run.end);
        end - open
    }

    /// Returns the entries of each cluster.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> {
        self.runs.iter().flat_map(|&Run { first, end, size }| {
            let size = size.max(1);
            (0..(end - first).div_ceil(size)).map(move |number| {
                let start = first + number * size;
                start..end.min(start.saturating_add(size))
            })
        })
    }

    fn end(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.end)
    }

    fn push(&mut self, run: Run) {
        match self.runs.last_mut() {
            Some(last) if last.takes(run) => last.end = run.end,
            _ => self.runs.push(run),
        }
    }

    /// Returns the number of clusters.
    pub fn count(&self) -> u64 {
        self.runs.iter().map(|run| (run.end - run.first).div_ceil(run.size)).sum()
    }

    /// Returns `fAutoFlush`, and the last entry and the size of clusters of each range.
    pub fn describe(&self) -> (i64, Vec<(i64, i64)>) {
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let Some((last, before)) = self.runs.split_last() else {
            return (self.auto_flush, Vec::new());
        };
        let ranges = before.iter().map(|run| (number(run.end - 1), number(run.size))).collect();
        let single = last.size == last.end - last.first;
        // A single cluster ends with the tree, and keeps the rule for later clusters.
        let auto_flush = match number(last.size) {
            _ if single && before.is_empty() => self.auto_flush,
            size if single => size.max(self.auto_flush),
            size => size,
        };
        (auto_flush, ranges)
    }
}

impl Run {
    /// Returns whether the clusters of the next run continue this run.
    fn takes(&self, next: Self) -> bool {
        let complete = (self.end - self.first).is_multiple_of(self.size);
        let single = next.end - next.first <= self.size && next.size <= self.size;
        complete && (next.size == self.size || single && next.size == next.end - next.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: u64, auto_flush: i64) -> ClusterRuns {
        ClusterRuns::of(entries, std::iter::empty(), auto_flush)
    }

    fn joined(parts: &[(u64, i64)]) -> (i64, Vec<(i64, i64)>) {
        let mut parts = parts.iter().map(|&(entries, size)| of(entries, size));
        let mut all = parts.next().unwrap();
        parts.for_each(|part| all.extend(&part));
        all.describe()
    }

    #[test]
    fn clusters_start_where_inputs_start() {
        assert_eq!(joined(&[(100, -30_000_000)]), (-30_000_000, vec![]));
        assert_eq!(joined(&[(100, 10), (50, 10)]), (10, vec![]));
        assert_eq!(joined(&[(95, 10), (50, 10)]), (10, vec![(94, 10)]));
        assert_eq!(joined(&[(100, 0), (100, 0), (30, 0)]), (100, vec![]));
        assert_eq!(joined(&[(100, 0), (130, 0)]), (130, vec![(99, 100)]));
        assert_eq!(joined(&[(0, 10), (20, 10)]), (10, vec![]));
    }

    #[test]
    fn ranges_of_the_inputs_stay() {
        let with = ClusterRuns::of(35, [(9, 10), (29, 20)].into_iter(), 5);
        assert_eq!(with.describe(), (20, vec![(9, 10)]));
        let mut twice = with.clone();
        twice.extend(&with);
        assert_eq!(twice.describe(), (20, vec![(9, 10), (34, 20), (44, 10)]));
    }
    fn filled(auto_flush: i64, ends: &[u64]) -> (i64, Vec<(i64, i64)>) {
        let (mut runs, mut first) = (ClusterRuns { auto_flush, ..ClusterRuns::default() }, 0);
        for &end in ends {
            runs.close(std::mem::replace(&mut first, end), end);
        }
        runs.describe()
    }

    #[test]
    fn equal_largest_entry_no_range() {
        assert_eq!(filled(100, &[]), (100, vec![]));
        assert_eq!(filled(100, &[100, 200, 250]), (100, vec![]));
        assert_eq!(filled(100, &[30]), (100, vec![]));
        assert_eq!(filled(-30_000_000, &[30]), (-30_000_000, vec![]));
        assert_eq!(filled(-30_000_000, &[30, 60, 61]), (30, vec![]));
    }

    #[test]
    fn other_clusters_are_ranges() {
        assert_eq!(filled(100, &[30, 130, 230, 240]), (100, vec![(29, 30)]));
        assert_eq!(filled(100, &[100, 150, 200]), (100, vec![(149, 100)]));
        assert_eq!(filled(0, &[10, 30, 35, 36]), (1, vec![(9, 10), (34, 20)]));
    }

    #[test]
    fn the_open_cluster_takes_more_entries() {
        let reopened = |entries, ranges: &[(i64, i64)], auto_flush| {
            let mut runs = ClusterRuns::of(entries, ranges.iter().copied(), auto_flush);
            let ranged = ranges.last().map_or(0, |range| range.0.cast_unsigned() + 1);
            let first = runs.reopen(ranged);
            runs.close(first, entries + 1);
            (first, runs.describe())
        };
        assert_eq!(reopened(95, &[], 10), (90, (10, vec![])));
        assert_eq!(reopened(90, &[], 10), (90, (10, vec![])));
        assert_eq!(reopened(5, &[], 10), (0, (10, vec![])));
        assert_eq!(reopened(0, &[], 10), (0, (10, vec![])));
        assert_eq!(reopened(95, &[], -30_000_000), (0, (-30_000_000, vec![])));
        assert_eq!(reopened(95, &[], 0), (0, (0, vec![])));
        assert_eq!(reopened(95, &[(19, 20)], 50), (70, (50, vec![(19, 20)])));
        assert_eq!(reopened(20, &[(19, 20)], 50), (20, (20, vec![])));
    }
}
