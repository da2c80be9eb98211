//! The places of the pages of a cluster (specification, "Page List Envelope").

use super::Locator;

/// One cluster: a range of entries, and the pages of each physical column.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// First entry.
    pub first_entry: u64,
    /// Number of entries.
    pub entries: u64,
    /// Pages by physical column id. The list is shorter when columns were added after the cluster was
    /// written.
    pub columns: Vec<ColumnRange>,
}

/// The part of one column in one cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnRange {
    /// Index of the first element in the whole column.
    pub first_element: u64,
    /// Number of elements, which is the sum over the pages.
    pub elements: u64,
    /// ROOT's compression setting of the pages, for information.
    pub compression: u32,
    /// Says whether the column belongs to a representation that is not active in this cluster.
    pub suppressed: bool,
    /// Pages in order.
    pub pages: Vec<PageInfo>,
}

/// One page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageInfo {
    /// Number of elements.
    pub elements: u32,
    /// Says whether a checksum (XXH3, 8 bytes, little-endian) follows the bytes of the page.
    pub checksummed: bool,
    /// Place of the sealed bytes, without the checksum.
    pub locator: Locator,
}
