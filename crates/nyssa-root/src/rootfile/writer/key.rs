//! Writes key headers (`TKey`). Positions have 32 bits in the first 2 GB of a file and 64 bits after them, as in ROOT
//! (`TKey::Build`). Two kinds of keys always have 64 bits: blobs of RNTuples, as in ROOT, and baskets, because the
//! size of the key must be known before its place.

use bstr::BString;

use crate::error::{Error, Result};
use crate::rootfile::encode;

/// The version of the key. A key with 64-bit positions adds 1000.
const VERSION: u16 = 4;
/// The size in bytes of a key header with 64-bit positions without its three strings. A header with 32-bit
/// positions has 8 bytes less.
const FIXED_SIZE: usize = 34;

/// The contents of a key header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// The number of bytes of payload on storage.
    pub stored: u64,
    /// The number of bytes of payload when uncompressed.
    pub objlen: u64,
    /// The time stamp.
    pub datime: u32,
    /// The cycle: the number of the object among the objects of its name.
    pub cycle: u16,
    /// The position of the key.
    pub seek: u64,
    /// The position of the key of the directory, or of the first key of the file.
    pub parent: u64,
    /// The class name.
    pub class: String,
    /// The object name.
    pub name: BString,
    /// The title of the object.
    pub title: BString,
    /// Whether positions have 32 bits.
    pub small: bool,
    /// The number of bytes behind the title that belong to the header. Only baskets have such bytes.
    pub tail: usize,
}

impl Key {
    /// Returns the size of a header with these strings and 64-bit positions, in bytes.
    pub(super) fn size_for(class: &str, name: &[u8], title: &[u8]) -> usize {
        let string = |text: &[u8]| text.len() + if text.len() < 255 { 1 } else { 5 };
        FIXED_SIZE + string(class.as_bytes()) + string(name) + string(title)
    }

    /// Returns the size of this header, in bytes.
    pub(super) fn size(&self) -> usize {
        let size = Self::size_for(&self.class, &self.name, &self.title) + self.tail;
        if self.small { size - 8 } else { size }
    }

    /// Returns the position of the payload.
    pub(super) fn payload(&self) -> u64 {
        self.seek + self.size() as u64
    }

    /// Appends the header without its tail.
    ///
    /// # Errors
    /// `LimitExceeded` for payloads beyond 2 GiB and names beyond 64 kiB.
    pub(super) fn serialize(&self, out: &mut Vec<u8>) -> Result<()> {
        let what = |what: &str| format!("{what} of key {:?}", self.name);
        let keylen = u16::try_from(self.size())
            .map_err(|_| Error::limit(format!("{} bytes of {}", self.size(), what("header"))))?;
        let nbytes = self.stored.saturating_add(u64::from(keylen));
        let nbytes = i32::try_from(nbytes)
            .map_err(|_| Error::limit(format!("{nbytes} bytes of {}", what("payload"))))?;
        let objlen = u32::try_from(self.objlen)
            .map_err(|_| Error::limit(format!("{} bytes of {}", self.objlen, what("object"))))?;
        out.extend_from_slice(&nbytes.to_be_bytes());
        let version = if self.small { VERSION } else { VERSION + 1000 };
        out.extend_from_slice(&version.to_be_bytes());
        out.extend_from_slice(&objlen.to_be_bytes());
        out.extend_from_slice(&self.datime.to_be_bytes());
        out.extend_from_slice(&keylen.to_be_bytes());
        out.extend_from_slice(&self.cycle.to_be_bytes());
        encode::position(out, self.seek, !self.small)?;
        encode::position(out, self.parent, !self.small)?;
        encode::string(out, &self.class)?;
        encode::text_bytes(out, &self.name)?;
        encode::text_bytes(out, &self.title)
    }
}
