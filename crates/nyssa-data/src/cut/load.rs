//! Converts arrays of fields to values.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use nyssa_root::arrow::{Number, brief, with_integer_type};
use nyssa_root::error::{Error, Result};

use super::value::{Data, Level, Value};

/// The name of the items of a collection. A cut can omit it.
const ITEM: &str = "_0";

/// Returns the values of a field or of members below it. With a `text` these are whether they are equal to it.
pub(super) fn load(array: &ArrayRef, mut path: &[String], text: Option<&str>) -> Result<Value> {
    let mut array = ArrayRef::clone(array);
    let mut levels = Vec::new();
    let mut valid: Option<Vec<bool>> = None;
    loop {
        if array.null_count() > 0 {
            let there = (0..array.len()).map(|index| array.is_valid(index));
            valid = Some(match valid {
                Some(above) => above.into_iter().zip(there).map(|(a, b)| a && b).collect(),
                None => there.collect(),
            });
        }
        array = match array.data_type() {
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                let first = list.value_offsets().first().copied().unwrap_or(0);
                let last = list.value_offsets().last().copied().unwrap_or(0);
                let counted = || list.value_offsets().iter().map(|offset| offset - first);
                levels.push(Level::new(match first {
                    0 => list.offsets().clone(),
                    _ => OffsetBuffer::new(ScalarBuffer::from_iter(counted())),
                }));
                // A missing list is empty.
                valid = None;
                list.values().slice(first as usize, (last - first) as usize)
            }
            DataType::FixedSizeList(_, size) => {
                let stated = Some(*size);
                let size = usize::try_from(*size).unwrap_or(0);
                let list = array.as_fixed_size_list();
                let offsets = OffsetBuffer::from_repeated_length(size, list.len());
                levels.push(Level { offsets, size: stated });
                valid = None;
                list.values().slice(0, size * list.len())
            }
            DataType::Struct(_) => {
                let record = array.as_struct();
                let names = || record.column_names().into_iter();
                let Some((name, rest)) = path.split_first() else {
                    let names = names().collect::<Vec<_>>().join(", ");
                    return Err(Error::invalid_argument(format!(
                        "a record has no value of its own: name a member, {names}"
                    )));
                };
                let member = record.column_by_name(name).ok_or_else(|| {
                    let message = format!("there is no member {name:?}");
                    Error::invalid_argument(message).suggest(name, names())
                })?;
                path = rest;
                ArrayRef::clone(member)
            }
            _ => break,
        };
        path = past_item(path, array.data_type());
    }
    if let Some(name) = path.first() {
        let message = format!("there is no member {name:?}: the field has none");
        return Err(Error::invalid_argument(message));
    }
    let data = match text {
        Some(text) => equal(&array, text)?,
        None => data(&array)?,
    };
    // Half precision is computed as single precision.
    let number = match array.data_type() {
        DataType::Float16 => Number::Float32,
        other => Number::of_data_type(other).unwrap_or(data.number()),
    };
    let number = if text.is_some() { Number::Bool } else { number };
    Ok(Value { levels, data, number, valid, constant: false })
}

/// Removes the name of a collection's items from the path, unless the items have a member with this name.
fn past_item<'a>(path: &'a [String], items: &DataType) -> &'a [String] {
    let member = matches!(items, DataType::Struct(members) if members.find(ITEM).is_some());
    match path {
        [first, rest @ ..] if first == ITEM && !member => rest,
        [first, second, ..] if first == ITEM && second == ITEM => &path[1..],
        path => path,
    }
}

/// Makes missing truth values false.
pub(super) fn present(value: Value, valid: Option<&[bool]>) -> Value {
    let data = match (value.data, valid) {
        (Data::Bool(bits), Some(valid)) => {
            Data::Bool(bits.into_iter().zip(valid).map(|(bit, valid)| bit && *valid).collect())
        }
        (data, _) => data,
    };
    Value { data, valid: None, ..value }
}

/// Returns whether each value is equal to a text.
fn equal(array: &ArrayRef, text: &str) -> Result<Data> {
    fn bits<'a>(values: impl Iterator<Item = Option<&'a [u8]>>, text: &str) -> Data {
        Data::Bool(values.map(|value| value == Some(text.as_bytes())).collect())
    }
    Ok(match array.data_type() {
        DataType::Utf8 => bits(array.as_string::<i32>().iter().map(|v| v.map(str::as_bytes)), text),
        DataType::LargeUtf8 => {
            bits(array.as_string::<i64>().iter().map(|v| v.map(str::as_bytes)), text)
        }
        DataType::Binary => bits(array.as_binary::<i32>().iter(), text),
        DataType::LargeBinary => bits(array.as_binary::<i64>().iter(), text),
        other => {
            let message = format!("values of type {} are no text", brief(other));
            return Err(Error::invalid_argument(message));
        }
    })
}

fn data(array: &ArrayRef) -> Result<Data> {
    fn integers<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &ArrayRef) -> Result<Data> {
        let values = array.as_primitive::<T>().values().iter().map(|&value| value.into());
        // The search is empty code for all types whose values fit.
        if let Some(value) = values.clone().find(|&value: &i128| value > i64::MAX.into()) {
            return Err(Error::invalid_argument(format!(
                "the value {value} is too large: integers of expressions have 64 bits and a sign"
            )));
        }
        Ok(Data::Integer(values.map(|value| value as i64).collect()))
    }
    fn reals<T: ArrowPrimitiveType<Native: Into<f64>>>(array: &ArrayRef) -> Data {
        let values = array.as_primitive::<T>().values();
        Data::Real(values.iter().map(|&value| value.into()).collect())
    }
    Ok(match array.data_type() {
        DataType::Boolean => Data::Bool(array.as_boolean().values().iter().collect()),
        DataType::Float16 => reals::<Float16Type>(array),
        DataType::Float32 => reals::<Float32Type>(array),
        DataType::Float64 => reals::<Float64Type>(array),
        DataType::LargeBinary | DataType::Binary | DataType::Utf8 | DataType::LargeUtf8 => {
            return Err(Error::invalid_argument("text is only compared: == \"…\" or != \"…\""));
        }
        other => {
            let message = || format!("values of type {} cannot be used here", brief(other));
            return with_integer_type!(other,
                T => integers::<T>(array), _ => Err(Error::invalid_argument(message())));
        }
    })
}
