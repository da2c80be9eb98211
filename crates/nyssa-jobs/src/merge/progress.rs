//! Counts the work of a merge over all its RNTuples.

/// The work that is done and the total, for progress: bytes of pages, or entries if new clusters are made.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    pub done: u64,
    pub total: u64,
}
