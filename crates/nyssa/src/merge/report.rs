//! Defines the report of a merge.

use serde::Serialize;

use crate::job::Written;

/// The report of one merge.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MergeReport {
    /// The inputs, in their order.
    pub inputs: Vec<InputReport>,
    /// The output.
    #[serde(flatten)]
    pub written: Written,
    /// The mode: `strict`, `union` or `filter`.
    pub mode: String,
    /// The number of top-level fields that were written.
    pub fields: u64,
    /// The number of pages in the page lists.
    pub pages: u64,
    /// The number of pages whose bytes were in the output already: pages that are shared in their input, or
    /// made of zeros.
    pub shared_pages: u64,
    /// The number of bytes of the pages that were written.
    pub page_bytes: u64,
    /// Whether all data were decoded and written again in new clusters.
    pub reclustered: bool,
    /// Whether pages were checked against their checksums.
    pub checksums_verified: bool,
}

/// One input.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InputReport {
    /// The name of the input file.
    pub file: String,
    /// The path and the cycle of the RNTuple in it.
    pub ntuple: String,
    /// The number of its entries.
    pub entries: u64,
    /// The number of its clusters.
    pub clusters: u64,
}
