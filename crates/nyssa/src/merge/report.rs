//! What a merge did.

use serde::Serialize;

use crate::job::Written;

/// Report of one merge.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The inputs, in their order.
    pub inputs: Vec<InputReport>,
    /// The output.
    #[serde(flatten)]
    pub written: Written,
    /// `strict`, `union` or `filter`.
    pub mode: String,
    /// Top-level fields that were written.
    pub fields: u64,
    /// Pages in the page lists.
    pub pages: u64,
    /// Pages whose bytes were in the output already: they are shared in their input, or made of zeros.
    pub shared_pages: u64,
    /// Bytes of the pages that were written.
    pub page_bytes: u64,
    /// All data were decoded and written again in new clusters.
    pub reclustered: bool,
    /// Pages were checked against their checksums.
    pub checksums_verified: bool,
}

/// One input.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InputReport {
    /// Input file.
    pub file: String,
    /// Path and cycle of the RNTuple in it.
    pub ntuple: String,
    /// Its entries.
    pub entries: u64,
    /// Its clusters.
    pub clusters: u64,
}
