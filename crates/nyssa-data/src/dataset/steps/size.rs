//! Finds the number of entries of a step.

use std::ops::Range;

use crate::heuristics::steps;

/// The size of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepSize {
    /// Each step has this number of entries. The last step can have fewer.
    Entries(u64),
    /// Each step is one cluster.
    Cluster,
    /// The iteration takes no more than this number of bytes of memory. This counts the step that the caller holds,
    /// the step that is being read, and the pages and baskets in memory for later steps. Steps end with clusters if
    /// clusters fit; otherwise clusters are divided.
    Memory(u64),
}

/// The memory that the entries read so far have taken.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MemoryTaken {
    /// The mean size of an entry in bytes.
    pub entry: f64,
    /// The number of bytes of the pages and baskets that extend over a cut inside a cluster.
    pub inside: u64,
    /// The number of bytes of the pages and baskets that extend over a cut between clusters.
    pub between: u64,
}

/// The memory that steps can use, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryPlan(f64);

/// One step of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlannedStep {
    /// The number of the entry after the last entry of the step.
    pub end: u64,
    /// The number of bytes for the pages and baskets that the step shares with the next step.
    pub opened: u64,
}

impl MemoryPlan {
    /// Plans `memory` bytes for steps of `columns` columns.
    pub(super) fn new(memory: u64, columns: usize) -> Self {
        let planned = memory as f64 * steps::PLANNED;
        let objects = steps::STEPS * steps::COLUMN_BYTES * columns as f64;
        let scratch = steps::SCRATCH_BYTES.min(planned * steps::MAX_SCRATCH);
        Self(planned - objects.min(planned * steps::MAX_OBJECTS) - scratch)
    }

    /// Returns the memory that remains while each of `threads` threads has a page or basket of at most
    /// `largest` bytes, both compressed and decompressed.
    #[must_use]
    pub(super) fn while_open(self, threads: usize, largest: u64) -> Self {
        let bytes = 2.0 * threads as f64 * largest as f64;
        Self(self.0 - bytes.min(self.0 * steps::MAX_IN_USE))
    }

    /// Returns the number of fetched bytes that reading can hold, if `memory` is the memory of the iteration.
    pub(super) fn fetched(memory: u64) -> u64 {
        (steps::SCRATCH_BYTES.min(memory as f64 * steps::PLANNED * steps::MAX_SCRATCH)
            * steps::FETCHED) as u64
    }

    /// Returns the largest number of bytes of all pages and baskets that stay in memory for later steps.
    pub(super) fn opened(self) -> u64 {
        (self.0 * steps::MAX_OPENED) as u64
    }

    /// Returns the number of bytes of the entries that are read first, to measure their size.
    pub(super) fn sample(self) -> u64 {
        (self.0 / 16.0) as u64
    }

    /// Plans the step that starts at entry `from` and ends before `stop` or at it.
    pub(super) fn step(
        self,
        from: u64,
        stop: u64,
        clusters: &[Range<u64>],
        taken: &MemoryTaken,
    ) -> PlannedStep {
        let entry = taken.entry.max(1.0);
        let entries = |bytes: f64| (bytes / steps::STEPS / entry) as u64;
        let planned = |end: u64| {
            let steps = steps::STEPS * entry * (end - from) as f64;
            PlannedStep { end, opened: (self.0 - steps).max(0.0) as u64 }
        };
        let most = from.saturating_add(entries(self.0 - taken.between as f64));
        if stop <= most {
            return planned(stop);
        }
        // The step ends with the last cluster that fits.
        let next = clusters.partition_point(|cluster| cluster.end <= from);
        let within = clusters[next..].partition_point(|cluster| cluster.end <= most);
        if within > 0 {
            return planned(clusters[next + within - 1].end);
        }
        let end = clusters.get(next).map_or(stop, |cluster| cluster.end.min(stop));
        let inside = taken.inside as f64;
        let opened = if inside <= self.0 * steps::MAX_OPENED { inside } else { 0.0 };
        let most = entries(self.0 - opened).max(1);
        // The whole cluster does not fit together with the pages and baskets that extend beyond it.
        let pieces = (end - from).div_ceil(most).max(2);
        planned(from + (end - from).div_ceil(pieces))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(memory: u64, clusters: &[Range<u64>], taken: &MemoryTaken) -> Vec<u64> {
        let stop = clusters.last().unwrap().end;
        let (mut from, mut ends) = (0, Vec::new());
        while from < stop {
            from = MemoryPlan::new(memory, 0).step(from, stop, clusters, taken).end;
            ends.push(from);
        }
        ends
    }

    #[test]
    fn steps_end_with_clusters_where_those_fit() {
        let clusters = [0..100, 100..200, 200..230, 230..300];
        let taken = MemoryTaken { entry: 10.0, inside: 900, between: 0 };
        // Two steps of one cluster take 2000 bytes.
        assert_eq!(ends(2500, &clusters, &taken), [100, 200, 300]);
        // Pages of later steps take 900 of 1656 bytes. At most 37 entries fit, which are thirds of a cluster.
        assert_eq!(ends(2000, &clusters, &taken), [34, 100, 134, 200, 230, 300]);
        assert_eq!(ends(5000, &clusters, &taken), [200, 300]);
        assert_eq!(ends(1 << 20, &clusters, &taken), [300]);
    }

    #[test]
    fn clusters_that_do_not_fit_are_divided() {
        let clusters = [0..100, 100..190];
        let taken = MemoryTaken { entry: 10.0, inside: 400, between: 0 };
        // Pages of later steps take 400 of 828 bytes.
        let step = MemoryPlan::new(1000, 0).step(0, 190, &clusters, &taken);
        assert_eq!(step, PlannedStep { end: 20, opened: 428 });
        // The last 40 entries of a cluster fit.
        assert_eq!(ends(1000, &clusters, &taken), [20, 40, 60, 100, 118, 136, 154, 190]);
        // Pages of later steps need too much memory. The steps are larger instead.
        let taken = MemoryTaken { inside: 800, ..taken };
        let step = MemoryPlan::new(1000, 0).step(0, 190, &clusters, &taken);
        assert_eq!(step, PlannedStep { end: 34, opened: 148 });
        // Pages that extend beyond clusters leave less memory for steps.
        let taken = MemoryTaken { entry: 10.0, inside: 0, between: 500 };
        assert_eq!(MemoryPlan::new(2500, 0).step(0, 190, &clusters, &taken).end, 50);
        // Large baskets leave less memory for the two steps in memory.
        let plan = MemoryPlan::new(2500, 0).while_open(2, 200);
        let taken = MemoryTaken { entry: 10.0, inside: 0, between: 0 };
        assert_eq!(plan.step(0, 190, &clusters, &taken).end, 50);
        // A step has at least one entry.
        assert_eq!(MemoryPlan::new(1, 10).step(5, 190, &clusters, &taken).end, 6);
    }
}
