//! Defines the report of a rewrite.

use serde::Serialize;

use crate::job::{Reencoded, Written};

/// The name of the format of RNTuples in reports.
pub(super) const RNTUPLE: &str = "rntuple";
/// The name of the format of TTrees in reports.
pub(super) const TTREE: &str = "ttree";

/// The report on one RNTuple or TTree that was rewritten.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let output = folder.path().join("out.root");
/// let context = nyssa::Context::new(None)?;
/// let options = nyssa::RewriteOptions::default();
/// let report = nyssa::rewrite("../../testdata/rntuple/plain.root", &output, &options, &context)?;
/// assert_eq!(report.written.entries, report.input_entries);
/// for field in &report.fields {
///     println!("{}: {} → {} bytes", field.name, field.input_bytes, field.output_bytes);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct RewriteReport {
    /// The format: `rntuple` or `ttree`.
    pub format: &'static str,
    /// The output.
    #[serde(flatten)]
    pub written: Written,
    /// The input, and its new storage.
    #[serde(flatten)]
    pub reencoded: Reencoded,
    /// The path of the RNTuple or TTree in the input file.
    pub source: String,
    /// The number of entries of the input.
    pub input_entries: u64,
    /// The fields that were written, including projected fields; or all branches.
    pub fields: Vec<FieldReport>,
    /// The top-level fields, or the branches, that were left out.
    pub dropped: Vec<String>,
}

/// One top-level field of the output, or one branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FieldReport {
    /// The name of the field, or the path of the branch.
    pub name: String,
    /// The C++ type. It is empty for untyped records and collections, and for branches without a class.
    pub type_name: String,
    /// Whether the field is projected: it shows the columns of another field.
    pub projected: bool,
    /// The number of compressed bytes of the columns or baskets in the input.
    pub input_bytes: u64,
    /// The number of compressed bytes of the field's own columns, or of the baskets, in the output.
    pub output_bytes: u64,
}
