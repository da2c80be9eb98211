//! What a conversion did.

use serde::Serialize;

use crate::rntuple::write::ColumnReport;

/// Report of one conversion.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Input file.
    pub input: String,
    /// Path of the tree in it.
    pub tree: String,
    /// Output file.
    pub output: String,
    /// Path of the RNTuple in it.
    pub ntuple: String,
    /// The first entry of the tree that was converted.
    pub first_entry: u64,
    /// Entries converted.
    pub entries: u64,
    /// Clusters written.
    pub clusters: u64,
    /// Compressed bytes of the baskets read.
    pub input_bytes: u64,
    /// Bytes of the output file.
    pub output_bytes: u64,
    /// Bytes of the pages before compression.
    pub uncompressed_bytes: u64,
    /// Bytes of the pages after compression.
    pub compressed_bytes: u64,
    /// Wall-clock seconds of converting, without verification.
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
    /// What the digests of the fields are, [`crate::compare::digest::HASH`].
    pub digest_hash: String,
    /// Converted branches in the tree's order.
    pub fields: Vec<FieldReport>,
    /// How the columns of the output are stored, and why, in order of their ids.
    pub columns: Vec<ColumnReport>,
    /// Branches of classes that became streamer fields, or might have.
    pub streamer_fields: Vec<StreamerFieldReport>,
    /// Branches whose field has another name.
    pub renamed: Vec<Renamed>,
    /// Branches left out, with reasons.
    pub skipped: Vec<Skipped>,
    /// Other objects of the file that were carried over: path, cycle and class.
    pub carried: Vec<String>,
    /// Other objects of the file that are not in the output, and why.
    pub left_out: Vec<String>,
    /// What else is worth knowing about the mapping.
    pub notes: Vec<String>,
}

/// One converted branch.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FieldReport {
    /// Branch path in the tree.
    pub branch: String,
    /// Field name in the RNTuple.
    pub field: String,
    /// C++ type of the field.
    pub type_name: String,
    /// Compressed bytes of the branch's baskets.
    pub input_bytes: u64,
    /// Compressed bytes of the field's own columns; shared offsets count to the counter.
    pub output_bytes: u64,
    /// Digest of the values of the branch, see [`crate::compare::digest`]; none where the branch does not
    /// read as the values of the field.
    pub digest: Option<String>,
}

/// A branch of a class that became a streamer field, or might have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StreamerFieldReport {
    /// Branch path in the tree.
    pub branch: String,
    /// C++ class.
    pub class: String,
    /// Whether its objects are stored as the bytes of ROOT's streamer.
    pub streamer: bool,
    /// Why.
    pub reason: String,
    /// Compressed bytes of the first cluster in columns, where the size decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns_bytes: Option<u64>,
    /// The same streamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streamer_bytes: Option<u64>,
}

/// A branch whose name RNTuple does not allow, or which collided with another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Renamed {
    /// Branch path in the tree.
    pub branch: String,
    /// Field name in the RNTuple.
    pub field: String,
}

/// A branch left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Branch path in the tree.
    pub branch: String,
    /// Why.
    pub reason: String,
    /// Whether its data is damaged; else it is of a kind that cannot be converted.
    pub unreadable: bool,
}
