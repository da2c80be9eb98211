//! One page into its place in the output: verify, decompress, decode, cast.

use super::element::{Element, cast};
use crate::encoding::{ColumnType, Encoding};
use crate::error::{Error, Result};
use crate::page::unseal;
use crate::schema::Column;

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
    /// Column the page belongs to.
    pub column: &'a Column,
    /// Elements in the page.
    pub elements: usize,
    /// Elements before the wanted ones.
    pub skip: usize,
    /// What the elements are read as.
    pub target: Element,
}

/// Memory that one thread uses again and again.
#[derive(Default)]
pub struct Scratch {
    unsealed: Vec<u8>,
    page: Vec<u8>,
    bytes: Vec<u8>,
}

impl Task<'_> {
    /// Decodes into `out`.
    ///
    /// # Errors
    /// `Checksum`, `OutOfSpecification` for damaged pages and for values that do not fit.
    pub fn run(&self, out: Out<'_>, scratch: &mut Scratch) -> Result<()> {
        let encoding = encoding(self.column)?;
        let stored = Element::of_column(encoding.column_type)
            .ok_or_else(|| Error::unsupported("switch columns cannot be read yet"))?;
        match out {
            Out::Bits(bits) if encoding.column_type == ColumnType::Bit => {
                // Packed bits are what Arrow wants: the page is taken as bytes.
                let bytes = self.elements.div_ceil(8);
                bits.resize(bytes, 0);
                self.unseal(&raw_bytes(), bytes, bits, &mut scratch.unsealed)
            }
            Out::Bits(bits) => {
                let Scratch { unsealed, page, bytes } = scratch;
                page.resize(self.elements * stored.width(), 0);
                self.unseal(&encoding, self.elements, page, unsealed)?;
                bytes.resize(self.elements, 0);
                cast(stored, page, Element::Bit, bytes)?;
                bits.clear();
                bits.extend(bytes.chunks(8).map(pack));
                Ok(())
            }
            Out::Bytes(out) if self.target.is_same(stored) => {
                let width = stored.width();
                if out.len() == self.elements * width {
                    return self.unseal(&encoding, self.elements, out, &mut scratch.unsealed);
                }
                let Scratch { unsealed, page, .. } = scratch;
                page.resize(self.elements * width, 0);
                self.unseal(&encoding, self.elements, page, unsealed)?;
                out.copy_from_slice(self.cut(page, width, out.len() / width)?);
                Ok(())
            }
            Out::Bytes(out) => {
                let wanted = out.len() / self.target.width();
                let Scratch { unsealed, page, bytes } = scratch;
                let quantized = encoding.column_type == ColumnType::Real32Quant;
                let from = if quantized && self.target == Element::Float64 {
                    bytes.resize(encoding.packed_size(self.elements), 0);
                    self.unseal(&raw_bytes(), bytes.len(), bytes, unsealed)?;
                    dequantize(bytes, &encoding, self.elements, page);
                    Element::Float64
                } else {
                    page.resize(self.elements * stored.width(), 0);
                    self.unseal(&encoding, self.elements, page, unsealed)?;
                    stored
                };
                let input = self.cut(page, from.width(), wanted)?;
                if from == self.target {
                    out.copy_from_slice(input);
                    return Ok(());
                }
                cast(from, input, self.target, out)
            }
        }
    }

    fn unseal(
        &self,
        encoding: &Encoding,
        elements: usize,
        out: &mut [u8],
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        unseal(self.stored, self.checksum, encoding, elements, out, scratch)
    }

    /// The wanted elements of a decoded page.
    fn cut<'p>(&self, page: &'p [u8], width: usize, take: usize) -> Result<&'p [u8]> {
        page.get(self.skip * width..(self.skip + take) * width)
            .ok_or_else(|| Error::out_of_spec("the page has fewer elements than wanted"))
    }
}

/// The encoding of a column whose type is known.
pub fn encoding(column: &Column) -> Result<Encoding> {
    let column_type = column.column_type.ok_or_else(|| {
        Error::unsupported(format!("column type {:#06x} is not known", column.type_code))
    })?;
    Ok(Encoding { column_type, bits: column.bits, range: column.value_range })
}

fn raw_bytes() -> Encoding {
    Encoding { column_type: ColumnType::Byte, bits: 8, range: None }
}

/// Up to eight bytes of 0 or 1 as one byte, the first in the lowest bit.
fn pack(bools: &[u8]) -> u8 {
    bools.iter().enumerate().fold(0, |byte, (bit, &value)| byte | value << bit)
}

/// Quantised integers as doubles, without a detour through single precision:
/// `min + q * ((max - min) / (2^bits - 1))`.
fn dequantize(packed: &[u8], encoding: &Encoding, elements: usize, out: &mut Vec<u8>) {
    let (min, max) = encoding.range.unwrap_or_default();
    let bits = u32::from(encoding.bits.min(32));
    let step = (max - min) / f64::from((((1u64 << bits) - 1) & u64::from(u32::MAX)) as u32);
    out.clear();
    let (mut buffer, mut filled) = (0u64, 0);
    let mut bytes = packed.iter();
    for _ in 0..elements {
        while filled < bits {
            buffer |= u64::from(bytes.next().copied().unwrap_or_default()) << filled;
            filled += 8;
        }
        let quantum = (buffer & ((1 << bits) - 1)) as u32;
        buffer >>= bits;
        filled -= bits;
        out.extend_from_slice(&(min + f64::from(quantum) * step).to_le_bytes());
    }
}
