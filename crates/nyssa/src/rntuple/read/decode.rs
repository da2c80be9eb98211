//! One page into its place in the output: verify, decompress, decode, cast.

use super::element::{Element, cast};
use crate::error::{Error, Result};
use crate::rntuple::encoding::{ColumnType, Encoding};
use crate::rntuple::page;
use crate::rntuple::schema::Column;

/// Where the elements of a page go.
pub enum Out<'a> {
    /// Exactly the wanted elements.
    Bytes(&'a mut [u8]),
    /// All bits of the page, packed; the wanted ones are cut out later.
    Bits(&'a mut Vec<u8>),
}

/// A page to decode.
pub struct Task<'a> {
    /// Sealed bytes without the checksum.
    pub stored: &'a [u8],
    /// The stored checksum when it is to be checked.
    pub checksum: Option<u64>,
    /// Encoding of the column.
    pub encoding: Encoding,
    /// Elements in the page.
    pub elements: usize,
    /// Elements before the wanted ones.
    pub skip: usize,
    /// What the elements are read as.
    pub target: Element,
}

/// A page with all its elements decoded.
pub struct Page {
    /// What the elements are; bits are packed when they are read as bits.
    element: Element,
    /// What they are read as.
    pub target: Element,
    bytes: Vec<u8>,
}

impl Page {
    /// Bytes of memory.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// Memory that one thread uses again and again.
#[derive(Default)]
pub struct Scratch {
    unsealed: Vec<u8>,
    page: Vec<u8>,
    bools: Vec<u8>,
}

impl Task<'_> {
    /// Decodes into `out`.
    ///
    /// # Errors
    /// `Checksum`, `OutOfSpecification` for damaged pages and for values that do not fit.
    pub fn run(&self, out: Out<'_>, scratch: &mut Scratch) -> Result<()> {
        let stored = Element::of_column(self.encoding.column_type);
        match out {
            Out::Bytes(out) if self.target.is_same(stored) && self.is_whole(out) => {
                let Self { stored, checksum, encoding, elements, .. } = self;
                page::unseal(stored, *checksum, encoding, *elements, out, &mut scratch.unsealed)
            }
            Out::Bits(bits) if stored == Element::Bit => {
                // Packed bits are what Arrow wants.
                bits.extend_from_slice(self.open(&mut scratch.unsealed)?);
                Ok(())
            }
            out => {
                let Scratch { unsealed, page, bools } = scratch;
                let from = self.decode(stored, page, unsealed)?;
                self.put(from, page, out, bools)
            }
        }
    }

    /// Decodes the whole page, to be put into several outputs.
    ///
    /// # Errors
    /// As [`Task::run`].
    pub fn page(&self, scratch: &mut Scratch) -> Result<Page> {
        let stored = Element::of_column(self.encoding.column_type);
        let mut bytes = Vec::new();
        let element = if stored == Element::Bit && self.target == Element::Bit {
            bytes.extend_from_slice(self.open(&mut scratch.unsealed)?);
            stored
        } else {
            self.decode(stored, &mut bytes, &mut scratch.unsealed)?
        };
        Ok(Page { element, target: self.target, bytes })
    }

    /// Puts what is wanted of a page that was decoded before into `out`.
    ///
    /// # Errors
    /// As [`Task::run`].
    pub fn take(&self, page: &Page, out: Out<'_>, scratch: &mut Scratch) -> Result<()> {
        match out {
            Out::Bits(bits) if page.element == Element::Bit => {
                bits.extend_from_slice(&page.bytes);
                Ok(())
            }
            out => self.put(page.element, &page.bytes, out, &mut scratch.bools),
        }
    }

    /// Puts the wanted elements of a decoded page, which are `from`, into `out`.
    fn put(&self, from: Element, page: &[u8], out: Out<'_>, bools: &mut Vec<u8>) -> Result<()> {
        match out {
            Out::Bytes(out) => {
                let take = out.len() / self.target.width();
                let wanted = self.skip * from.width()..(self.skip + take) * from.width();
                let wanted = page
                    .get(wanted)
                    .ok_or_else(|| Error::out_of_spec("the page has fewer elements than wanted"))?;
                if self.target.is_same(from) {
                    out.copy_from_slice(wanted);
                    return Ok(());
                }
                cast(from, wanted, self.target, out)
            }
            Out::Bits(bits) => {
                bools.resize(self.elements, 0);
                cast(from, page, Element::Bit, bools)?;
                bits.extend(bools.chunks(8).map(pack));
                Ok(())
            }
        }
    }

    /// Bytes of the whole page once it is decoded, at most.
    pub fn decoded_bytes(&self) -> usize {
        let stored = Element::of_column(self.encoding.column_type);
        let wider = if self.target.width() > stored.width() { self.target } else { stored };
        wider.bytes(self.elements).unwrap_or(usize::MAX)
    }

    fn is_whole(&self, out: &[u8]) -> bool {
        out.len() == self.elements * self.target.width()
    }

    fn open<'s>(&'s self, scratch: &'s mut Vec<u8>) -> Result<&'s [u8]> {
        let size = self.encoding.packed_size(self.elements);
        page::open(self.stored, self.checksum, size, scratch)
    }

    /// Decodes all elements into `page`; what they are. Quantised reals become doubles at once where
    /// doubles are wanted, to keep the precision that single precision would take away.
    fn decode(
        &self,
        stored: Element,
        page: &mut Vec<u8>,
        unsealed: &mut Vec<u8>,
    ) -> Result<Element> {
        let packed = self.open(unsealed)?;
        let quantized = self.encoding.column_type == ColumnType::Real32Quant;
        if quantized && self.target == Element::Float64 {
            page.resize(self.elements * 8, 0);
            self.encoding.decode_f64(packed, self.elements, page)?;
            return Ok(Element::Float64);
        }
        page.resize(self.elements * stored.width(), 0);
        self.encoding.decode(packed, self.elements, page)?;
        Ok(stored)
    }
}

/// The encoding of a column whose type is known.
///
/// # Errors
/// `Unsupported` for types of later specifications, `OutOfSpecification` for bits that cannot be.
pub fn encoding(column: &Column) -> Result<Encoding> {
    let column_type = column.column_type.ok_or_else(|| {
        Error::unsupported(format!("column type {:#06x} is not known", column.type_code))
    })?;
    Encoding::of(column_type, column.bits, column.value_range)
}

/// Up to eight bytes of 0 or 1 as one byte, the first in the lowest bit.
fn pack(bools: &[u8]) -> u8 {
    bools.iter().enumerate().fold(0, |byte, (bit, &value)| byte | value << bit)
}
