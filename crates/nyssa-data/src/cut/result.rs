//! Makes an Arrow array of the value of an expression.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeListArray, LargeListArray,
    PrimitiveArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, FieldRef};
use nyssa_root::arrow::{Number, with_integer};

use super::value::{Data, Level, Outcome, Value};

/// Returns the field of results like `value`, whose innermost values may be `missing`.
pub(super) fn field(value: &Value, missing: bool) -> Field {
    let inner = Field::new("item", value.number.data_type(), missing);
    value.levels.iter().rev().fold(inner, |inner, level| {
        let inner = Arc::new(inner);
        let list = match level.size {
            Some(size) => DataType::FixedSizeList(inner, size),
            None => DataType::LargeList(inner),
        };
        Field::new("item", list, false)
    })
}

/// Returns the array of `length` entries of this field.
pub(super) fn array(value: Value, length: usize, field: &Field) -> Outcome<ArrayRef> {
    let value = value.for_entries(length);
    let nulls = value.valid.as_ref().map(|valid| NullBuffer::from_iter(valid.iter().copied()));
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    let mut items = Vec::new();
    let mut inner = field.data_type();
    while let DataType::LargeList(item) | DataType::FixedSizeList(item, _) = inner {
        items.push(Arc::clone(item));
        inner = item.data_type();
    }
    let mut array = numbers(value.data, inner, nulls)?;
    for (level, item) in value.levels.into_iter().zip(items).rev() {
        array = list(array, level, item)?;
    }
    match array.len() == length {
        true => Ok(array),
        false => Err("a field has another number of entries".to_owned()),
    }
}

fn list(array: ArrayRef, level: Level, item: FieldRef) -> Outcome<ArrayRef> {
    let made = match level.size {
        Some(size) => {
            FixedSizeListArray::try_new_with_length(item, size, array, None, level.len() - 1)
                .map(|list| Arc::new(list) as ArrayRef)
        }
        None => LargeListArray::try_new(item, level.offsets, array, None)
            .map(|list| Arc::new(list) as ArrayRef),
    };
    made.map_err(|error| error.to_string())
}

fn numbers(data: Data, to: &DataType, nulls: Option<NullBuffer>) -> Outcome<ArrayRef> {
    let number = Number::of_data_type(to).unwrap_or(data.number());
    match data {
        Data::Bool(bits) => Ok(Arc::new(BooleanArray::new(bits.into(), nulls))),
        Data::Real(values) if number == Number::Float32 => {
            let values = values.into_iter().map(|value| value as f32).collect();
            Ok(Arc::new(PrimitiveArray::<arrow_array::types::Float32Type>::new(values, nulls)))
        }
        Data::Real(values) => Ok(Arc::new(PrimitiveArray::<arrow_array::types::Float64Type>::new(
            values.into(),
            nulls,
        ))),
        Data::Integer(values) => integers(values, number, nulls),
    }
}

fn integers(values: Vec<i64>, number: Number, nulls: Option<NullBuffer>) -> Outcome<ArrayRef> {
    fn typed<T: ArrowPrimitiveType<Native: TryFrom<i64>>>(
        values: Vec<i64>,
        nulls: Option<NullBuffer>,
    ) -> Outcome<ArrayRef> {
        let typed = |value: i64| {
            T::Native::try_from(value).map_err(|_| format!("{value} is no {}", T::DATA_TYPE))
        };
        let values = values.into_iter().map(typed).collect::<Outcome<Vec<_>>>()?;
        Ok(Arc::new(PrimitiveArray::<T>::new(values.into(), nulls)))
    }
    let other = || Err("the result has another type than before".to_owned());
    with_integer!(number, T => typed::<T>(values, nulls), bool => other(), float => other())
}
