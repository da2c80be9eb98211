//! How many entries a step has.

use std::ops::Range;

/// Where steps end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepSize {
    /// Each step has so many entries. The last one may have fewer.
    Entries(u64),
    /// Each step is one cluster.
    Cluster,
    /// Iterating takes no more than so many bytes of memory. This counts the step that the caller holds,
    /// the step that is being read, and the pages and baskets kept for the steps after it. Steps end with
    /// clusters if clusters fit; otherwise clusters are divided.
    Memory(u64),
}

/// Fraction of the stated memory that is planned for. The rest is a reserve, because entries differ.
const PLANNED: f64 = 0.92;
/// Memory that reading takes besides arrays, in bytes: fetched bytes and buffers of threads.
const SCRATCH_BYTES: f64 = 10e6;
/// Largest fraction of the planned memory that [`SCRATCH_BYTES`] may take.
const MOST_SCRATCH: f64 = 0.1;
/// Fraction of the scratch memory that is for fetched bytes.
const FETCHED: f64 = 0.5;
/// Largest fraction of the memory for kept pages and baskets. If all of them need more, none is kept:
/// larger steps save more than a few kept pages.
const MOST_OPENED: f64 = 0.6;
/// Largest fraction of the memory for the pages or baskets that threads decompress at the moment.
const MOST_AT_HAND: f64 = 0.25;
/// Largest fraction of the memory for the objects around the arrays of a step.
const MOST_OBJECTS: f64 = 0.25;
/// Memory of the objects around one column of a step, in bytes.
const COLUMN_BYTES: f64 = 2000.0;
/// Steps in memory at once: that of the caller and the next.
const STEPS: f64 = 2.0;

/// Memory that the entries read so far have taken.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    /// Mean size of an entry, bytes.
    pub entry: f64,
    /// Bytes of the pages and baskets that hold both sides of a cut inside a cluster.
    pub inside: u64,
    /// Bytes of the pages and baskets that hold both sides of a cut between clusters.
    pub between: u64,
}

/// Memory that a plan may use, bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room(f64);

/// One step of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    /// Entry after the last one of the step.
    pub end: u64,
    /// Bytes for the pages and baskets that the step shares with the next one.
    pub opened: u64,
}

impl Room {
    /// Room in `memory` bytes for steps of so many columns.
    pub fn new(memory: u64, columns: usize) -> Self {
        let planned = memory as f64 * PLANNED;
        let objects = STEPS * COLUMN_BYTES * columns as f64;
        let scratch = SCRATCH_BYTES.min(planned * MOST_SCRATCH);
        Self(planned - objects.min(planned * MOST_OBJECTS) - scratch)
    }

    /// What is left while `threads` have pages or baskets of at most `largest` bytes, as they are stored
    /// and opened.
    #[must_use]
    pub fn while_open(self, threads: usize, largest: u64) -> Self {
        let bytes = 2.0 * threads as f64 * largest as f64;
        Self(self.0 - bytes.min(self.0 * MOST_AT_HAND))
    }

    /// Bytes that reading may hold of what it fetched, of `memory` in all.
    pub fn fetched(memory: u64) -> u64 {
        (SCRATCH_BYTES.min(memory as f64 * PLANNED * MOST_SCRATCH) * FETCHED) as u64
    }

    /// Bytes of all pages and baskets that are kept open, at most.
    pub fn opened(self) -> u64 {
        (self.0 * MOST_OPENED) as u64
    }

    /// Bytes of the entries that are read first, to see how large they are.
    pub fn sample(self) -> u64 {
        (self.0 / 16.0) as u64
    }

    /// The step from entry `from`, of those before `stop`.
    pub fn step(self, from: u64, stop: u64, clusters: &[Range<u64>], taken: &Taken) -> Planned {
        let entry = taken.entry.max(1.0);
        let entries = |bytes: f64| (bytes / STEPS / entry) as u64;
        let planned = |end: u64| {
            let steps = STEPS * entry * (end - from) as f64;
            Planned { end, opened: (self.0 - steps).max(0.0) as u64 }
        };
        let most = from.saturating_add(entries(self.0 - taken.between as f64));
        if stop <= most {
            return planned(stop);
        }
        // The last end of a cluster within reach, else the next one.
        let next = clusters.partition_point(|cluster| cluster.end <= from);
        let within = clusters[next..].partition_point(|cluster| cluster.end <= most);
        if within > 0 {
            return planned(clusters[next + within - 1].end);
        }
        let end = clusters.get(next).map_or(stop, |cluster| cluster.end.min(stop));
        let inside = taken.inside as f64;
        let opened = if inside <= self.0 * MOST_OPENED { inside } else { 0.0 };
        let most = entries(self.0 - opened).max(1);
        // The whole does not fit, with what reaches beyond it.
        let pieces = (end - from).div_ceil(most).max(2);
        planned(from + (end - from).div_ceil(pieces))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(memory: u64, clusters: &[Range<u64>], taken: &Taken) -> Vec<u64> {
        let stop = clusters.last().unwrap().end;
        let (mut from, mut ends) = (0, Vec::new());
        while from < stop {
            from = Room::new(memory, 0).step(from, stop, clusters, taken).end;
            ends.push(from);
        }
        ends
    }

    #[test]
    fn steps_end_with_clusters_where_those_fit() {
        let clusters = [0..100, 100..200, 200..230, 230..300];
        let taken = Taken { entry: 10.0, inside: 900, between: 0 };
        // Two steps of one cluster take 2000 bytes.
        assert_eq!(ends(2500, &clusters, &taken), [100, 200, 300]);
        // 1656 bytes, 900 of them for what stays open: at most 37 entries, so thirds of a cluster.
        assert_eq!(ends(2000, &clusters, &taken), [34, 100, 134, 200, 230, 300]);
        assert_eq!(ends(5000, &clusters, &taken), [200, 300]);
        assert_eq!(ends(1 << 20, &clusters, &taken), [300]);
    }

    #[test]
    fn clusters_that_do_not_fit_are_divided() {
        let clusters = [0..100, 100..190];
        let taken = Taken { entry: 10.0, inside: 400, between: 0 };
        // 828 bytes, 400 of them for what stays open.
        let step = Room::new(1000, 0).step(0, 190, &clusters, &taken);
        assert_eq!(step, Planned { end: 20, opened: 428 });
        // The last 40 entries of a cluster fit.
        assert_eq!(ends(1000, &clusters, &taken), [20, 40, 60, 100, 118, 136, 154, 190]);
        // What stays open is too much: larger steps instead.
        let taken = Taken { inside: 800, ..taken };
        let step = Room::new(1000, 0).step(0, 190, &clusters, &taken);
        assert_eq!(step, Planned { end: 34, opened: 148 });
        // What reaches beyond clusters leaves less room for them.
        let taken = Taken { entry: 10.0, inside: 0, between: 500 };
        assert_eq!(Room::new(2500, 0).step(0, 190, &clusters, &taken).end, 50);
        // Large baskets leave less room for entries, of which two steps are in memory.
        let room = Room::new(2500, 0).while_open(2, 200);
        let taken = Taken { entry: 10.0, inside: 0, between: 0 };
        assert_eq!(room.step(0, 190, &clusters, &taken).end, 50);
        // There is always a step.
        assert_eq!(Room::new(1, 10).step(5, 190, &clusters, &taken).end, 6);
    }
}
