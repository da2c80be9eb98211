//! Types of elements in memory, and the casts between them.

use arrow_schema::DataType;

use crate::error::{Error, Result};
use crate::rntuple::encoding::{ColumnType, SWITCH_SIZE};

/// Type of the elements of a stream in memory, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub enum Element {
    /// Packed bits, least significant first.
    Bit,
    /// Raw byte of any 8-bit column.
    Byte,
    /// 8-bit signed integer.
    Int8,
    /// 8-bit unsigned integer.
    UInt8,
    /// 16-bit signed integer.
    Int16,
    /// 16-bit unsigned integer.
    UInt16,
    /// 32-bit signed integer.
    Int32,
    /// 32-bit unsigned integer.
    UInt32,
    /// 64-bit signed integer.
    Int64,
    /// 64-bit unsigned integer.
    UInt64,
    /// IEEE-754 half precision. Only pages have it; fields are read as [`Element::Float32`].
    Float16,
    /// IEEE-754 single precision.
    Float32,
    /// IEEE-754 double precision.
    Float64,
    /// 64-bit end offsets of collections.
    Index,
    /// Index and tag of variants, 12 bytes, see [`crate::rntuple::encoding::switch_parts`].
    Switch,
}

impl Element {
    /// Finds the type for a normalised C++ type name. Returns `None` for names that are not fundamental
    /// types.
    pub fn from_cpp(type_name: &str) -> Option<Self> {
        Some(match type_name {
            "bool" => Self::Bit,
            "char" | "std::int8_t" => Self::Int8,
            "std::byte" | "std::uint8_t" => Self::UInt8,
            "std::int16_t" => Self::Int16,
            "std::uint16_t" => Self::UInt16,
            "std::int32_t" => Self::Int32,
            "std::uint32_t" => Self::UInt32,
            "std::int64_t" => Self::Int64,
            "std::uint64_t" => Self::UInt64,
            "float" => Self::Float32,
            "double" => Self::Float64,
            _ => return None,
        })
    }

    /// The type in which pages of a column type are decoded.
    pub fn of_column(column_type: ColumnType) -> Self {
        use ColumnType as C;
        match column_type {
            C::Bit => Self::Bit,
            C::Byte | C::UInt8 => Self::UInt8,
            C::Char | C::Int8 => Self::Int8,
            C::Int16 | C::SplitInt16 => Self::Int16,
            C::UInt16 | C::SplitUInt16 => Self::UInt16,
            C::Int32 | C::SplitInt32 => Self::Int32,
            C::UInt32 | C::SplitUInt32 => Self::UInt32,
            C::Int64 | C::SplitInt64 => Self::Int64,
            C::UInt64 | C::SplitUInt64 => Self::UInt64,
            C::Real16 | C::SplitReal16 => Self::Float16,
            C::Real32 | C::SplitReal32 | C::Real32Trunc | C::Real32Quant => Self::Float32,
            C::Real64 | C::SplitReal64 => Self::Float64,
            C::Index32 | C::Index64 | C::SplitIndex32 | C::SplitIndex64 => Self::Index,
            C::Switch => Self::Switch,
        }
    }

    /// Size in bytes of `count` elements. `None` if it overflows.
    pub fn bytes(self, count: usize) -> Option<usize> {
        match self {
            Self::Bit => Some(count.div_ceil(8)),
            _ => count.checked_mul(self.width()),
        }
    }

    /// Size in bytes of one element. It is 1 for [`Element::Bit`], whose unpacked form is a byte.
    pub fn width(self) -> usize {
        match self {
            Self::Bit | Self::Byte | Self::Int8 | Self::UInt8 => 1,
            Self::Int16 | Self::UInt16 | Self::Float16 => 2,
            Self::Int32 | Self::UInt32 | Self::Float32 => 4,
            Self::Int64 | Self::UInt64 | Self::Float64 | Self::Index => 8,
            Self::Switch => SWITCH_SIZE,
        }
    }

    /// The Arrow type of an array of these elements.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Bit => DataType::Boolean,
            Self::Int8 => DataType::Int8,
            Self::Byte | Self::UInt8 => DataType::UInt8,
            Self::Int16 => DataType::Int16,
            Self::UInt16 => DataType::UInt16,
            Self::Int32 => DataType::Int32,
            Self::UInt32 => DataType::UInt32,
            Self::Int64 | Self::Index => DataType::Int64,
            Self::UInt64 => DataType::UInt64,
            Self::Float16 => DataType::Float16,
            Self::Float32 => DataType::Float32,
            Self::Float64 => DataType::Float64,
            Self::Switch => DataType::FixedSizeBinary(SWITCH_SIZE as i32),
        }
    }

    /// Whether elements of `stored` may be read as this element (the table of "Fundamental Types").
    pub fn reads(self, stored: Self) -> bool {
        let integer =
            |element: Self| !element.is_float() && !matches!(element, Self::Index | Self::Switch);
        match self {
            Self::Index | Self::Switch => stored == self,
            Self::Float32 | Self::Float64 => stored.is_float(),
            Self::Float16 => false,
            Self::Byte => matches!(stored, Self::Int8 | Self::UInt8),
            _ => integer(stored),
        }
    }

    /// Whether a decoded page of `stored` elements needs no cast to this type.
    pub fn is_same(self, stored: Self) -> bool {
        self == stored || self == Self::Byte && matches!(stored, Self::Int8 | Self::UInt8)
    }

    fn is_float(self) -> bool {
        matches!(self, Self::Float16 | Self::Float32 | Self::Float64)
    }
}

/// Converts elements of type `from` to type `to`; bits are bytes of 0 or 1 in both. Both slices hold the same
/// number of whole elements. An integer that does not fit is an error.
///
/// # Errors
/// `OutOfSpecification` for a value outside the range of `to`, `Unsupported` for pairs that
/// [`Element::reads`] does not allow.
pub fn cast(from: Element, input: &[u8], to: Element, out: &mut [u8]) -> Result<()> {
    use Element as E;
    macro_rules! to_integer {
        ($source:ty) => {
            match to {
                E::Bit => each::<$source, u8>(input, out, |value| Some(u8::from(value != 0))),
                E::Int8 => each::<$source, i8>(input, out, |value| i8::try_from(value).ok()),
                E::UInt8 => each::<$source, u8>(input, out, |value| u8::try_from(value).ok()),
                E::Int16 => each::<$source, i16>(input, out, |value| i16::try_from(value).ok()),
                E::UInt16 => each::<$source, u16>(input, out, |value| u16::try_from(value).ok()),
                E::Int32 => each::<$source, i32>(input, out, |value| i32::try_from(value).ok()),
                E::UInt32 => each::<$source, u32>(input, out, |value| u32::try_from(value).ok()),
                E::Int64 => each::<$source, i64>(input, out, |value| i64::try_from(value).ok()),
                E::UInt64 => each::<$source, u64>(input, out, |value| u64::try_from(value).ok()),
                E::Byte | E::Float16 | E::Float32 | E::Float64 | E::Index | E::Switch => {
                    Err(no_cast(from, to))
                }
            }
        };
    }
    match (from, to) {
        (E::Bit | E::UInt8, _) => to_integer!(u8),
        (E::Int8, _) => to_integer!(i8),
        (E::Int16, _) => to_integer!(i16),
        (E::UInt16, _) => to_integer!(u16),
        (E::Int32, _) => to_integer!(i32),
        (E::UInt32, _) => to_integer!(u32),
        (E::Int64, _) => to_integer!(i64),
        (E::UInt64, _) => to_integer!(u64),
        (E::Float16, E::Float32) => each::<u16, f32>(input, out, |bits| Some(from_half(bits))),
        (E::Float16, E::Float64) => {
            each::<u16, f64>(input, out, |bits| Some(f64::from(from_half(bits))))
        }
        (E::Float32, E::Float64) => each::<f32, f64>(input, out, |value| Some(f64::from(value))),
        // ROOT narrows doubles in float fields the same way: round to nearest.
        #[allow(clippy::cast_possible_truncation)]
        (E::Float64, E::Float32) => each::<f64, f32>(input, out, |value| Some(value as f32)),
        _ => Err(no_cast(from, to)),
    }
}

fn no_cast(from: Element, to: Element) -> Error {
    Error::unsupported(format!("elements stored as {from:?} cannot be read as {to:?}"))
}

/// A number that is stored as little-endian bytes.
trait Number: Copy + std::fmt::Display {
    const WIDTH: usize;
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
}

macro_rules! number {
    ($($type:ty)*) => {$(
        impl Number for $type {
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

number!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

fn each<S: Number, T: Number>(
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

/// IEEE-754 half to single precision, exact.
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
        cast(Element::Int8, &[0xFF], Element::Int64, &mut out).unwrap();
        assert_eq!(i64::from_le_bytes(out), -1);
        cast(Element::UInt8, &[0xFF], Element::Int64, &mut out).unwrap();
        assert_eq!(i64::from_le_bytes(out), 255);
    }

    #[test]
    fn integers_that_do_not_fit_are_refused() {
        let mut out = [0; 1];
        let error = cast(Element::Int16, &300i16.to_le_bytes(), Element::UInt8, &mut out);
        assert_eq!(
            error.unwrap_err().to_string(),
            "stored value 300 does not fit the field's type"
        );
        assert!(cast(Element::Int8, &[0xFF], Element::UInt8, &mut out).is_err());
        assert!(!Element::Float32.reads(Element::Int32));
        assert!(Element::Bit.reads(Element::Int32));
    }
}
