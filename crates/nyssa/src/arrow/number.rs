//! The types of numbers in memory: the one list of them. What is done for each of them is a macro here.

use std::sync::Arc;

use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray, types};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;

/// The type of a number in memory. Formats have more ways to store numbers; each refers to one of these.
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

/// Runs the body for the type of a [`Number`], whose Arrow type has the name before the arrow; what bits
/// need is apart.
macro_rules! with_number {
    ($number:expr, $type:ident => $body:expr, bool => $bits:expr) => {{
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
            $crate::arrow::Number::Float32 => with_type!(Float32Type),
            $crate::arrow::Number::Float64 => with_type!(Float64Type),
        }
    }};
}

/// An enum of numbers of one type: bits as the first type, all others in the generic second one.
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
            /// The type of the numbers.
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

/// Runs the body with the values of such an enum; what bits need is apart.
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

/// Makes such an enum for the type of a [`Number`]: for each but bits, of what the body gives.
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

pub(crate) use {each_number, numbers_enum, numbers_of, with_number};

/// A number in memory: its bytes, and itself as a count.
pub(crate) trait Native: Copy {
    /// The numbers that are stored big-endian in `bytes`.
    fn read_be(bytes: &[u8]) -> impl Iterator<Item = Self>;
    /// Appends the number big-endian.
    fn put_be(self, out: &mut Vec<u8>);
    /// An integer that fits; `None` for all others.
    fn to_i64(self) -> Option<i64>;
    /// The array of these numbers.
    fn array(values: Vec<Self>) -> ArrayRef;
}

macro_rules! native {
    ($($type:ty: $arrow:ident, $value:ident => $count:expr;)*) => {$(
        impl Native for $type {
            #[inline]
            fn read_be(bytes: &[u8]) -> impl Iterator<Item = Self> {
                bytes.as_chunks().0.iter().map(|&one| Self::from_be_bytes(one))
            }
            #[inline]
            fn put_be(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_be_bytes());
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
        }
    )*};
}

native! {
    i8: Int8Type, value => Some(value.into());
    u8: UInt8Type, value => Some(value.into());
    i16: Int16Type, value => Some(value.into());
    u16: UInt16Type, value => Some(value.into());
    i32: Int32Type, value => Some(value.into());
    u32: UInt32Type, value => Some(value.into());
    i64: Int64Type, value => Some(value);
    u64: UInt64Type, value => value.try_into().ok();
    f32: Float32Type, _value => None;
    f64: Float64Type, _value => None;
}

impl Number {
    /// The Arrow type.
    pub fn data_type(self) -> DataType {
        with_number!(self, T => T::DATA_TYPE, bool => DataType::Boolean)
    }

    /// Size of a number in bytes; a bool takes one where it is no bit.
    pub fn size(self) -> usize {
        with_number!(self, T => size_of::<<T as ArrowPrimitiveType>::Native>(), bool => 1)
    }

    /// Its C++ type.
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
}
