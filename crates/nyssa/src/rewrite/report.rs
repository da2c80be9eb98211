//! What a rewrite did.

use serde::Serialize;

use crate::rntuple::write::ColumnReport;

/// Report of one rewritten RNTuple.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Input file.
    pub input: String,
    /// Path of the RNTuple in it.
    pub source: String,
    /// Output file.
    pub output: String,
    /// Path of the RNTuple in it.
    pub ntuple: String,
    /// Entries of the input.
    pub input_entries: u64,
    /// Entries written.
    pub entries: u64,
    /// Clusters written.
    pub clusters: u64,
    /// Compressed bytes of the input's pages that belong to the fields taken.
    pub input_bytes: u64,
    /// Bytes of the output file.
    pub output_bytes: u64,
    /// Bytes of the pages before compression.
    pub uncompressed_bytes: u64,
    /// Bytes of the pages after compression.
    pub compressed_bytes: u64,
    /// Wall-clock seconds of rewriting, without verification.
    pub seconds: f64,
    /// Input megabytes (10⁶ bytes) per second.
    pub megabytes_per_second: f64,
    /// Worker threads.
    pub threads: usize,
    /// Largest resident set of the process so far in bytes, where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
    /// Every value was read back from both files and is the same.
    pub verified: bool,
    /// Wall-clock seconds of verification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify_seconds: Option<f64>,
    /// Fields written, projected ones included.
    pub fields: Vec<FieldReport>,
    /// How the columns of the output are stored, and why, in order of their ids.
    pub columns: Vec<ColumnReport>,
    /// Top-level fields left out.
    pub dropped: Vec<String>,
    /// Other objects of the file that were carried over.
    pub carried: Vec<String>,
    /// Other objects of the file that are not in the output, and why.
    pub left_out: Vec<String>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

/// One top-level field of the output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FieldReport {
    /// Name.
    pub name: String,
    /// C++ type, empty for untyped records and collections.
    pub type_name: String,
    /// The field shows the columns of another one.
    pub projected: bool,
    /// Compressed bytes of its columns in the input.
    pub input_bytes: u64,
    /// Compressed bytes of its own columns in the output.
    pub output_bytes: u64,
}
