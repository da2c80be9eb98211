//! Defines the report of a writer.

/// The totals of one RNTuple.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct WriteReport {
    /// The number of entries.
    pub entries: u64,
    /// The number of clusters.
    pub clusters: u64,
    /// The number of pages. Shared pages count each time.
    pub pages: u64,
    /// The number of pages whose bytes were already in the file.
    pub shared_pages: u64,
    /// The number of bytes of all pages before compression. Shared pages count each time.
    pub uncompressed_bytes: u64,
    /// The number of bytes of all stored pages, without checksums. Shared pages count once.
    pub compressed_bytes: u64,
}
