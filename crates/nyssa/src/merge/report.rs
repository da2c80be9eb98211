//! What a merge did.

use serde::Serialize;

/// Report of one merge.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The inputs in order.
    pub inputs: Vec<InputReport>,
    /// Output file.
    pub output: String,
    /// Path of the RNTuple in it.
    pub ntuple: String,
    /// `strict`, `union` or `filter`.
    pub mode: String,
    /// Entries of all inputs.
    pub entries: u64,
    /// Clusters written.
    pub clusters: u64,
    /// Top-level fields written.
    pub fields: u64,
    /// Pages in the page lists.
    pub pages: u64,
    /// Pages whose bytes were in the output already: shared in their input, or made of zeros.
    pub shared_pages: u64,
    /// Bytes of the pages written.
    pub page_bytes: u64,
    /// Bytes of the output file.
    pub output_bytes: u64,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Megabytes (10⁶ bytes) of the inputs' pages per second.
    pub megabytes_per_second: f64,
    /// Everything was decoded and sealed again in new clusters.
    pub reclustered: bool,
    /// Pages were checked against their checksums.
    pub checksums_verified: bool,
    /// Every value was read back from all files and is the same.
    pub verified: bool,
    /// Largest resident set of the process so far in bytes, where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
    /// Remarks for people: what was left out, what was added.
    pub notes: Vec<String>,
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
