//! Reports on a merge.

use serde::Serialize;

use crate::job::Written;

/// Reports on one merge.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MergeReport {
    /// The inputs, in their order.
    pub inputs: Vec<InputReport>,
    /// The output.
    #[serde(flatten)]
    pub written: Written,
    /// Is `strict`, `union` or `filter`.
    pub mode: String,
    /// Counts the top-level fields that were written.
    pub fields: u64,
    /// The number of pages in the page lists.
    pub pages: u64,
    /// The number of pages whose bytes were in the output already: they are shared in their input, or made of
    /// zeros.
    pub shared_pages: u64,
    /// The number of bytes of the pages that were written.
    pub page_bytes: u64,
    /// All data were decoded and written again in new clusters.
    pub reclustered: bool,
    /// Pages were checked against their checksums.
    pub checksums_verified: bool,
}

/// One input.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InputReport {
    /// Names the input file.
    pub file: String,
    /// The path and the cycle of the RNTuple in it.
    pub ntuple: String,
    /// Counts its entries.
    pub entries: u64,
    /// Counts its clusters.
    pub clusters: u64,
}
