//! Joins the clusters of trees (`TTree::fClusterRangeEnd`, `fClusterSize`, `fAutoFlush`).

/// The clusters of a tree, as runs of clusters of one size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClusterRuns {
    runs: Vec<Run>,
    /// ROOT's `fAutoFlush` of the first tree.
    auto_flush: i64,
}

/// Some clusters of one size. Only the last of them may be shorter.
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
                // A size in bytes, or none, is that of one cluster.
                let size = u64::try_from(size).ok().filter(|&size| size > 0).unwrap_or(end - first);
                runs.push(Run { first, end, size: size.min(end - first) });
                first = end;
            }
        }
        runs
    }

    /// Adds the clusters of the tree behind.
    pub fn extend(&mut self, other: &Self) {
        let start = self.runs.last().map_or(0, |run| run.end);
        for run in &other.runs {
            self.push(Run { first: start + run.first, end: start + run.end, size: run.size });
        }
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
        let whole = before.is_empty() && last.size == last.end - last.first;
        // A single cluster keeps the rule for the next ones.
        (if whole { self.auto_flush } else { number(last.size) }, ranges)
    }
}

impl Run {
    /// Returns whether the next run has clusters that continue this one.
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
}
