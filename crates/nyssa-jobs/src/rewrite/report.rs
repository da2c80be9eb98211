//! Defines the report of a rewrite.

use serde::Serialize;

use crate::job::{Reencoded, Written};

/// The report on one RNTuple that was rewritten.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RewriteReport {
    /// The output.
    #[serde(flatten)]
    pub written: Written,
    /// The input, and its new storage.
    #[serde(flatten)]
    pub reencoded: Reencoded,
    /// The path of the RNTuple in the input file.
    pub source: String,
    /// The number of entries of the input.
    pub input_entries: u64,
    /// The fields that were written, including projected fields.
    pub fields: Vec<FieldReport>,
    /// The top-level fields that were left out.
    pub dropped: Vec<String>,
}

/// One top-level field of the output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FieldReport {
    /// The name of the field.
    pub name: String,
    /// The C++ type. It is empty for untyped records and collections.
    pub type_name: String,
    /// Whether the field is projected: it shows the columns of another field.
    pub projected: bool,
    /// The number of compressed bytes of the columns in the input.
    pub input_bytes: u64,
    /// The number of compressed bytes of the field's own columns in the output.
    pub output_bytes: u64,
}
