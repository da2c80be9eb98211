//! Defines the types of elements in memory, and the casts between them.

use std::fmt;

use arrow_array::ArrowPrimitiveType;
use arrow_schema::DataType;
use nyssa_root::arrow::{Number, with_integer};
use nyssa_root::error::{Error, Result};

use crate::encoding::{ColumnType, Native, SWITCH_SIZE};

/// The type of the elements of a stream in memory, little-endian.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Element {
    /// A number. Bits are packed, least significant first.
    Number(Number),
    /// The raw byte of any 8-bit column.
    Byte,
    /// A number of IEEE-754 half precision. Only pages contain it; fields are read in single precision.
    Float16,
    /// 64-bit end offsets of collections.
    Index,
    /// Index and tag of a variant in 12 bytes, see [`crate::encoding::switch_parts`].
    Switch,
}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Number(Number::Bool) => "Bit",
            Self::Number(number) => return number.fmt(f),
            Self::Byte => "Byte",
            Self::Float16 => "Float16",
            Self::Index => "Index",
            Self::Switch => "Switch",
        })
    }
}

impl serde::Serialize for Element {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{self:?}"))
    }
}

impl Element {
    /// A packed bit.
    pub const BIT: Self = Self::Number(Number::Bool);

    /// Returns the type for a normalised C++ type name. Returns `None` for names that are not fundamental
    /// types.
    pub fn from_cpp(type_name: &str) -> Option<Self> {
        Number::of_type_name(type_name).map(Self::Number)
    }

    /// Returns the type in which pages of a column type are decoded.
    pub fn of_column(column_type: ColumnType) -> Self {
        match (column_type.native(), column_type.number()) {
            (Native::Index, _) => Self::Index,
            (Native::Switch, _) => Self::Switch,
            (_, Some(number)) => Self::Number(number),
            // Half precision is the only kind of number without a type in memory.
            (_, None) => Self::Float16,
        }
    }

    /// Returns the size in bytes of `count` elements. Returns `None` if it overflows.
    pub fn bytes(self, count: usize) -> Option<usize> {
        match self {
            Self::BIT => Some(count.div_ceil(8)),
            _ => count.checked_mul(self.width()),
        }
    }

    /// Returns the size in bytes of `count` elements, a number from the metadata. Nothing is allocated by it.
    pub fn bytes_of(self, count: u64) -> u64 {
        match self {
            Self::BIT => count.div_ceil(8),
            _ => count.saturating_mul(self.width() as u64),
        }
    }

    /// Returns the size in bytes of one element. It is 1 for [`Element::BIT`], whose unpacked form is a byte.
    pub fn width(self) -> usize {
        match self {
            Self::Number(number) => number.size(),
            Self::Byte => 1,
            Self::Float16 => 2,
            Self::Index => 8,
            Self::Switch => SWITCH_SIZE,
        }
    }

    /// Returns the Arrow type of an array of these elements.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Number(number) => number.data_type(),
            Self::Byte => DataType::UInt8,
            Self::Index => DataType::Int64,
            Self::Float16 => DataType::Float16,
            Self::Switch => DataType::FixedSizeBinary(SWITCH_SIZE as i32),
        }
    }

    /// Returns whether elements of `stored` may be read as this element (the table of "Fundamental Types").
    pub fn reads(self, stored: Self) -> bool {
        match self {
            Self::Index | Self::Switch => stored == self,
            Self::Float16 => false,
            Self::Byte => stored.is_byte(),
            Self::Number(number) if number.is_float() => stored.is_float(),
            Self::Number(_) => !stored.is_float() && !matches!(stored, Self::Index | Self::Switch),
        }
    }

    /// Returns whether a decoded page of `stored` elements needs no cast to this type.
    pub fn is_same(self, stored: Self) -> bool {
        self == stored || self == Self::Byte && stored.is_byte()
    }

    fn is_float(self) -> bool {
        match self {
            Self::Number(number) => number.is_float(),
            other => other == Self::Float16,
        }
    }

    /// Returns whether the type is an integer of 8 bits.
    fn is_byte(self) -> bool {
        matches!(self, Self::Number(Number::Int8 | Number::UInt8))
    }
}

/// Converts elements of type `from` to type `to`. Bits are bytes of 0 or 1 in both. Both slices hold the same
/// number of whole elements. An integer that does not fit is an error.
///
/// # Errors
/// `OutOfSpecification` for a value outside the range of `to`; `Unsupported` for pairs that [`Element::reads`]
/// does not allow.
pub(super) fn cast(from: Element, input: &[u8], to: Element, out: &mut [u8]) -> Result<()> {
    use Element as E;
    type Of<T> = <T as ArrowPrimitiveType>::Native;
    // Integers of type `S` become numbers of type `to`.
    macro_rules! to_integer {
        ($source:ty, $to:expr) => {
            with_integer!($to,
                T => each::<$source, Of<T>>(input, out, |value| value.try_into().ok()),
                bool => each::<$source, u8>(input, out, |value| Some(u8::from(value != 0))),
                float => Err(no_cast(from, to)))
        };
    }
    match (from, to) {
        (E::Float16, E::Number(Number::Float32)) => {
            each::<u16, f32>(input, out, |bits| Some(from_half(bits)))
        }
        (E::Float16, E::Number(Number::Float64)) => {
            each::<u16, f64>(input, out, |bits| Some(f64::from(from_half(bits))))
        }
        (E::Number(Number::Float32), E::Number(Number::Float64)) => {
            each::<f32, f64>(input, out, |value| Some(f64::from(value)))
        }
        // ROOT also rounds doubles in float fields to nearest.
        #[allow(clippy::cast_possible_truncation)]
        (E::Number(Number::Float64), E::Number(Number::Float32)) => {
            each::<f64, f32>(input, out, |value| Some(value as f32))
        }
        (E::Number(source), E::Number(target)) => with_integer!(source,
            S => to_integer!(Of<S>, target),
            bool => to_integer!(u8, target),
            float => Err(no_cast(from, to))),
        _ => Err(no_cast(from, to)),
    }
}

fn no_cast(from: Element, to: Element) -> Error {
    Error::unsupported(format!("elements stored as {from:?} cannot be read as {to:?}"))
}

/// A number that is stored as little-endian bytes.
trait LittleEndian: Copy + std::fmt::Display {
    const WIDTH: usize;
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
}

macro_rules! little_endian {
    ($($type:ty)*) => {$(
        impl LittleEndian for $type {
            const WIDTH: usize = size_of::<$type>();
            fn read(bytes: &[u8]) -> Self {
                let mut array = [0; size_of::<$type>()];
                array.copy_from_slice(bytes);
                Self::from_le_bytes(array)
            }
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

little_endian!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

fn each<S: LittleEndian, T: LittleEndian>(
    input: &[u8],
    out: &mut [u8],
    convert: impl Fn(S) -> Option<T>,
) -> Result<()> {
    for (from, to) in input.chunks_exact(S::WIDTH).zip(out.chunks_exact_mut(T::WIDTH)) {
        let value = S::read(from);
        let Some(value) = convert(value) else {
            return Err(Error::out_of_spec(format!(
                "stored value {value} does not fit the field's type"
            )));
        };
        value.write(to);
    }
    Ok(())
}

/// Converts IEEE-754 half precision to single precision. This is exact.
fn from_half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10) & 0x1F;
    let mantissa = u32::from(bits) & 0x3FF;
    match (exponent, mantissa) {
        // Zero and subnormals: mantissa * 2^-24, exact in single precision.
        (0, _) => {
            let magnitude = f32::from(bits & 0x3FF) * 2f32.powi(-24);
            f32::from_bits(sign | magnitude.to_bits())
        }
        (0x1F, _) => f32::from_bits(sign | 0x7F80_0000 | mantissa << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | mantissa << 13),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_exact() {
        // IEEE 754-2008, binary16: 1.0, -2.0, 65504 (largest), 2^-24 (smallest), infinity.
        for (bits, value) in [
            (0x3C00, 1.0),
            (0xC000, -2.0),
            (0x7BFF, 65504.0),
            (0x0001, 2f32.powi(-24)),
            (0x0400, 2f32.powi(-14)),
            (0x8000, -0.0),
            (0x7C00, f32::INFINITY),
        ] {
            assert_eq!(from_half(bits).to_bits(), value.to_bits(), "{bits:#06x}");
        }
        assert!(from_half(0x7E00).is_nan());
    }

    #[test]
    fn integers_widen_with_their_sign() {
        let mut out = [0; 8];
        cast(Element::Number(Number::Int8), &[0xFF], Element::Number(Number::Int64), &mut out)
            .unwrap();
        assert_eq!(i64::from_le_bytes(out), -1);
        cast(Element::Number(Number::UInt8), &[0xFF], Element::Number(Number::Int64), &mut out)
            .unwrap();
        assert_eq!(i64::from_le_bytes(out), 255);
    }

    #[test]
    fn integers_that_do_not_fit_are_refused() {
        let mut out = [0; 1];
        let error = cast(
            Element::Number(Number::Int16),
            &300i16.to_le_bytes(),
            Element::Number(Number::UInt8),
            &mut out,
        );
        assert_eq!(
            error.unwrap_err().to_string(),
            "stored value 300 does not fit the field's type"
        );
        assert!(
            cast(Element::Number(Number::Int8), &[0xFF], Element::Number(Number::UInt8), &mut out)
                .is_err()
        );
        assert!(!Element::Number(Number::Float32).reads(Element::Number(Number::Int32)));
        assert!(Element::BIT.reads(Element::Number(Number::Int32)));
    }
}
