//! Opens a stored basket whose entries are cut.

use std::ops::Range;
use std::sync::Arc;

use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Error, Result};
use nyssa_root::guard::to_usize;

use super::plain::plain;
use crate::model::Basket;
use crate::read::basket::{Contents, Opened};
use crate::read::basket_header::{Expected, Header};
use crate::read::{MovedBasket, Renumbered, Renumbering};

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

    /// Gives the processes of references new numbers. This is the basket `basket` of the branch at `path`.
    ///
    /// # Errors
    /// `Unsupported` if nyssa cannot know where the numbers are; `OutOfSpecification` for a damaged basket, and for the number
    /// of a process that the file does not have.
    pub fn renumber(&mut self, processes: &Renumbering, path: &str, basket: &Basket) -> Result<()> {
        match &mut self.bytes {
            Bytes::OfFile(opened) => renumber(opened, processes, path, basket),
            Bytes::OfTree(streamed) if processes.concerns(path, streamed) => {
                let MovedBasket { head, payload, objlen } =
                    MovedBasket::embedded(streamed, &self.expected)?;
                let header = Header::read(&mut Cursor::new(&head, 0))?;
                let mut opened = Opened::of(header, plain(payload.into(), objlen)?.into_owned());
                renumber(&mut opened, processes, path, basket)?;
                self.bytes = Bytes::OfFile(opened);
                Ok(())
            }
            Bytes::OfTree(_) => Ok(()),
        }
    }

    /// Returns the number of bytes in memory.
    pub fn memory(&self) -> usize {
        match &self.bytes {
            Bytes::OfFile(opened) => opened.len(),
            Bytes::OfTree(_) => 0,
        }
    }

    /// Returns whether only a counter says where the entries begin.
    ///
    /// # Errors
    /// `OutOfSpecification` if the basket is damaged.
    pub fn is_counted(&self) -> Result<bool> {
        let mut scratch = Vec::new();
        Ok(self.contents(&mut scratch)?.is_counted())
    }

    /// Returns the numbers of the entries `rows` of a counter.
    ///
    /// # Errors
    /// `OutOfSpecification` for negative numbers; `Unsupported` if the entries are not integers.
    pub fn counts(&self, rows: Range<u64>) -> Result<Vec<usize>> {
        let mut scratch = Vec::new();
        let contents = self.contents(&mut scratch)?;
        let size = contents.entry_size()?;
        if !matches!(size, 1 | 2 | 4 | 8) {
            return Err(Error::unsupported("it counts items, and its entries are no integers"));
        }
        let (from, to) = (to_usize(rows.start, "entry")?, to_usize(rows.end, "entry")?);
        let bytes = contents.data.get(from.saturating_mul(size)..to.saturating_mul(size));
        let bytes = bytes.ok_or_else(|| Error::out_of_spec("a basket ends inside its entries"))?;
        let number = |bytes: &[u8]| {
            let sign = if bytes[0] & 0x80 == 0 { 0 } else { 0xFF };
            let mut number = [sign; 8];
            number[8 - bytes.len()..].copy_from_slice(bytes);
            let number = i64::from_be_bytes(number);
            let wrong = || Error::out_of_spec(format!("it counts {number} items"));
            usize::try_from(number).map_err(|_| wrong())
        };
        bytes.chunks_exact(size).map(number).collect()
    }

    /// Returns the contents. `scratch` is memory for a payload that is still compressed.
    pub(super) fn contents<'a>(&'a self, scratch: &'a mut Vec<u8>) -> Result<Contents<'a>> {
        match &self.bytes {
            Bytes::OfFile(opened) => opened.contents(&self.expected),
            Bytes::OfTree(raw) => Contents::open_embedded(raw, &self.expected, scratch),
        }
    }
}

/// Gives the processes of a basket in a file new numbers.
fn renumber(
    opened: &mut Opened,
    processes: &Renumbering,
    path: &str,
    basket: &Basket,
) -> Result<()> {
    if let Some(Renumbered { payload, last }) = processes.change(path, basket, opened.parts())? {
        opened.set_payload(payload, last);
    }
    Ok(())
}
