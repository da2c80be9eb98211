//! Defines clusters and the positions of their pages (specification, "Page List Envelope").

use super::Locator;

/// One cluster: a range of entries, and the pages of each physical column.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The first entry.
    pub first_entry: u64,
    /// The number of entries.
    pub entries: u64,
    /// The pages by physical column id. The list is shorter when columns were added after the cluster was
    /// written.
    pub columns: Vec<ColumnRange>,
}

/// The part of one column in one cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnRange {
    /// The index of the first element in the whole column.
    pub first_element: u64,
    /// The number of elements, which is the sum over the pages.
    pub elements: u64,
    /// ROOT's compression setting of the pages. It is only information.
    pub compression: u32,
    /// Whether the column belongs to a representation that is not active in this cluster.
    pub suppressed: bool,
    /// The pages in order.
    pub pages: Vec<PageInfo>,
}

/// One page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageInfo {
    /// The number of elements.
    pub elements: u32,
    /// Whether a checksum (XXH3, 8 bytes, little-endian) follows the bytes of the page.
    pub checksummed: bool,
    /// The place of the sealed bytes, without the checksum.
    pub locator: Locator,
}

/// The number of bytes of a page's checksum.
const CHECKSUM: u64 = 8;

impl PageInfo {
    /// Returns the number of bytes in the file, with the checksum.
    pub fn stored_bytes(&self) -> u64 {
        self.locator.size.saturating_add(if self.checksummed { CHECKSUM } else { 0 })
    }

    /// Returns the number of bytes before compression, for a column with this number of bits per element.
    pub fn uncompressed_bytes(&self, bits: u16) -> u64 {
        (u64::from(self.elements) * u64::from(bits)).div_ceil(8)
    }
}
