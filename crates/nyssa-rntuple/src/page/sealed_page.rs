//! Defines sealed pages, and sealed columns of a cluster.

/// The bytes of an encoded and compressed page, ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedPage {
    /// The number of elements.
    pub elements: u32,
    /// The sealed bytes without the checksum.
    pub bytes: Vec<u8>,
    /// The XXH3 of `bytes`. It is stored after them, little-endian.
    pub checksum: u64,
    /// The size of the encoded, uncompressed page in bytes.
    pub uncompressed: usize,
}

/// All pages of one column in one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedColumn {
    /// The physical column.
    pub column: crate::schema::ColumnId,
    /// The number of elements in the cluster.
    pub elements: u64,
    /// The last offset of an offset column, which is the number of items. `None` if it is not known.
    pub last_offset: Option<u64>,
    /// ROOT's compression setting, which the page list records.
    pub compression: u32,
    /// The pages in order.
    pub pages: Vec<SealedPage>,
}

impl SealedColumn {
    /// Returns the number of bytes of all pages, before and after compression.
    pub fn page_bytes(&self) -> (u64, u64) {
        self.pages.iter().fold((0, 0), |(before, after), page| {
            (before + page.uncompressed as u64, after + page.bytes.len() as u64)
        })
    }
}
