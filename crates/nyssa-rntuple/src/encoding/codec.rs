//! Encodes and decodes whole pages of a column.

use ColumnType as T;
use nyssa_observe::{Stage, stage};
use nyssa_root::error::{Error, Result};

use super::quantized::Quantizer;
use super::split::{
    planes, split_u16, split_u32, split_u64, unsplit_u16, unsplit_u32, unsplit_u64,
};
use super::{ColumnType, Native, bits, delta, dispatch, switch, truncated, zigzag};

/// The way in which the elements of a column are laid out in a page (specification, "Column Description").
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Encoding {
    /// The column type on disk.
    pub column_type: ColumnType,
    /// The number of bits of an element on storage. `Real32Trunc` can have 10 to 31 and `Real32Quant` 1 to 32.
    /// Other types have one width.
    pub bits: u16,
    /// The range of values, with both ends. `Real32Quant` needs it. Other types ignore it.
    pub range: Option<(f64, f64)>,
}

impl From<ColumnType> for Encoding {
    /// Makes an encoding with the default bits of the type and no range. This is right for all types but
    /// `Real32Quant`.
    fn from(column_type: ColumnType) -> Self {
        Self { column_type, bits: column_type.bits(), range: None }
    }
}

impl Encoding {
    /// Makes an encoding and checks that its numbers follow the specification.
    ///
    /// # Errors
    /// `OutOfSpecification` for bits the type does not allow, or a quantized type without a finite,
    /// ordered range.
    pub fn of(column_type: ColumnType, bits: u16, range: Option<(f64, f64)>) -> Result<Self> {
        let encoding = Self { column_type, bits, range };
        encoding.check().map(|()| encoding)
    }

    fn check(&self) -> Result<()> {
        let (least, most) = match self.column_type {
            T::Real32Trunc => (10, 31),
            T::Real32Quant => (1, 32),
            fixed => (fixed.bits(), fixed.bits()),
        };
        let name = self.column_type.name();
        if !(least..=most).contains(&self.bits) {
            return Err(Error::out_of_spec(format!(
                "{name} column has {} bits on storage where {} allowed",
                self.bits,
                if least == most {
                    format!("{least} is")
                } else {
                    format!("{least} to {most} are")
                }
            )));
        }
        if self.column_type != T::Real32Quant {
            return Ok(());
        }
        match self.range {
            Some((min, max)) if min.is_finite() && max.is_finite() && min < max => Ok(()),
            Some((min, max)) => Err(Error::out_of_spec(format!(
                "{name} column has {min} to {max} as its range of values"
            ))),
            None => Err(Error::out_of_spec(format!("{name} column has no range of values"))),
        }
    }

    /// Returns the size in bytes of an encoded, uncompressed page of `elements` elements. It saturates.
    pub fn packed_size(&self, elements: usize) -> usize {
        bits::packed_size(elements, self.bits)
    }

    /// Returns the size in bytes of one element in memory, as [`Encoding::decode`] writes it and
    /// [`Encoding::encode`] takes it.
    pub fn native_size(&self) -> usize {
        match self.column_type.native() {
            Native::Bit => 1,
            Native::Bytes(size) => size,
            Native::Index => 8,
            Native::Switch => switch::SWITCH_SIZE,
        }
    }

    /// Returns whether a field of type `double`, or `float`, reads this value from a column with this encoding. It
    /// may differ by `error`; if `error` is 0, all bits must be equal.
    pub fn keeps(&self, value: f64, double: bool, error: f64) -> bool {
        let read = match self.column_type {
            T::Real64 | T::SplitReal64 => return true,
            T::Real32 | T::SplitReal32 => f64::from(value as f32),
            T::Real32Quant if self.check().is_ok() => self.quantizer().nearest(value),
            _ => return false,
        };
        let read = if double { read } else { f64::from(read as f32) };
        read.to_bits() == value.to_bits() || (read - value).abs() <= error && error > 0.0
    }

    /// Decodes a page of `elements` elements into `out`. Each element is little-endian and has
    /// [`Encoding::native_size`] bytes. Bits become bytes of 0 or 1. Both index widths become 64-bit end
    /// offsets as the page stores them (differences are summed up). Half floats stay half floats; truncated
    /// and quantized reals become 32-bit floats.
    ///
    /// # Errors
    /// `OutOfSpecification` when the page does not have the size of `elements` elements, or the encoding is not
    /// allowed; `InvalidArgument` when `out` has another size.
    pub fn decode(&self, packed: &[u8], elements: usize, out: &mut [u8]) -> Result<()> {
        self.check()?;
        self.check_sizes(packed, elements, self.native_size(), out)?;
        let _stage = decoding(packed, out);
        dispatch::widest(
            #[inline(always)]
            || self.decode_checked(packed, out),
        );
        Ok(())
    }

    #[inline(always)]
    fn decode_checked(&self, packed: &[u8], out: &mut [u8]) {
        match self.column_type {
            T::Bit => bits::unpack_bools(packed, out),
            T::SplitUInt16 | T::SplitReal16 => unsplit_u16(planes(packed), of(out), |word| word),
            T::SplitUInt32 | T::SplitReal32 => unsplit_u32(planes(packed), of(out), |word| word),
            T::SplitUInt64 | T::SplitReal64 => unsplit_u64(planes(packed), of(out), |word| word),
            T::SplitInt16 => unsplit_u16(planes(packed), of(out), zigzag::decode_u16),
            T::SplitInt32 => unsplit_u32(planes(packed), of(out), zigzag::decode_u32),
            T::SplitInt64 => unsplit_u64(planes(packed), of(out), zigzag::decode_u64),
            T::SplitIndex32 => delta::decode_index32(packed, of(out)),
            T::SplitIndex64 => delta::decode_index64(packed, of(out)),
            T::Index32 => {
                for (out, word) in of::<8>(out).iter_mut().zip(packed.as_chunks().0) {
                    *out = u64::from(u32::from_le_bytes(*word)).to_le_bytes();
                }
            }
            T::Real32Trunc => truncated::decode(packed, self.bits, of(out)),
            T::Real32Quant => self.quantizer().decode(packed, of(out)),
            _ => out.copy_from_slice(packed),
        }
    }

    /// Decodes a page into 64-bit floats, for fields of type `double`. Quantized reals keep the precision that
    /// [`Encoding::decode`] rounds away. `Real32`, `SplitReal32` and `Real32Trunc` are widened; `Real64` and
    /// `SplitReal64` are decoded as in `decode`.
    ///
    /// # Errors
    /// `OutOfSpecification` when the page has a wrong size or the encoding is not allowed; `InvalidArgument` when
    /// `out` has another size, and for other types.
    pub fn decode_f64(&self, packed: &[u8], elements: usize, out: &mut [u8]) -> Result<()> {
        self.check()?;
        self.check_sizes(packed, elements, 8, out)?;
        match self.column_type {
            T::Real64 | T::SplitReal64 => self.decode(packed, elements, out),
            T::Real32Quant => {
                let _stage = decoding(packed, out);
                self.quantizer().decode_f64(packed, of(out));
                Ok(())
            }
            T::Real32 | T::SplitReal32 | T::Real32Trunc => {
                let (_, narrow) = out.split_at_mut(out.len() / 2);
                self.decode(packed, elements, narrow)?;
                widen_in_place(out);
                Ok(())
            }
            other => Err(Error::invalid_argument(format!(
                "{} column does not hold floats of 32 or 64 bits",
                other.name()
            ))),
        }
    }

    /// Encodes `count` elements with the layout of [`Encoding::decode`] and appends the page to `out`. `Real32Quant`
    /// also takes the 64-bit floats of [`Encoding::decode_f64`]. The size of `elements` distinguishes the two floats.
    ///
    /// # Errors
    /// `InvalidArgument` when `elements` has another size, an offset does not fit in a 32-bit index, or a value
    /// is outside a quantized range. Then `out` is unchanged.
    pub fn encode(&self, elements: &[u8], count: usize, out: &mut Vec<u8>) -> Result<()> {
        self.check()?;
        let bytes_out = self.packed_size(count) as u64;
        let _stage = stage!("encode", bytes_in = elements.len() as u64, bytes_out = bytes_out);
        if self.column_type == T::Real32Quant && count.checked_mul(8) == Some(elements.len()) {
            let (elements, _) = elements.as_chunks();
            let values = elements.iter().map(|element| f64::from_le_bytes(*element));
            return self.quantizer().encode(values, out);
        }
        if count.checked_mul(self.native_size()) != Some(elements.len()) {
            return Err(Error::invalid_argument(format!(
                "{} bytes given for {count} elements of {} bytes",
                elements.len(),
                self.native_size()
            )));
        }
        if matches!(self.column_type, T::Index32 | T::SplitIndex32) {
            check_index32(elements)?;
        }
        if self.column_type == T::Real32Quant {
            let (elements, _) = elements.as_chunks();
            let values = elements.iter().map(|element| f64::from(f32::from_le_bytes(*element)));
            return self.quantizer().encode(values, out);
        }
        dispatch::widest(
            #[inline(always)]
            || self.encode_checked(elements, count, out),
        );
        Ok(())
    }

    #[inline(always)]
    fn encode_checked(&self, elements: &[u8], count: usize, out: &mut Vec<u8>) {
        macro_rules! split {
            ($split:ident $word:ident $map:expr) => {{
                let (elements, _) = elements.as_chunks();
                $split(
                    count,
                    out,
                    #[inline(always)]
                    |first, words| {
                        for (word, element) in words.iter_mut().zip(&elements[first..]) {
                            *word = $map($word::from_le_bytes(*element));
                        }
                    },
                );
            }};
        }
        match self.column_type {
            T::Bit => bits::pack_bools(elements, out),
            T::SplitUInt16 | T::SplitReal16 => split!(split_u16 u16 std::convert::identity),
            T::SplitUInt32 | T::SplitReal32 => split!(split_u32 u32 std::convert::identity),
            T::SplitUInt64 | T::SplitReal64 => split!(split_u64 u64 std::convert::identity),
            T::SplitInt16 => split!(split_u16 u16 zigzag::encode_u16),
            T::SplitInt32 => split!(split_u32 u32 zigzag::encode_u32),
            T::SplitInt64 => split!(split_u64 u64 zigzag::encode_u64),
            T::SplitIndex32 => delta::encode_index32(elements.as_chunks().0, out),
            T::SplitIndex64 => delta::encode_index64(elements.as_chunks().0, out),
            T::Index32 => {
                out.extend(elements.as_chunks::<8>().0.iter().flat_map(|element| {
                    let [b0, b1, b2, b3, ..] = *element;
                    [b0, b1, b2, b3]
                }));
            }
            T::Real32Trunc => truncated::encode(elements.as_chunks().0, self.bits, out),
            _ => out.extend_from_slice(elements),
        }
    }

    /// Makes the quantizer. The encoding was checked, so a `Real32Quant` has its range.
    fn quantizer(&self) -> Quantizer {
        Quantizer::new(self.bits, self.range.unwrap_or_default())
    }

    fn check_sizes(&self, packed: &[u8], elements: usize, size: usize, out: &[u8]) -> Result<()> {
        let expected = self.packed_size(elements);
        if packed.len() != expected {
            return Err(Error::out_of_spec(format!(
                "page of {elements} {} elements has {} bytes where {expected} are needed",
                self.column_type.name(),
                packed.len()
            )));
        }
        if elements.checked_mul(size) != Some(out.len()) {
            return Err(Error::invalid_argument(format!(
                "{} bytes of room given for {elements} elements of {size} bytes",
                out.len()
            )));
        }
        Ok(())
    }
}

fn decoding(packed: &[u8], out: &[u8]) -> Stage {
    stage!("decode", bytes_in = packed.len() as u64, bytes_out = out.len() as u64)
}

/// Returns bytes as elements of `N` bytes. Their sizes were checked before.
#[inline(always)]
fn of<const N: usize>(out: &mut [u8]) -> &mut [[u8; N]] {
    out.as_chunks_mut().0
}

/// Converts the 32-bit floats in the second half of `out` to 64-bit floats in all of it.
fn widen_in_place(out: &mut [u8]) {
    let count = out.len() / 8;
    for index in 0..count {
        // Element `index` is read at byte 4 * (count + index), which is at or after the byte 8 * index that
        // is written. So no element is overwritten before it is read.
        let from = 4 * (count + index);
        if let Some(&narrow) = out[from..].first_chunk::<4>() {
            let wide = f64::from(f32::from_le_bytes(narrow)).to_le_bytes();
            out[8 * index..8 * index + 8].copy_from_slice(&wide);
        }
    }
}

fn check_index32(elements: &[u8]) -> Result<()> {
    let offsets = elements.as_chunks::<8>().0.iter().map(|element| u64::from_le_bytes(*element));
    match offsets.max() {
        Some(largest) if largest > u64::from(u32::MAX) => Err(Error::invalid_argument(format!(
            "collection offset {largest} does not fit a 32-bit index column: use a 64-bit one or \
             smaller clusters"
        ))),
        _ => Ok(()),
    }
}
