//! Locators (specification, "Locators and Envelope Links").

/// A byte range on storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Locator {
    /// Offset in the file, bytes.
    pub offset: u64,
    /// Size on storage, bytes, without a page checksum.
    pub size: u64,
}
