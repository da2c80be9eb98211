//! Defines the report of a skim.

use serde::Serialize;

use crate::convert::To;
use crate::job::Written;

/// The report of a skim.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let output = folder.path().join("out.root");
/// let context = nyssa::Context::new(None)?;
/// let inputs = ["../../testdata/rntuple/codec-zstd.root".to_owned()];
/// let mut options = nyssa::SkimOptions::default();
/// options.define.push(("total".to_owned(), "sum(x)".to_owned()));
/// options.cut.push("even=n % 2 == 0".parse()?);
/// let report = nyssa::skim(&inputs, &output, &options, &context)?;
/// assert_eq!(report.cut_flow[0].entries, report.written.entries);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct SkimReport {
    /// The output.
    #[serde(flatten)]
    pub written: Written,
    /// The files that were read.
    pub inputs: Vec<String>,
    /// The path of the dataset in the first file.
    pub dataset: String,
    /// The format of the output.
    pub format: To,
    /// The number of entries that were requested of the inputs.
    pub input_entries: u64,
    /// The first of them.
    pub first_entry: u64,
    /// The number of entries after each cut, in the order of the cuts.
    pub cut_flow: Vec<CutFlowRow>,
    /// The columns of the output.
    pub columns: Vec<SkimColumn>,
    /// The columns, and parts of columns, that were left out because they cannot be read or written.
    pub skipped: Vec<SkimSkipped>,
    /// The other objects of the first file, which are not in the output.
    pub left_out: Vec<String>,
    /// The method of the digests of the columns: [`crate::compare::digest::HASH`].
    pub digest_hash: String,
    /// The number of stored bytes of the columns in the files that were read, as far as their formats know them.
    pub input_bytes: u64,
    /// The number of bytes of the columns before compression.
    pub uncompressed_bytes: u64,
    /// The number of bytes of the columns after compression.
    pub compressed_bytes: u64,
    /// The number of worker threads.
    pub threads: usize,
}

/// The entries that pass a cut and all cuts before it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CutFlowRow {
    /// The name of the cut.
    pub name: String,
    /// Its expression.
    pub cut: String,
    /// The number of entries.
    pub entries: u64,
}

/// A column of the output.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SkimColumn {
    /// The name.
    pub name: String,
    /// The C++ type, or the Arrow type of a computed column.
    pub type_name: String,
    /// The expression of a new column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// The number of stored bytes in the output, if its format knows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
    /// The digest of the values; see [`crate::compare::digest`].
    pub digest: Option<String>,
}

/// A column that was left out.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SkimSkipped {
    /// The name.
    pub name: String,
    /// The reason.
    pub reason: String,
    /// Whether its data are damaged. Otherwise nyssa cannot read its type, or the format cannot hold it.
    pub unreadable: bool,
}
