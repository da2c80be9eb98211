//! Defines the report of a conversion.

use serde::Serialize;

use super::options::To;
use crate::job::{Reencoded, Written};

/// The report of the conversion of one tree to an RNTuple, or the other way round. In both directions, `tree` and
/// branches belong to the TTree, and `ntuple` and fields to the RNTuple.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let output = folder.path().join("out.root");
/// let context = nyssa::Context::new(None)?;
/// let input = "../../testdata/ttree/events-zstd.root";
/// let options = nyssa::ToRNTuple::default();
/// for report in nyssa::convert(input, &output, &options, &context)? {
///     println!("{}: {} entries", report.tree, report.written.entries);
///     assert!(report.skipped.is_empty());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct ConvertReport {
    /// The output.
    #[serde(flatten)]
    pub written: Written,
    /// The input, and its new storage.
    #[serde(flatten)]
    pub reencoded: Reencoded,
    /// The format of the output.
    pub to: To,
    /// The path of the tree in its file.
    pub tree: String,
    /// The first entry of the input that was converted.
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
    /// The name of the field in the RNTuple, or its path if it is part of another field.
    pub field: String,
    /// The C++ type of the field.
    pub type_name: String,
    /// The number of compressed bytes in the input.
    pub input_bytes: u64,
    /// The number of compressed bytes in the output. In an RNTuple these are the bytes of the field's own columns, and
    /// shared offsets count for the counter. In a TTree these are the baskets of the branch with their keys.
    pub output_bytes: u64,
    /// The digest of the values of the branch; see [`crate::compare::digest`]. It is `None` if the branch reads as
    /// other values than the field.
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
    /// The number of compressed bytes of the sample in columns, if the size decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns_bytes: Option<u64>,
    /// The number of compressed bytes of the sample as a streamer field, if the size decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streamer_bytes: Option<u64>,
}

/// A branch whose field has another name, because RNTuple does not allow the name or another field uses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Renamed {
    /// The path of the branch in the tree.
    pub branch: String,
    /// The name of the field in the RNTuple.
    pub field: String,
}

/// A branch that was left out; or a field, if the input is an RNTuple.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The path of the branch in the tree, or of the field in the RNTuple.
    pub branch: String,
    /// The reason.
    pub reason: String,
    /// Whether its data are damaged. Otherwise nyssa cannot convert this kind of branch or field.
    pub unreadable: bool,
}

impl Skipped {
    /// Returns one line for each of `all`.
    pub(super) fn reasons(all: &[Self]) -> String {
        let line = |Self { branch, reason, .. }: &Self| format!("{branch}: {reason}");
        all.iter().map(line).collect::<Vec<_>>().join("\n  ")
    }
}
