//! Reports of checks: what is wrong in a file, and where.

use serde::Serialize;

use crate::error::{Error, Place};

/// One broken rule, with its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Kind of the error, such as `Checksum`.
    pub kind: String,
    /// The description of the problem.
    pub message: String,
    /// Key, tree or RNTuple path inside the file.
    pub object: Option<String>,
    /// Field path or branch name.
    pub field: Option<String>,
    /// Physical column id.
    pub column: Option<u64>,
    /// Cluster number.
    pub cluster: Option<u64>,
    /// Page number in its column and cluster.
    pub page: Option<u64>,
    /// Basket number of its branch.
    pub basket: Option<u64>,
    /// Entry number.
    pub entry: Option<u64>,
    /// Byte offset in the file.
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

/// The result of a full check of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Number of entries.
    pub entries: u64,
    /// Pages or baskets that were read.
    pub parts: u64,
    /// Pages or baskets that were decoded into values.
    pub decoded: u64,
    /// Pages or baskets that have a checksum.
    pub checksummed: u64,
    /// Bytes of pages or baskets on storage.
    pub bytes: u64,
    /// Fields or branches that nyssa cannot read as values, with the reason, and fields of which it cannot
    /// take all objects apart. Their bytes were checked.
    pub unreadable: Vec<String>,
    /// The problems, in order of the clusters of an RNTuple or the branches of a TTree.
    pub problems: Vec<Problem>,
}
