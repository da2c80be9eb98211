//! Converts the numbers of an Arrow array to elements of a column. Numbers with the right layout are not
//! copied. Every other value is checked, so that no value changes unnoticed.

use std::ops::RangeInclusive;

use arrow_array::cast::AsArray;
use arrow_array::{Array, types as arrow};
use arrow_buffer::{BooleanBuffer, Buffer, ScalarBuffer};
use arrow_schema::DataType;
use nyssa_root::arrow::{Number, brief, with_integer};
use nyssa_root::error::{Error, Result};

use super::elements::Elements;
use crate::encoding::{ColumnType, Encoding, to_half};
use crate::schema::Column;

/// The kind of the values of a field.
enum Values {
    Integers(RangeInclusive<i128>),
    Single,
    Double,
}

/// Converts the values of `array` to elements of `column`, which belongs to a field of C++ type `type_name`.
/// With `round`, doubles are rounded to the single precision of a `float` field.
///
/// # Errors
/// `InvalidArgument` when the array has another type than the field, or a value does not fit in the field or
/// the column.
pub(super) fn elements(
    column: &Column,
    column_type: ColumnType,
    type_name: &str,
    array: &dyn Array,
    round: bool,
) -> Result<Elements> {
    let number = Target { column, column_type, type_name, round };
    if array.is_empty() {
        // An empty array can have any type, for example `Null`.
        return Ok(Elements::Bytes { values: Buffer::default(), width: number.width() });
    }
    let data_type = array.data_type();
    macro_rules! reals {
        ($type:ty, $width:literal) => {{
            let values = array.as_primitive::<$type>().values();
            let wide = values.iter().map(|&value| f64::from(value));
            number.reals(wide, values.inner(), $width)
        }};
    }
    match (Number::of_data_type(data_type), data_type) {
        (Some(integer), _) if !integer.is_float() => with_integer!(integer,
            T => number.integers(array.as_primitive::<T>().values(), integer),
            bool => number.bits(array.as_boolean().values()),
            float => Err(number.mismatch(data_type))),
        (_, DataType::Float16) => reals!(arrow::Float16Type, 2),
        (_, DataType::Float32) => reals!(arrow::Float32Type, 4),
        (_, DataType::Float64) => reals!(arrow::Float64Type, 8),
        (_, other) => Err(number.mismatch(other)),
    }
}

/// Refuses real numbers that a column, which is narrower than its field, cannot store within `error`.
///
/// # Errors
/// `InvalidArgument` with the first such value.
pub(super) fn check_exact(
    column: &Column,
    column_type: ColumnType,
    array: &dyn Array,
    error: f64,
) -> Result<()> {
    let encoding = Encoding::of(column_type, column.bits, column.value_range)?;
    let lost = if let Some(doubles) = array.as_primitive_opt::<arrow::Float64Type>() {
        first_lost(encoding, doubles.values().iter().copied(), true, error)
    } else if let Some(floats) = array.as_primitive_opt::<arrow::Float32Type>() {
        first_lost(encoding, floats.values().iter().map(|&value| value.into()), false, error)
    } else {
        None
    };
    match lost {
        None => Ok(()),
        Some((index, value)) => Err(Error::invalid_argument(format!(
            "value {value} is not kept by a column of type {}",
            column_type.name()
        ))
        .at(|place| place.entry = Some(index as u64))),
    }
}

/// Returns the first value that an encoding cannot store within `error`.
fn first_lost(
    encoding: Encoding,
    values: impl Iterator<Item = f64>,
    double: bool,
    error: f64,
) -> Option<(usize, f64)> {
    values.enumerate().find(|(_, value)| !encoding.keeps(*value, double, error))
}

/// Returns whether an Arrow type holds numbers.
pub(super) fn is_number(data_type: &DataType) -> bool {
    let time = data_type.is_temporal() || matches!(data_type, DataType::Interval(_));
    *data_type == DataType::Boolean || data_type.is_numeric() && !data_type.is_decimal() && !time
}

/// Returns a rank of how similar an Arrow type is to the C++ type `type_name`: 3 for the same type, 2 for the
/// same kind, 1 for other numbers.
pub(super) fn likeness(type_name: &str, data_type: &DataType) -> u8 {
    let kind = Number::of_type_name(type_name).unwrap_or(Number::Int32).data_type();
    let same_kind = kind.is_floating() == data_type.is_floating()
        && kind.is_integer() == data_type.is_integer();
    match (kind == *data_type, same_kind) {
        (true, _) => 3,
        (_, true) => 2,
        _ => 1,
    }
}

/// The form in which the numbers of an array are written.
struct Target<'a> {
    column: &'a Column,
    column_type: ColumnType,
    type_name: &'a str,
    round: bool,
}

impl Target<'_> {
    fn values(&self) -> Values {
        // A type name that is not fundamental has the values of its column.
        let known = Number::of_type_name(self.type_name);
        match known.or(self.column_type.number()) {
            Some(Number::Float64) => Values::Double,
            None | Some(Number::Float32) => Values::Single,
            Some(integer) => Values::Integers(integer.integers()),
        }
    }

    /// Returns the size in bytes of one element in memory. Quantized doubles stay doubles until they are packed.
    fn width(&self) -> usize {
        match (self.column_type, self.values()) {
            (ColumnType::Real32Quant, Values::Double) => 8,
            (other, _) => match other.native() {
                crate::encoding::Native::Bytes(width) => width,
                _ => 1,
            },
        }
    }

    fn bits(&self, bits: &BooleanBuffer) -> Result<Elements> {
        if self.column_type == ColumnType::Bit {
            return Ok(Elements::Bits(bits.clone()));
        }
        if !matches!(self.values(), Values::Integers(_)) {
            return Err(self.mismatch(&DataType::Boolean));
        }
        self.integers_of(bits.iter().map(i128::from))
    }

    fn integers<T>(&self, values: &ScalarBuffer<T>, number: Number) -> Result<Elements>
    where
        T: arrow_buffer::ArrowNativeType + Into<i128>,
    {
        let Values::Integers(range) = self.values() else {
            return self.exact(values.iter().map(|&value| value.into()));
        };
        let stored = stored_integers(self.column_type);
        let stored = stored.ok_or_else(|| self.mismatch(&number.data_type()))?;
        let width = size_of::<T>();
        // Bytes and characters are stored as they are, with or without a sign.
        let raw = width == 1 && matches!(self.type_name, "char" | "std::byte");
        let bounds = number.integers();
        let own = |range: &RangeInclusive<i128>| {
            range.contains(bounds.start()) && range.contains(bounds.end())
        };
        if width == self.width() && (raw || own(&range) && own(&stored)) {
            return Ok(Elements::Bytes { values: values.inner().clone(), width });
        }
        self.integers_of(values.iter().map(|&value| value.into()))
    }

    /// Converts integers and checks that all fit in the field and the column.
    fn integers_of(&self, values: impl Iterator<Item = i128>) -> Result<Elements> {
        let Values::Integers(range) = self.values() else { return Err(self.misfit("a value", 0)) };
        let stored = stored_integers(self.column_type).unwrap_or(0..=0);
        let width = self.width();
        let mut out = Vec::with_capacity(values.size_hint().0.saturating_mul(width));
        for (index, value) in values.enumerate() {
            if !range.contains(&value) || !stored.contains(&value) {
                return Err(self.misfit(value, index));
            }
            out.extend_from_slice(&value.to_le_bytes()[..width]);
        }
        Ok(Elements::Bytes { values: Buffer::from_vec(out), width })
    }

    /// Converts integers for a field of floats, which must store them exactly.
    fn exact(&self, values: impl ExactSizeIterator<Item = i128> + Clone) -> Result<Elements> {
        let double = matches!(self.values(), Values::Double);
        let real = if double { Number::Float64 } else { Number::Float32 };
        let exact = real.integers();
        let misfit = values.clone().enumerate().find(|(_, value)| !exact.contains(value));
        if let Some((index, value)) = misfit {
            return Err(self.misfit(value, index));
        }
        // No float has the width 0, so no buffer is used without conversion.
        self.reals(values.map(|value| value as f64), &Buffer::default(), 0)
    }

    fn reals(
        &self,
        values: impl ExactSizeIterator<Item = f64> + Clone,
        raw: &Buffer,
        raw_width: usize,
    ) -> Result<Elements> {
        use ColumnType as C;
        let double = match self.values() {
            Values::Integers(_) => return Err(self.mismatch(&real_type(raw_width))),
            Values::Single if raw_width == 8 && !self.round => {
                return Err(self.mismatch(&DataType::Float64));
            }
            Values::Single => false,
            Values::Double => true,
        };
        if self.column_type == C::Real32Quant {
            self.check_range(values.clone(), double)?;
        }
        let width = self.width();
        if raw_width == width && (width != 8 || double) {
            return Ok(Elements::Bytes { values: raw.clone(), width });
        }
        let mut out = Vec::with_capacity(values.len().saturating_mul(width));
        for (index, value) in values.enumerate() {
            // A field of floats rounds first, whatever its column stores.
            let single = value as f32;
            let lost = |finite: bool| value.is_finite() && !finite;
            match width {
                8 if double => out.extend_from_slice(&value.to_le_bytes()),
                8 => out.extend_from_slice(&f64::from(single).to_le_bytes()),
                4 if !lost(single.is_finite()) => out.extend_from_slice(&single.to_le_bytes()),
                2 if !lost(to_half(single) & 0x7FFF < 0x7C00) => {
                    out.extend_from_slice(&to_half(single).to_le_bytes());
                }
                _ => return Err(self.misfit(value, index)),
            }
        }
        Ok(Elements::Bytes { values: Buffer::from_vec(out), width })
    }

    /// Checks that all values are in the range of the column. As in ROOT, floats are compared as floats, and
    /// doubles as doubles.
    fn check_range(&self, values: impl Iterator<Item = f64>, double: bool) -> Result<()> {
        let Some((min, max)) = self.column.value_range else { return Ok(()) };
        let value_of = |value: f64| if double { value } else { f64::from(value as f32) };
        // This form of the comparison also refuses NaN.
        let mut outside = values.enumerate().filter(|(_, value)| {
            let value = value_of(*value);
            !(min <= value && value <= max)
        });
        match outside.next() {
            None => Ok(()),
            Some((index, value)) => Err(Error::invalid_argument(format!(
                "value {value} is outside the range {min} to {max} of its quantized column: widen \
                 the range or clip the values"
            ))
            .at(|place| place.entry = Some(index as u64))),
        }
    }

    fn mismatch(&self, data_type: &DataType) -> Error {
        let data_type = brief(data_type);
        Error::invalid_argument(format!(
            "an array of type {data_type} cannot fill a column of type {} of a field of type {}",
            self.column_type.name(),
            self.type_name
        ))
    }

    fn misfit(&self, value: impl std::fmt::Display, index: usize) -> Error {
        Error::invalid_argument(format!(
            "value {value} does not fit a column of type {} of a field of type {}",
            self.column_type.name(),
            self.type_name
        ))
        .at(|place| place.entry = Some(index as u64))
    }
}

fn real_type(width: usize) -> DataType {
    match width {
        2 => DataType::Float16,
        4 => DataType::Float32,
        _ => DataType::Float64,
    }
}

/// Returns the range of integers that a column can store. Returns `None` for columns without integers.
fn stored_integers(column_type: ColumnType) -> Option<RangeInclusive<i128>> {
    column_type.number().filter(|number| !number.is_float()).map(Number::integers)
}
