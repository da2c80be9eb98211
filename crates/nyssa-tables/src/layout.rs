//! Says how the values of a table are stored: for reports, and for nothing that reads values.

/// The stored parts of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The leaves of Parquet, or the columns of Arrow IPC.
    pub leaves: Vec<Leaf>,
    /// The pages, in the order of the clusters and of their leaves.
    pub pages: Vec<StoredPage>,
}

/// A leaf of Parquet, or a column of Arrow IPC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaf {
    /// The path of the leaf.
    pub path: String,
    /// The number of the column of the table.
    pub column: usize,
    /// The type on storage.
    pub stored_type: String,
    /// The bits of a value before it is encoded. It is 0 where values have no fixed size.
    pub bits: u16,
}

/// A page of Parquet, or all buffers of a column in a record batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredPage {
    /// The number of the leaf.
    pub leaf: usize,
    /// The number of the row group or record batch.
    pub cluster: usize,
    /// The first byte in the file.
    pub offset: u64,
    /// The number of stored bytes, with the header of the page.
    pub bytes: u64,
    /// The number of bytes before compression, with the header of the page.
    pub uncompressed: u64,
    /// The number of values. A dictionary page has none.
    pub values: u64,
    /// The encoding, or an empty text where there is none to choose.
    pub encoding: &'static str,
    /// The compression.
    pub codec: &'static str,
}
