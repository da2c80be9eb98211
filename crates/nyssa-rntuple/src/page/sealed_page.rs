//! Defines sealed pages, and sealed columns of a cluster.

use xxhash_rust::xxh3::xxh3_128;

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
    /// The XXH3-128 of `bytes`, if it was computed already.
    pub(crate) identity: Option<u128>,
}

impl SealedPage {
    /// Computes what equal pages are found by. Otherwise the writer does this when it stores the page, while other fill
    /// contexts wait.
    pub(crate) fn identify(&mut self) {
        self.identity = Some(xxh3_128(&self.bytes));
    }
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
