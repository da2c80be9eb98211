//! The clusters of an output, planned while those before them are written.
//!
//! Where a cluster ends follows from what clusters before it took on storage: those that are written for
//! certain, whatever the number of threads, so that the output does not depend on it.

use std::ops::Range;

use super::cutting::Cutter;

/// Plans clusters.
pub(crate) struct Clusters {
    cutter: Cutter,
    /// A cluster is planned when all but so many before it are written.
    ahead: usize,
    planned: Vec<Range<u64>>,
    /// Stored bytes of each cluster that is written, and of all together.
    bytes: Vec<u64>,
    total: u64,
    /// No cluster comes after those.
    complete: bool,
}

/// What is known of a cluster.
pub(crate) enum Planned {
    /// Its entries.
    Entries(Range<u64>),
    /// More has to be written before it is known.
    Wait,
    /// There is none.
    None,
}

impl Clusters {
    /// Clusters of `cutter`, each planned when all but `ahead` before it are written.
    pub(crate) fn new(cutter: Cutter, ahead: usize) -> Self {
        let (planned, bytes) = (Vec::new(), Vec::new());
        Self { cutter, ahead: ahead.max(1), planned, bytes, total: 0, complete: false }
    }

    /// The cluster of a number. With `unwritten` it is planned whatever is written.
    pub(crate) fn get(&mut self, number: usize, unwritten: bool) -> Planned {
        loop {
            if let Some(entries) = self.planned.get(number) {
                return Planned::Entries(entries.clone());
            }
            if self.complete {
                return Planned::None;
            }
            if let Some(last) = self.planned.len().checked_sub(self.ahead) {
                match (self.bytes.get(last), self.planned.get(last)) {
                    (Some(&bytes), Some(cluster)) => self.cutter.took(cluster, bytes),
                    _ if unwritten => {}
                    _ => return Planned::Wait,
                }
            }
            match self.cutter.next() {
                Some(cluster) => self.planned.push(cluster),
                None => self.complete = true,
            }
        }
    }

    /// The next cluster in order is written; `total` are the stored bytes of all that are.
    pub(crate) fn written(&mut self, total: u64) {
        self.bytes.push(total.saturating_sub(self.total));
        self.total = total;
    }

    /// What is worth knowing of clusters that are smaller than asked for. `memory` is the budget.
    pub(crate) fn notes(&self, memory: u64) -> Vec<String> {
        self.cutter.notes(memory)
    }
}

#[cfg(test)]
mod tests {
    use super::super::cutting::{Amounts, Span};
    use super::*;

    fn clusters(ahead: usize) -> Clusters {
        let amounts = Amounts { stored: 1000.0, decoded: 1000.0, largest: 10.0 };
        let span = Span { end: 100, amounts, is_cluster: true };
        Clusters::new(Cutter::new(0, [span], 100, 1 << 20), ahead)
    }

    fn entries(clusters: &mut Clusters, number: usize) -> Option<Range<u64>> {
        match clusters.get(number, false) {
            Planned::Entries(entries) => Some(entries),
            Planned::Wait | Planned::None => None,
        }
    }

    #[test]
    fn a_cluster_waits_for_those_before_it() {
        let mut all = clusters(2);
        assert_eq!(entries(&mut all, 0), Some(0..10));
        assert_eq!(entries(&mut all, 1), Some(10..20));
        assert!(matches!(all.get(2, false), Planned::Wait));
        // Half of what was expected: the next is twice as large.
        all.written(50);
        assert_eq!(entries(&mut all, 2), Some(20..40));
        assert!(matches!(all.get(3, false), Planned::Wait));
        assert!(matches!(all.get(3, true), Planned::Entries(_)));
    }

    #[test]
    fn what_is_written_sooner_changes_nothing() {
        let (mut early, mut late) = (clusters(2), clusters(2));
        assert_eq!(entries(&mut early, 1), Some(10..20));
        assert_eq!(entries(&mut late, 1), Some(10..20));
        early.written(50);
        early.written(250);
        late.written(50);
        assert_eq!(entries(&mut early, 2), entries(&mut late, 2));
    }

    #[test]
    fn the_end() {
        let mut all = clusters(100);
        let last = (0..).find(|&number| matches!(all.get(number, false), Planned::None));
        assert_eq!(last, Some(10));
    }
}
