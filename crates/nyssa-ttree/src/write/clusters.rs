//! Decides where clusters end (`TTree::Fill`).

use super::options::AutoFlush;

/// The rule for the ends of clusters.
#[derive(Clone, Debug)]
pub(super) struct Clusters {
    auto_flush: AutoFlush,
    /// The number of entries of a cluster, once it is known.
    size: Option<u64>,
    /// The first entry of the open cluster.
    pub start: u64,
}

impl Clusters {
    /// Starts with the first cluster.
    pub(super) fn new(auto_flush: AutoFlush) -> Self {
        let size = match auto_flush {
            AutoFlush::Entries(size) => Some(size),
            _ => None,
        };
        Self { auto_flush, size, start: 0 }
    }

    /// Restarts with the first entry. The size of clusters stays.
    pub(super) fn fork(&self) -> Self {
        Self { start: 0, ..*self }
    }

    /// Returns the end of the open cluster, if it is known.
    pub(super) fn end(&self) -> Option<u64> {
        self.size.map(|size| self.start.saturating_add(size))
    }

    /// Returns the number of bytes of full baskets that ends the open cluster, if its end is not known in entries.
    pub(super) fn bytes(&self) -> Option<u64> {
        match (self.size, self.auto_flush) {
            (None, AutoFlush::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// Returns whether the tree has clusters that end without a call.
    pub(super) fn are_automatic(&self) -> bool {
        self.auto_flush != AutoFlush::Never
    }

    /// Sets the size of clusters to the size of the open cluster, which ends at `end`.
    pub(super) fn settle(&mut self, end: u64) {
        self.size = Some(end - self.start);
    }

    /// Returns ROOT's `fAutoFlush`: the size of clusters, if it is known.
    pub(super) fn nominal(&self) -> i64 {
        let entries = |size| i64::try_from(size).unwrap_or(i64::MAX);
        self.size.map_or(self.auto_flush.number(), entries)
    }
}
