//! The report of a rewrite.

use serde::Serialize;

use crate::job::{Reencoded, Written};

/// Report of one rewritten RNTuple.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The output.
    #[serde(flatten)]
    pub written: Written,
    /// The input, and how its data are stored now.
    #[serde(flatten)]
    pub reencoded: Reencoded,
    /// Path of the RNTuple in the input file.
    pub source: String,
    /// Entries of the input.
    pub input_entries: u64,
    /// Fields that were written, projected ones included.
    pub fields: Vec<FieldReport>,
    /// Top-level fields that were left out.
    pub dropped: Vec<String>,
}

/// One top-level field of the output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FieldReport {
    /// Name of the field.
    pub name: String,
    /// C++ type. It is empty for untyped records and collections.
    pub type_name: String,
    /// Says whether the field is projected: it shows the columns of another field.
    pub projected: bool,
    /// Compressed bytes of the columns in the input.
    pub input_bytes: u64,
    /// Compressed bytes of the field's own columns in the output.
    pub output_bytes: u64,
}
