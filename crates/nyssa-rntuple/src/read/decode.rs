//! Verifies, decompresses, decodes and casts one page, into its place in the output.

use nyssa_root::arrow::Number;
use nyssa_root::error::{Error, Result};

use super::element::{Element, cast};
use crate::encoding::{ColumnType, Encoding};
use crate::page;
use crate::schema::Column;

/// The output of the elements of a page.
pub(super) enum PageOutput<'a> {
    /// The memory for exactly the wanted elements.
    Bytes(&'a mut [u8]),
    /// All bits of the page, packed. The wanted bits are cut out later.
    Bits(&'a mut Vec<u8>),
}

/// One page that is to be decoded.
pub(super) struct PageTask<'a> {
    /// The sealed bytes without the checksum.
    pub stored: &'a [u8],
    /// The stored checksum. `None` skips the verification.
    pub checksum: Option<u64>,
    /// The encoding of the column.
    pub encoding: Encoding,
    /// The number of elements in the page.
    pub elements: usize,
    /// The number of elements before the wanted elements.
    pub skip: usize,
    /// The type as which the elements are read.
    pub target: Element,
}

/// A page with all elements decoded.
pub(super) struct DecodedPage {
    /// The type of the elements in memory. Bits are packed when they are read as bits.
    element: Element,
    /// The type as which the elements are read.
    pub target: Element,
    bytes: Vec<u8>,
}

impl DecodedPage {
    /// Returns the size in memory, in bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// The buffers that one thread uses for all its pages.
#[derive(Default)]
pub(super) struct Scratch {
    /// The buffer for a decompressed page that goes to a cache.
    pub decompressed: Vec<u8>,
    unsealed: Vec<u8>,
    page: Vec<u8>,
    bools: Vec<u8>,
}

impl PageTask<'_> {
    /// Decodes the wanted elements into `out`.
    ///
    /// # Errors
    /// `Checksum`; `OutOfSpecification` for damaged pages and for values that do not fit in the type of the
    /// field.
    pub(super) fn run(&self, out: PageOutput<'_>, scratch: &mut Scratch) -> Result<()> {
        let stored = Element::of_column(self.encoding.column_type);
        match out {
            PageOutput::Bytes(out) if self.target.is_same(stored) && self.is_whole(out) => {
                let Self { stored, checksum, encoding, elements, .. } = self;
                page::unseal(stored, *checksum, encoding, *elements, out, &mut scratch.unsealed)
            }
            PageOutput::Bits(bits) if stored == Element::BIT => {
                // Arrow packs bits in the same way.
                bits.extend_from_slice(self.open(&mut scratch.unsealed)?);
                Ok(())
            }
            out => {
                let Scratch { unsealed, page, bools, .. } = scratch;
                let from = self.decode(stored, page, unsealed)?;
                self.put(from, page, out, bools)
            }
        }
    }

    /// Decodes the whole page, for several reads.
    ///
    /// # Errors
    /// `Checksum`; `OutOfSpecification` for damaged pages and for values that do not fit in the type of the field.
    pub(super) fn page(&self, scratch: &mut Scratch) -> Result<DecodedPage> {
        let stored = Element::of_column(self.encoding.column_type);
        let mut bytes = Vec::new();
        let element = if stored == Element::BIT && self.target == Element::BIT {
            bytes.extend_from_slice(self.open(&mut scratch.unsealed)?);
            stored
        } else {
            self.decode(stored, &mut bytes, &mut scratch.unsealed)?
        };
        Ok(DecodedPage { element, target: self.target, bytes })
    }

    /// Copies the wanted elements of a decoded page into `out`.
    ///
    /// # Errors
    /// `OutOfSpecification` for values that do not fit in the type of the field.
    pub(super) fn take(
        &self,
        page: &DecodedPage,
        out: PageOutput<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        match out {
            PageOutput::Bits(bits) if page.element == Element::BIT => {
                bits.extend_from_slice(&page.bytes);
                Ok(())
            }
            out => self.put(page.element, &page.bytes, out, &mut scratch.bools),
        }
    }

    /// Copies the wanted elements of a decoded page, whose type is `from`, into `out`.
    fn put(
        &self,
        from: Element,
        page: &[u8],
        out: PageOutput<'_>,
        bools: &mut Vec<u8>,
    ) -> Result<()> {
        match out {
            PageOutput::Bytes(out) => {
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
            PageOutput::Bits(bits) => {
                bools.resize(self.elements, 0);
                cast(from, page, Element::BIT, bools)?;
                bits.extend(bools.chunks(8).map(pack));
                Ok(())
            }
        }
    }

    /// Returns the maximum size in bytes of the decoded page.
    pub(super) fn decoded_bytes(&self) -> usize {
        let stored = Element::of_column(self.encoding.column_type);
        let wider = if self.target.width() > stored.width() { self.target } else { stored };
        wider.bytes(self.elements).unwrap_or(usize::MAX)
    }

    fn is_whole(&self, out: &[u8]) -> bool {
        out.len() == self.elements * self.target.width()
    }

    /// Verifies and decompresses the page.
    ///
    /// # Errors
    /// `Checksum`; `OutOfSpecification` for damaged pages.
    pub(super) fn open<'s>(&'s self, scratch: &'s mut Vec<u8>) -> Result<&'s [u8]> {
        let size = self.encoding.packed_size(self.elements);
        page::open(self.stored, self.checksum, size, scratch)
    }

    /// Decodes all elements into `page` and returns their type. Quantized reals become doubles at once where
    /// doubles are wanted, because single precision would lose precision.
    fn decode(
        &self,
        stored: Element,
        page: &mut Vec<u8>,
        unsealed: &mut Vec<u8>,
    ) -> Result<Element> {
        let packed = self.open(unsealed)?;
        let quantized = self.encoding.column_type == ColumnType::Real32Quant;
        if quantized && self.target == Element::Number(Number::Float64) {
            page.resize(self.elements * 8, 0);
            self.encoding.decode_f64(packed, self.elements, page)?;
            return Ok(Element::Number(Number::Float64));
        }
        page.resize(self.elements * stored.width(), 0);
        self.encoding.decode(packed, self.elements, page)?;
        Ok(stored)
    }
}

/// Returns the encoding of a column.
///
/// # Errors
/// `Unsupported` for types of later specifications; `OutOfSpecification` for bits that the type does not allow.
pub(super) fn encoding(column: &Column) -> Result<Encoding> {
    let column_type = column.column_type.ok_or_else(|| {
        Error::unsupported(format!("column type {:#06x} is not known", column.type_code))
    })?;
    Encoding::of(column_type, column.bits, column.value_range)
}

/// Packs up to eight bytes of 0 or 1 into one byte. The first byte goes to the lowest bit.
fn pack(bools: &[u8]) -> u8 {
    bools.iter().enumerate().fold(0, |byte, (bit, &value)| byte | value << bit)
}
