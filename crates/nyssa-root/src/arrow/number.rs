//! Contains the table of the types of numbers: their names in C++, Arrow types, sizes and ranges. The macros
//! run code for each of the types. All other lists of number types derive from this table.

use std::ops::RangeInclusive;
use std::sync::Arc;

use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray, types};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;

/// The type of a number in memory. A format may store a number in other ways; each of them refers to one of
/// these types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Number {
    Bool,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Float32,
    Float64,
}

/// Runs the body for the type of a [`Number`]. In the body, the name before `=>` is the Arrow type. Booleans
/// have a body of their own.
#[macro_export]
macro_rules! with_number {
    ($number:expr, $type:ident => $body:expr, bool => $bits:expr) => {{
        macro_rules! with_float {
            ($arrow:ident) => {{
                type $type = arrow_array::types::$arrow;
                $body
            }};
        }
        $crate::arrow::with_integer!($number, $type => $body, bool => $bits, float => {
            match $number {
                $crate::arrow::Number::Float32 => with_float!(Float32Type),
                _ => with_float!(Float64Type),
            }
        })
    }};
}

/// Runs the body for the type of a [`Number`] that is an integer. Booleans and floats each have a body of their own.
#[macro_export]
macro_rules! with_integer {
    ($number:expr, $type:ident => $body:expr, bool => $bits:expr, float => $floats:expr) => {{
        macro_rules! with_type {
            ($arrow:ident) => {{
                type $type = arrow_array::types::$arrow;
                $body
            }};
        }
        match $number {
            $crate::arrow::Number::Bool => $bits,
            $crate::arrow::Number::Int8 => with_type!(Int8Type),
            $crate::arrow::Number::UInt8 => with_type!(UInt8Type),
            $crate::arrow::Number::Int16 => with_type!(Int16Type),
            $crate::arrow::Number::UInt16 => with_type!(UInt16Type),
            $crate::arrow::Number::Int32 => with_type!(Int32Type),
            $crate::arrow::Number::UInt32 => with_type!(UInt32Type),
            $crate::arrow::Number::Int64 => with_type!(Int64Type),
            $crate::arrow::Number::UInt64 => with_type!(UInt64Type),
            $crate::arrow::Number::Float32 | $crate::arrow::Number::Float64 => $floats,
        }
    }};
}

/// Runs the body for an Arrow type that is an integer. Other types have a body of their own.
#[macro_export]
macro_rules! with_integer_type {
    ($data_type:expr, $type:ident => $body:expr, _ => $other:expr) => {
        match $crate::arrow::Number::of_data_type($data_type) {
            Some(number) => $crate::arrow::with_integer!(
                number, $type => $body, bool => $other, float => $other),
            None => $other,
        }
    };
}

/// Declares an enum of numbers with a variant for each type. The first parameter is the type that holds booleans. The
/// second parameter is a generic type that holds all other numbers.
#[macro_export]
macro_rules! numbers_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident $(<$life:lifetime>)? { Bool($bits:ty), $of:ident }) => {
        $(#[$meta])*
        #[allow(missing_docs)]
        $vis enum $name $(<$life>)? {
            Bool($bits),
            Int8($of<$($life,)? i8>),
            UInt8($of<$($life,)? u8>),
            Int16($of<$($life,)? i16>),
            UInt16($of<$($life,)? u16>),
            Int32($of<$($life,)? i32>),
            UInt32($of<$($life,)? u32>),
            Int64($of<$($life,)? i64>),
            UInt64($of<$($life,)? u64>),
            Float32($of<$($life,)? f32>),
            Float64($of<$($life,)? f64>),
        }

        impl $(<$life>)? $name $(<$life>)? {
            /// Returns the type of the numbers.
            #[allow(dead_code, reason = "not needed of every such enum")]
            $vis fn number(&self) -> $crate::arrow::Number {
                use $crate::arrow::Number;
                match self {
                    Self::Bool(_) => Number::Bool,
                    Self::Int8(_) => Number::Int8,
                    Self::UInt8(_) => Number::UInt8,
                    Self::Int16(_) => Number::Int16,
                    Self::UInt16(_) => Number::UInt16,
                    Self::Int32(_) => Number::Int32,
                    Self::UInt32(_) => Number::UInt32,
                    Self::Int64(_) => Number::Int64,
                    Self::UInt64(_) => Number::UInt64,
                    Self::Float32(_) => Number::Float32,
                    Self::Float64(_) => Number::Float64,
                }
            }
        }
    };
}

/// Runs the body with the values of such an enum. Booleans have a body of their own.
#[macro_export]
macro_rules! each_number {
    ($name:ident, $numbers:expr, $values:ident => $body:expr, $bits:ident => $other:expr) => {
        match $numbers {
            $name::Bool($bits) => $other,
            $name::Int8($values) => $body,
            $name::UInt8($values) => $body,
            $name::Int16($values) => $body,
            $name::UInt16($values) => $body,
            $name::Int32($values) => $body,
            $name::UInt32($values) => $body,
            $name::Int64($values) => $body,
            $name::UInt64($values) => $body,
            $name::Float32($values) => $body,
            $name::Float64($values) => $body,
        }
    };
}

/// Makes such an enum, for the type of a [`Number`], from the value of the body. Booleans have a body of their
/// own.
#[macro_export]
macro_rules! numbers_of {
    ($name:ident, $number:expr, $type:ident => $body:expr, bool => $bits:expr) => {{
        macro_rules! with_type {
            ($variant:ident, $arrow:ident) => {{
                type $type = arrow_array::types::$arrow;
                $name::$variant($body)
            }};
        }
        match $number {
            $crate::arrow::Number::Bool => $name::Bool($bits),
            $crate::arrow::Number::Int8 => with_type!(Int8, Int8Type),
            $crate::arrow::Number::UInt8 => with_type!(UInt8, UInt8Type),
            $crate::arrow::Number::Int16 => with_type!(Int16, Int16Type),
            $crate::arrow::Number::UInt16 => with_type!(UInt16, UInt16Type),
            $crate::arrow::Number::Int32 => with_type!(Int32, Int32Type),
            $crate::arrow::Number::UInt32 => with_type!(UInt32, UInt32Type),
            $crate::arrow::Number::Int64 => with_type!(Int64, Int64Type),
            $crate::arrow::Number::UInt64 => with_type!(UInt64, UInt64Type),
            $crate::arrow::Number::Float32 => with_type!(Float32, Float32Type),
            $crate::arrow::Number::Float64 => with_type!(Float64, Float64Type),
        }
    }};
}

pub use {each_number, numbers_enum, numbers_of, with_integer, with_integer_type, with_number};

/// A number in memory that can be read and written as big-endian bytes and used as a count.
pub trait Native: Copy {
    /// Reads the numbers that are stored big-endian in `bytes`.
    fn read_be(bytes: &[u8]) -> impl Iterator<Item = Self>;
    /// Appends the number big-endian.
    fn put_be(self, out: &mut Vec<u8>);
    /// Appends numbers big-endian.
    fn put_all_be(values: &[Self], out: &mut Vec<u8>);
    /// Returns the value as an `i64`. Returns `None` for a float and for an integer that does not fit.
    fn to_i64(self) -> Option<i64>;
    /// Makes an array of these numbers.
    fn array(values: Vec<Self>) -> ArrayRef;
    /// Returns the value as an integer and as a float. A float is no integer.
    fn wide(self) -> (i128, f64);
    /// Returns the number with this value, given as an integer and as a float. The value must fit.
    fn narrow(value: (i128, f64)) -> Self;
}

/// The number of values that [`Native::put_all_be`] takes at once.
const PIECE: usize = 1024;

macro_rules! native {
    ($($type:ty: $arrow:ident, $value:ident => $count:expr, $integer:expr, $part:tt;)*) => {$(
        impl Native for $type {
            #[inline]
            fn read_be(bytes: &[u8]) -> impl Iterator<Item = Self> {
                bytes.as_chunks().0.iter().map(|&item| Self::from_be_bytes(item))
            }
            #[inline]
            fn put_be(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_be_bytes());
            }
            fn put_all_be(values: &[Self], out: &mut Vec<u8>) {
                out.reserve(size_of_val(values));
                // The zeros of a piece are still in the nearest cache when the numbers come.
                for piece in values.chunks(PIECE) {
                    let start = out.len();
                    out.resize(start + size_of_val(piece), 0);
                    let (room, _) = out[start..].as_chunks_mut();
                    for (bytes, value) in room.iter_mut().zip(piece) {
                        *bytes = value.to_be_bytes();
                    }
                }
            }
            #[inline]
            fn to_i64(self) -> Option<i64> {
                let $value = self;
                $count
            }
            fn array(values: Vec<Self>) -> ArrayRef {
                let values = ScalarBuffer::from(values);
                Arc::new(PrimitiveArray::<types::$arrow>::new(values, None))
            }
            fn wide(self) -> (i128, f64) {
                let $value = self;
                ($integer, self as f64)
            }
            fn narrow(value: (i128, f64)) -> Self {
                value.$part as Self
            }
        }
    )*};
}

native! {
    i8: Int8Type, value => Some(value.into()), value.into(), 0;
    u8: UInt8Type, value => Some(value.into()), value.into(), 0;
    i16: Int16Type, value => Some(value.into()), value.into(), 0;
    u16: UInt16Type, value => Some(value.into()), value.into(), 0;
    i32: Int32Type, value => Some(value.into()), value.into(), 0;
    u32: UInt32Type, value => Some(value.into()), value.into(), 0;
    i64: Int64Type, value => Some(value), value.into(), 0;
    u64: UInt64Type, value => value.try_into().ok(), value.into(), 0;
    f32: Float32Type, _value => None, 0, 1;
    f64: Float64Type, _value => None, 0, 1;
}

impl Number {
    /// All types.
    pub const ALL: [Self; 11] = [
        Self::Bool,
        Self::Int8,
        Self::UInt8,
        Self::Int16,
        Self::UInt16,
        Self::Int32,
        Self::UInt32,
        Self::Int64,
        Self::UInt64,
        Self::Float32,
        Self::Float64,
    ];

    /// Returns the type whose Arrow type is `data_type`.
    pub fn of_data_type(data_type: &DataType) -> Option<Self> {
        Self::ALL.into_iter().find(|number| number.data_type() == *data_type)
    }

    /// Returns the type of a fundamental C++ type, whose name is in normal form. Characters and bytes are 8-bit
    /// integers.
    pub fn of_type_name(name: &str) -> Option<Self> {
        match name {
            "char" => Some(Self::Int8),
            "std::byte" => Some(Self::UInt8),
            _ => Self::ALL.into_iter().find(|number| number.type_name() == name),
        }
    }

    /// Returns the Arrow type.
    pub fn data_type(self) -> DataType {
        with_number!(self, T => T::DATA_TYPE, bool => DataType::Boolean)
    }

    /// Returns the size in bytes. A `bool` takes one byte.
    pub fn size(self) -> usize {
        with_number!(self, T => size_of::<<T as ArrowPrimitiveType>::Native>(), bool => 1)
    }

    /// Returns the C++ type.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int8 => "std::int8_t",
            Self::UInt8 => "std::uint8_t",
            Self::Int16 => "std::int16_t",
            Self::UInt16 => "std::uint16_t",
            Self::Int32 => "std::int32_t",
            Self::UInt32 => "std::uint32_t",
            Self::Int64 => "std::int64_t",
            Self::UInt64 => "std::uint64_t",
            Self::Float32 => "float",
            Self::Float64 => "double",
        }
    }

    /// Returns whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float32 | Self::Float64)
    }

    /// Returns the range of integers in which the type holds every integer exactly.
    pub fn integers(self) -> RangeInclusive<i128> {
        let digits = match self {
            Self::Float32 => f32::MANTISSA_DIGITS,
            Self::Float64 => f64::MANTISSA_DIGITS,
            _ => {
                return with_integer!(self,
                    T => {
                        type N = <T as ArrowPrimitiveType>::Native;
                        N::MIN.into()..=N::MAX.into()
                    },
                    bool => 0..=1, float => 0..=0);
            }
        };
        -(1 << digits)..=1 << digits
    }

    /// Returns the narrowest type that holds the values of both types, if there is one.
    pub fn common(self, other: Self) -> Option<Self> {
        Self::ALL.into_iter().find(|number| self.fits(*number) && other.fits(*number))
    }

    /// Returns whether every value of this type is also a value of `to`.
    pub fn fits(self, to: Self) -> bool {
        let (own, all) = (self.integers(), to.integers());
        match (self, to) {
            (Self::Bool, _) => true,
            (_, Self::Bool) => false,
            _ if self.is_float() => to.is_float() && self.size() <= to.size(),
            _ => all.contains(own.start()) && all.contains(own.end()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranges come from C++'s `std::numeric_limits`.
    #[test]
    fn what_each_type_holds() {
        for (number, name, size, integers) in [
            (Number::Bool, "bool", 1, 0..=1),
            (Number::Int8, "std::int8_t", 1, -128..=127),
            (Number::UInt16, "std::uint16_t", 2, 0..=65_535),
            (Number::Int32, "std::int32_t", 4, -2_147_483_648..=2_147_483_647),
            (Number::UInt64, "std::uint64_t", 8, 0..=18_446_744_073_709_551_615),
            (Number::Float32, "float", 4, -16_777_216..=16_777_216),
            (Number::Float64, "double", 8, -9_007_199_254_740_992..=9_007_199_254_740_992),
        ] {
            assert_eq!(number.type_name(), name);
            assert_eq!(number.size(), size, "{name}");
            assert_eq!(number.integers(), integers, "{name}");
        }
        for number in Number::ALL {
            assert_eq!(Number::of_type_name(number.type_name()), Some(number));
            assert_eq!(Number::of_data_type(&number.data_type()), Some(number));
        }
    }

    #[test]
    fn which_type_holds_the_values_of_another() {
        for (from, to, fits) in [
            (Number::Bool, Number::Int8, true),
            (Number::Int8, Number::Bool, false),
            (Number::UInt8, Number::Int16, true),
            (Number::UInt8, Number::Int8, false),
            (Number::Int8, Number::UInt64, false),
            (Number::UInt16, Number::Float32, true),
            (Number::Int32, Number::Float32, false),
            (Number::UInt32, Number::Float64, true),
            (Number::Int64, Number::Float64, false),
            (Number::Float32, Number::Float64, true),
            (Number::Float64, Number::Float32, false),
            (Number::Float32, Number::Int64, false),
        ] {
            assert_eq!(from.fits(to), fits, "{from:?} {to:?}");
        }
    }
}
