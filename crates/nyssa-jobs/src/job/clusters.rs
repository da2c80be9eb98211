//! Plans the clusters of an output while earlier clusters are written.
//!
//! The stored sizes of earlier clusters decide where a cluster ends. Only clusters count that are certainly written
//! by then, for any number of threads. So the output does not depend on this number.

use std::ops::Range;

use super::cutting::Cutter;

/// Plans the clusters of an output.
pub(crate) struct Clusters {
    cutter: Cutter,
    /// The number of clusters that may be planned before earlier clusters are written.
    ahead: usize,
    planned: Vec<Range<u64>>,
    /// The stored bytes of each cluster that is written.
    bytes: Vec<u64>,
    /// The stored bytes of all clusters that are written.
    total: u64,
    /// Whether all clusters are planned.
    complete: bool,
}

/// The answer to a request for a cluster.
pub(crate) enum PlannedCluster {
    /// The entries of the cluster, which is planned.
    Entries(Range<u64>),
    /// The entries of the cluster are known only when more clusters are written.
    Wait,
    /// No cluster has this number.
    None,
}

impl Clusters {
    /// Plans the clusters by `cutter`. A cluster is planned when all earlier clusters are written, except `ahead` of
    /// them.
    pub(crate) fn new(cutter: Cutter, ahead: usize) -> Self {
        let (planned, bytes) = (Vec::new(), Vec::new());
        Self { cutter, ahead: ahead.max(1), planned, bytes, total: 0, complete: false }
    }

    /// Returns the cluster of a number. With `unwritten`, it is planned even if earlier clusters are not
    /// written.
    pub(crate) fn get(&mut self, number: usize, unwritten: bool) -> PlannedCluster {
        loop {
            if let Some(entries) = self.planned.get(number) {
                return PlannedCluster::Entries(entries.clone());
            }
            if self.complete {
                return PlannedCluster::None;
            }
            if let Some(last) = self.planned.len().checked_sub(self.ahead) {
                match (self.bytes.get(last), self.planned.get(last)) {
                    (Some(&bytes), Some(cluster)) => self.cutter.took(cluster, bytes),
                    _ if unwritten => {}
                    _ => return PlannedCluster::Wait,
                }
            }
            match self.cutter.next() {
                Some(cluster) => self.planned.push(cluster),
                None => self.complete = true,
            }
        }
    }

    /// Records that the next cluster is written. `total` is the stored size of all written clusters in bytes.
    pub(crate) fn written(&mut self, total: u64) {
        self.bytes.push(total.saturating_sub(self.total));
        self.total = total;
    }

    /// Returns notes on clusters that are smaller than requested. `memory` is the budget in bytes.
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
            PlannedCluster::Entries(entries) => Some(entries),
            PlannedCluster::Wait | PlannedCluster::None => None,
        }
    }

    #[test]
    fn a_cluster_waits_for_those_before_it() {
        let mut all = clusters(2);
        assert_eq!(entries(&mut all, 0), Some(0..10));
        assert_eq!(entries(&mut all, 1), Some(10..20));
        assert!(matches!(all.get(2, false), PlannedCluster::Wait));
        // Half of the expected size: the next cluster is twice as large.
        all.written(50);
        assert_eq!(entries(&mut all, 2), Some(20..40));
        assert!(matches!(all.get(3, false), PlannedCluster::Wait));
        assert!(matches!(all.get(3, true), PlannedCluster::Entries(_)));
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
        let last = (0..).find(|&number| matches!(all.get(number, false), PlannedCluster::None));
        assert_eq!(last, Some(10));
    }
}
