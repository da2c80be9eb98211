//! Reports the totals of a tree.

/// The totals of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeReport {
    /// The number of entries.
    pub entries: u64,
    /// The number of bytes of all baskets with their keys, before compression.
    pub tot_bytes: u64,
    /// The number of bytes of all baskets with their keys.
    pub zip_bytes: u64,
    /// The number of baskets.
    pub baskets: u64,
    /// The number of clusters.
    pub clusters: u64,
    /// The branches with the number of bytes of their baskets with their keys.
    pub branches: Vec<(String, u64)>,
}
