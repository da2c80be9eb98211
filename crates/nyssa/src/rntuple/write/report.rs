//! What a writer has written.

/// Totals of one RNTuple.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    /// Entries.
    pub entries: u64,
    /// Clusters.
    pub clusters: u64,
    /// Pages, shared ones included.
    pub pages: u64,
    /// Pages whose bytes were already in the file.
    pub shared_pages: u64,
    /// Bytes of all pages before compression, shared ones included.
    pub uncompressed_bytes: u64,
    /// Bytes of pages stored, without checksums, shared ones counted once.
    pub compressed_bytes: u64,
}
