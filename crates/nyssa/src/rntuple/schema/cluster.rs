//! Where the pages of a cluster lie (specification, "Page List Envelope").

use super::Locator;

/// One cluster: an entry range and, per physical column, its pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// First entry.
    pub first_entry: u64,
    /// Number of entries.
    pub entries: u64,
    /// By physical column id. Columns added after this cluster was written are absent (shorter list).
    pub columns: Vec<ColumnRange>,
}

/// The part of one column that lies in one cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnRange {
    /// Index of the first element in the whole column.
    pub first_element: u64,
    /// Number of elements, the sum over the pages.
    pub elements: u64,
    /// ROOT's compression setting of the pages, for information.
    pub compression: u32,
    /// The column belongs to a representation that is inactive in this cluster.
    pub suppressed: bool,
    /// The pages in order of elements.
    pub pages: Vec<PageInfo>,
}

/// One page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageInfo {
    /// Number of elements.
    pub elements: u32,
    /// An XXH3 checksum of 8 bytes (little-endian) follows the page's bytes.
    pub checksummed: bool,
    /// Where the sealed bytes lie, without the checksum.
    pub locator: Locator,
}
