//! Converts numbers of one Arrow type to another.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int8Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{ArrowError, DataType};
use nyssa_root::arrow::{Number, shortened, with_integer};
use nyssa_root::error::{Error, Result};

/// Returns whether [`convert`] can convert `from` to `to`. With `narrowing`, the conversion can lose range or
/// precision. Floats never become integers.
pub(super) fn converts(from: &DataType, to: &DataType, narrowing: bool) -> bool {
    let numbers = Number::of_data_type(from).zip(Number::of_data_type(to));
    let Some((from, to)) = numbers else { return false };
    let truncates = from.is_float() && !to.is_float();
    from.fits(to) || narrowing && !truncates
}

/// Converts the values of `array` to the type `to`. Nulls stay nulls.
///
/// # Errors
/// `InvalidArgument` with the first value that does not fit.
pub(super) fn convert(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let from = array.data_type();
    let numbers = Number::of_data_type(from).zip(Number::of_data_type(to));
    let Some((number, target)) = numbers else { return Err(unexpected(from, to)) };
    with_integer!(number,
    T => from_integers::<T>(array, target),
    bool => from_booleans(array, target),
    float => match (number, target) {
        (Number::Float32, Number::Float64) => {
            let floats = array.as_primitive::<Float32Type>();
            Ok(Arc::new(floats.unary::<_, Float64Type>(f64::from)) as ArrayRef)
        }
        (Number::Float64, Number::Float32) => {
            let floats = array.as_primitive::<Float64Type>();
            Ok(Arc::new(floats.unary::<_, Float32Type>(|value| value as f32)) as ArrayRef)
        }
        _ => Err(unexpected(from, to)),
    })
}

fn from_booleans(array: &ArrayRef, to: Number) -> Result<ArrayRef> {
    let booleans = array.as_boolean();
    let bytes = booleans.values().iter().map(i8::from).collect::<Vec<_>>();
    let bytes: ArrayRef =
        Arc::new(PrimitiveArray::<Int8Type>::new(bytes.into(), booleans.nulls().cloned()));
    if to == Number::Int8 { Ok(bytes) } else { from_integers::<Int8Type>(&bytes, to) }
}

fn from_integers<F>(array: &ArrayRef, to: Number) -> Result<ArrayRef>
where
    F: ArrowPrimitiveType,
    F::Native: Into<i128>,
{
    let numbers = array.as_primitive::<F>();
    let misfit = |value: i128| {
        ArrowError::CastError(format!("the value {value} is not a {}", to.data_type()))
    };
    // A float can represent an integer if the conversion back gives the same integer.
    macro_rules! float {
        ($native:ty, $type:ty) => {
            numbers.try_unary::<_, $type, _>(|value| {
                let wide: i128 = value.into();
                let float = wide as $native;
                if float as i128 == wide { Ok(float) } else { Err(misfit(wide)) }
            })
        };
    }
    let bits = || {
        let bit = |value: Option<F::Native>| match value.map_or(0, Into::into) {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(misfit(other)),
        };
        let bits = numbers.iter().map(bit).collect::<std::result::Result<Vec<_>, _>>()?;
        Ok(BooleanArray::new(BooleanBuffer::from(bits), numbers.nulls().cloned()))
    };
    with_integer!(to,
    T => shared(numbers.try_unary::<_, T, _>(|value| {
        let wide: i128 = value.into();
        wide.try_into().map_err(|_| misfit(wide))
    })),
    bool => shared(bits()),
    float => match to {
        Number::Float32 => shared(float!(f32, Float32Type)),
        _ => shared(float!(f64, Float64Type)),
    })
}

fn shared<A: Array + 'static>(array: std::result::Result<A, ArrowError>) -> Result<ArrayRef> {
    match array {
        Ok(array) => Ok(Arc::new(array)),
        Err(ArrowError::CastError(message)) => Err(Error::invalid_argument(message)),
        Err(other) => Err(Error::invalid_argument(shortened(other))),
    }
}

fn unexpected(from: &DataType, to: &DataType) -> Error {
    Error::invalid_argument(format!("{from} is not converted to {to}"))
}
