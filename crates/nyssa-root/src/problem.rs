//! Defines the problems in a file that a check reports, with their places.

use serde::Serialize;

use crate::error::{Error, Place};

/// A problem that a check found, with its place.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let context = nyssa::Context::new(None)?;
/// let report = nyssa::verify("../../testdata/rntuple/plain.root", &context)?;
/// for problem in &report.problems {
///     println!("{}: {}", problem.kind, problem.message);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The kind of the error, such as `Checksum`.
    pub kind: String,
    /// The message of the error, without the place.
    pub message: String,
    /// The path of a key, tree or RNTuple inside the file.
    pub object: Option<String>,
    /// The path of the field, or the name of the branch.
    pub field: Option<String>,
    /// The id of the physical column.
    pub column: Option<u64>,
    /// The number of the cluster.
    pub cluster: Option<u64>,
    /// The number of the page in its column and cluster.
    pub page: Option<u64>,
    /// The number of the basket in its branch.
    pub basket: Option<u64>,
    /// The number of the entry.
    pub entry: Option<u64>,
    /// The byte offset in the file.
    pub offset: Option<u64>,
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        let Place { object, field, column, cluster, page, basket, entry, offset, .. } =
            error.place().clone();
        let message = error.message().to_owned();
        let kind = format!("{:?}", error.kind());
        Self { kind, message, object, field, column, cluster, page, basket, entry, offset }
    }
}

/// The result of the check of a whole dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DatasetCheck {
    /// The number of entries.
    pub entries: u64,
    /// The number of pages or baskets that were read.
    pub parts: u64,
    /// The number of pages or baskets that were decoded into values.
    pub decoded: u64,
    /// The number of pages or baskets that have a checksum.
    pub checksummed: u64,
    /// The number of bytes of pages or baskets on storage.
    pub bytes: u64,
    /// The fields or branches that nyssa cannot read as values, with the reason, and the fields that have objects
    /// which nyssa cannot decode. Their bytes were checked.
    pub unreadable: Vec<String>,
    /// The problems, in order of the clusters of an RNTuple or the branches of a TTree.
    #[serde(skip)]
    pub problems: Vec<Problem>,
}
