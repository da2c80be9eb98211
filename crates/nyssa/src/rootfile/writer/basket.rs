//! Writes the baskets of trees. The header of their key has a tail, the header of the basket.

use super::RootFileWriter;
use super::key::Key;
use crate::error::Result;

/// The class of baskets.
const CLASS: &str = "TBasket";

/// A basket as it is stored.
pub(crate) struct StoredBasket<'a> {
    /// The directory of the tree.
    pub dir: &'a str,
    /// The name of the branch.
    pub branch: &'a str,
    /// The name of the tree.
    pub tree: &'a str,
    /// The number of the basket in its branch.
    pub number: u64,
    /// The header of the basket, behind that of the key.
    pub header: &'a [u8],
    /// The payload, as stored.
    pub payload: &'a [u8],
    /// The size of the payload when it is uncompressed, in bytes.
    pub objlen: u64,
}

impl RootFileWriter {
    /// Returns the size in bytes of the key of a basket whose header has `header` bytes.
    pub(crate) fn basket_keylen(branch: &str, tree: &str, header: usize) -> usize {
        Key::size_for(CLASS, branch, tree) + header
    }

    /// Returns the size in bytes of the key of an object.
    pub(crate) fn object_keylen(class: &str, name: &str, title: &str) -> usize {
        Key::size_for(class, name, title)
    }

    /// Writes a basket, which no directory lists. Returns the position and the size of its key with the payload.
    ///
    /// # Errors
    /// `LimitExceeded` beyond what a key can hold; the sink's errors.
    pub(crate) fn write_basket(&mut self, basket: &StoredBasket<'_>) -> Result<(u64, u64)> {
        let dir = self.make_directory(basket.dir)?;
        let parent = self.directories[dir].seek;
        // ROOT writes the lowest bits of the number, too.
        let cycle = (basket.number & 0x7FFF) as u16;
        let stored = basket.payload.len() as u64;
        let mut key = self.key(CLASS, basket.branch, basket.tree, parent, cycle, stored);
        key.objlen = basket.objlen;
        key.tail = basket.header.len();
        self.append(&key, &[basket.header, basket.payload]).map_err(|error| self.blame(error))?;
        Ok((key.seek, key.size() as u64 + stored))
    }
}
