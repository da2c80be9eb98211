//! Numbers of one Arrow type as numbers of another.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{ArrowError, DataType};

use crate::error::{Error, Result};

/// Bits of a number: integers by sign and width, floats by the integers they hold exactly.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Bool,
    Signed(u32),
    Unsigned(u32),
    Float(u32),
}

impl Number {
    pub(super) fn of(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Boolean => Self::Bool,
            DataType::Int8 => Self::Signed(8),
            DataType::Int16 => Self::Signed(16),
            DataType::Int32 => Self::Signed(32),
            DataType::Int64 => Self::Signed(64),
            DataType::UInt8 => Self::Unsigned(8),
            DataType::UInt16 => Self::Unsigned(16),
            DataType::UInt32 => Self::Unsigned(32),
            DataType::UInt64 => Self::Unsigned(64),
            DataType::Float32 => Self::Float(24),
            DataType::Float64 => Self::Float(53),
            _ => return None,
        })
    }

    /// Whether every value is also one of `to`.
    pub(super) fn fits(self, to: Self) -> bool {
        match (self, to) {
            (Self::Bool, _) => true,
            (_, Self::Bool) | (Self::Float(_), Self::Signed(_) | Self::Unsigned(_)) => false,
            (Self::Signed(a), Self::Signed(b)) | (Self::Unsigned(a), Self::Unsigned(b)) => a <= b,
            (Self::Unsigned(a), Self::Signed(b)) => a < b,
            (Self::Signed(_), Self::Unsigned(_)) => false,
            (Self::Signed(a) | Self::Unsigned(a), Self::Float(b)) => a <= b,
            (Self::Float(a), Self::Float(b)) => a <= b,
        }
    }
}

/// Whether [`convert`] is allowed.
pub(super) fn converts(from: &DataType, to: &DataType, narrowing: bool) -> bool {
    let (Some(from), Some(to)) = (Number::of(from), Number::of(to)) else { return false };
    let truncates = matches!(from, Number::Float(_)) && !matches!(to, Number::Float(_));
    from.fits(to) || narrowing && !truncates
}

/// The values of `array` as `to`; nulls stay nulls.
///
/// # Errors
/// `InvalidArgument` naming the first value that does not fit.
pub(super) fn convert(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    macro_rules! integers {
        ($($name:ident => $type:ty),*) => {
            match (array.data_type(), to) {
                $((DataType::$name, _) => from_integers::<$type>(array, to),)*
                (DataType::Boolean, _) => from_booleans(array, to),
                (DataType::Float32, DataType::Float64) => {
                    let floats = array.as_primitive::<Float32Type>();
                    Ok(Arc::new(floats.unary::<_, Float64Type>(f64::from)) as ArrayRef)
                }
                (DataType::Float64, DataType::Float32) => {
                    let floats = array.as_primitive::<Float64Type>();
                    Ok(Arc::new(floats.unary::<_, Float32Type>(|value| value as f32)) as ArrayRef)
                }
                (from, _) => Err(unexpected(from, to)),
            }
        };
    }
    integers!(
        Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type,
        UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type
    )
}

fn from_booleans(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let booleans = array.as_boolean();
    let bytes = booleans.values().iter().map(i8::from).collect::<Vec<_>>();
    let bytes: ArrayRef =
        Arc::new(PrimitiveArray::<Int8Type>::new(bytes.into(), booleans.nulls().cloned()));
    if to == &DataType::Int8 { Ok(bytes) } else { convert(&bytes, to) }
}

fn from_integers<F>(array: &ArrayRef, to: &DataType) -> Result<ArrayRef>
where
    F: ArrowPrimitiveType,
    F::Native: Into<i128>,
{
    let numbers = array.as_primitive::<F>();
    let misfit = |value: i128| ArrowError::CastError(format!("the value {value} is not a {to}"));
    // Floats hold an integer when it comes back the same.
    macro_rules! float {
        ($native:ty, $type:ty) => {
            numbers.try_unary::<_, $type, _>(|value| {
                let wide: i128 = value.into();
                let float = wide as $native;
                if float as i128 == wide { Ok(float) } else { Err(misfit(wide)) }
            })
        };
    }
    macro_rules! targets {
        ($($name:ident => $type:ty),*) => {
            match to {
                $(DataType::$name => shared(numbers.try_unary::<_, $type, _>(|value| {
                    let wide: i128 = value.into();
                    wide.try_into().map_err(|_| misfit(wide))
                })),)*
                DataType::Float32 => shared(float!(f32, Float32Type)),
                DataType::Float64 => shared(float!(f64, Float64Type)),
                DataType::Boolean => {
                    let bit = |value: Option<F::Native>| match value.map_or(0, Into::into) {
                        0 => Ok(false),
                        1 => Ok(true),
                        other => Err(misfit(other)),
                    };
                    let bits = numbers.iter().map(bit).collect::<std::result::Result<Vec<_>, _>>();
                    shared(bits.map(|bits| {
                        BooleanArray::new(BooleanBuffer::from(bits), numbers.nulls().cloned())
                    }))
                }
                _ => Err(unexpected(array.data_type(), to)),
            }
        };
    }
    targets!(
        Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type,
        UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type
    )
}

fn shared<A: Array + 'static>(array: std::result::Result<A, ArrowError>) -> Result<ArrayRef> {
    match array {
        Ok(array) => Ok(Arc::new(array)),
        Err(ArrowError::CastError(message)) => Err(Error::invalid_argument(message)),
        Err(other) => Err(Error::invalid_argument(other.to_string())),
    }
}

fn unexpected(from: &DataType, to: &DataType) -> Error {
    Error::invalid_argument(format!("{from} is not converted to {to}"))
}
