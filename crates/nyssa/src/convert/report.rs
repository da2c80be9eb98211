//! Defines the report of a conversion.

use serde::Serialize;

use crate::job::{Reencoded, Written};

/// The report of the conversion of one tree.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ConvertReport {
    /// The output.
    #[serde(flatten)]
    pub written: Written,
    /// The input, and how its data are stored now.
    #[serde(flatten)]
    pub reencoded: Reencoded,
    /// The path of the tree in the input file.
    pub tree: String,
    /// The first entry of the tree that was converted.
    pub first_entry: u64,
    /// The method of the digests of the fields: [`crate::compare::digest::HASH`].
    pub digest_hash: String,
    /// The converted branches, in the order of the tree.
    pub fields: Vec<FieldReport>,
    /// The branches that were stored as streamer fields, or could have been.
    pub streamer_fields: Vec<StreamerFieldReport>,
    /// The branches whose field has another name.
    pub renamed: Vec<Renamed>,
    /// The branches that were left out, and why.
    pub skipped: Vec<Skipped>,
}

/// One converted branch.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FieldReport {
    /// The path of the branch in the tree.
    pub branch: String,
    /// The name of the field in the RNTuple.
    pub field: String,
    /// The C++ type of the field.
    pub type_name: String,
    /// The number of compressed bytes of the baskets of the branch.
    pub input_bytes: u64,
    /// The number of compressed bytes of the field's own columns. Shared offsets count for the counter.
    pub output_bytes: u64,
    /// The digest of the values of the branch; see [`crate::compare::digest`]. It is `None` if the branch reads
    /// as other values than the field.
    pub digest: Option<String>,
}

/// A branch of a class that became a streamer field, or could have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StreamerFieldReport {
    /// The path of the branch in the tree.
    pub branch: String,
    /// The C++ class.
    pub class: String,
    /// Whether its objects are stored as the bytes of ROOT's streamer.
    pub streamer: bool,
    /// The reason.
    pub reason: String,
    /// The number of compressed bytes of the first cluster in columns, if the size decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns_bytes: Option<u64>,
    /// The number of compressed bytes of the first cluster as a streamer field, if the size decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streamer_bytes: Option<u64>,
}

/// A branch whose field has another name, because RNTuple does not allow the name or another field has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Renamed {
    /// The path of the branch in the tree.
    pub branch: String,
    /// The name of the field in the RNTuple.
    pub field: String,
}

/// A branch that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The path of the branch in the tree.
    pub branch: String,
    /// The reason.
    pub reason: String,
    /// Whether its data are damaged. Otherwise nyssa cannot convert this kind of branch.
    pub unreadable: bool,
}
