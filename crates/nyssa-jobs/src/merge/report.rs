//! Defines the report of a merge.

use nyssa_root::error::Error;
use serde::Serialize;

use crate::job::Written;
use crate::job::others::CopiedObjects;

/// The report of one merge.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let output = folder.path().join("out.root");
/// let context = nyssa::Context::new(None)?;
/// let inputs = ["../../testdata/rntuple/plain.root".to_owned()];
/// let report = nyssa::merge(&inputs, &output, &nyssa::MergeOptions::default(), &context)?;
/// for ntuple in &report.ntuples {
///     println!("{}: {} entries of {} files", ntuple.ntuple, ntuple.entries, ntuple.inputs);
/// }
/// assert_eq!(report.ntuples.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct MergeReport {
    /// The inputs, in their order.
    pub inputs: Vec<InputReport>,
    /// The output.
    #[serde(flatten)]
    pub written: Written,
    /// The mode: `strict`, `union` or `filter`.
    pub mode: String,
    /// The number of top-level fields of all RNTuples.
    pub fields: u64,
    /// The number of pages in the page lists of all RNTuples.
    pub pages: u64,
    /// The number of pages whose bytes were in the output already: pages that are shared in their input, or consist
    /// of zeros.
    pub shared_pages: u64,
    /// The number of bytes of the pages that were written.
    pub page_bytes: u64,
    /// The RNTuples of the output.
    pub ntuples: Vec<MergedNTupleReport>,
    /// The TTrees of the output, whose baskets were copied.
    pub trees: Vec<MergedTreeReport>,
    /// The other objects of the inputs that are not in the output, and the reasons.
    pub left_out: Vec<String>,
    /// The inputs that are missing or damaged and were left out.
    pub bad: Vec<BadInput>,
    /// Whether all data were decoded and written again in new clusters.
    pub reclustered: bool,
    /// Whether pages were checked against their checksums.
    pub checksums_verified: bool,
}

impl MergeReport {
    /// Adds inputs that were left out, with notes.
    pub(super) fn leave_out(&mut self, bad: Vec<BadInput>) {
        let note = |item: &BadInput| format!("left out the input {}: {}", item.file, item.error);
        self.written.notes.extend(bad.iter().map(note));
        self.bad.extend(bad);
    }
}

/// One RNTuple of the output.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MergedNTupleReport {
    /// The path of the RNTuple.
    pub ntuple: String,
    /// The number of inputs with this RNTuple.
    pub inputs: u64,
    /// The number of entries.
    pub entries: u64,
    /// The number of clusters.
    pub clusters: u64,
    /// The number of top-level fields.
    pub fields: u64,
    /// The number of pages in the page lists.
    pub pages: u64,
    /// The number of pages whose bytes were in the output already.
    pub shared_pages: u64,
    /// The number of bytes of the pages that were written.
    pub page_bytes: u64,
}

/// One tree of the output, whose baskets were copied.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MergedTreeReport {
    /// The path of the tree.
    pub tree: String,
    /// The number of inputs with this tree.
    pub inputs: u64,
    /// The number of entries.
    pub entries: u64,
    /// The number of clusters.
    pub clusters: u64,
    /// The number of branches, including their sub-branches.
    pub branches: u64,
    /// The number of baskets.
    pub baskets: u64,
    /// The number of bytes of the baskets with their keys.
    pub basket_bytes: u64,
}

/// An input that is missing or damaged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BadInput {
    /// The name of the input.
    pub file: String,
    /// The error.
    pub error: String,
}

impl BadInput {
    pub(super) fn new(input: &str, error: &Error) -> Self {
        Self { file: nyssa_io::shown(input), error: error.to_string() }
    }
}

/// One input.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InputReport {
    /// The name of the input file.
    pub file: String,
    /// The path and the cycle of the RNTuple in it. It is empty if none or several were merged.
    pub ntuple: String,
    /// The number of entries of its RNTuples.
    pub entries: u64,
    /// The number of clusters of its RNTuples.
    pub clusters: u64,
}

/// Returns notes on the objects that are not in the output.
pub(super) fn left_out(others: &CopiedObjects) -> impl Iterator<Item = String> {
    let refused = others.refused.iter();
    let refused = refused
        .map(|object| format!("left out {} {}: {}", object.class, object.path, object.reason));
    refused.chain(others.left.iter().map(|object| format!("left out {object}")))
}
