//! Opens a stored basket whose entries are cut.

use std::sync::Arc;

use nyssa_root::error::Result;

use crate::model::Basket;
use crate::read::basket::{Contents, Opened};
use crate::read::basket_header::Expected;

/// A decompressed basket.
pub struct OpenedBasket {
    expected: Expected,
    bytes: Bytes,
}

enum Bytes {
    /// The basket was in the file.
    OfFile(Opened),
    /// The basket is streamed inside its tree.
    OfTree(Arc<[u8]>),
}

impl OpenedBasket {
    /// Decompresses a basket. `raw` are its bytes in the file. A basket that is streamed inside its tree needs none.
    ///
    /// # Errors
    /// `OutOfSpecification` if key, branch and payload disagree; `Unsupported` for unknown I/O features.
    pub fn open(raw: &[u8], basket: &Basket) -> Result<Self> {
        let expected = Expected::of(basket);
        let bytes = match &basket.embedded {
            Some(streamed) => Bytes::OfTree(Arc::clone(streamed)),
            None => Bytes::OfFile(Opened::new(raw, &expected)?),
        };
        Ok(Self { expected, bytes })
    }

    /// Returns the number of bytes in memory.
    pub fn memory(&self) -> usize {
        match &self.bytes {
            Bytes::OfFile(opened) => opened.len(),
            Bytes::OfTree(_) => 0,
        }
    }

    /// Returns the contents. `scratch` is memory for a payload that is still compressed.
    pub(super) fn contents<'a>(&'a self, scratch: &'a mut Vec<u8>) -> Result<Contents<'a>> {
        match &self.bytes {
            Bytes::OfFile(opened) => opened.contents(&self.expected),
            Bytes::OfTree(raw) => Contents::open_embedded(raw, &self.expected, scratch),
        }
    }
}
