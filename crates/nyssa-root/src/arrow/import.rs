//! Turns the arrays of other Arrow libraries into the types that nyssa writes.

use std::slice::from_ref;
use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, LargeBinaryArray, LargeListArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType, Field};
use arrow_select::take::{TakeOptions, take};

use super::{STRING, children, with_children};

/// Returns the field of what [`normalise`] returns.
pub fn normal_field(original: &Field) -> Field {
    let string = || {
        Field::new(original.name(), DataType::LargeBinary, original.is_nullable())
            .with_metadata([(STRING.0.to_owned(), STRING.1.to_owned())])
    };
    let child = |field: &Arc<Field>| Arc::new(normal_field(field));
    let data_type = match original.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => return string(),
        DataType::BinaryView => DataType::LargeBinary,
        DataType::Dictionary(_, values) => {
            return normal_field(&original.clone().with_data_type(values.as_ref().clone()));
        }
        DataType::LargeList(item) => DataType::LargeList(child(item)),
        DataType::List(item) => DataType::LargeList(child(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(child(item), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(child).collect()),
        other => other.clone(),
    };
    original.clone().with_data_type(data_type)
}

/// Returns the same values in the types that nyssa writes: 64-bit offsets, strings as marked bytes, no views, and the
/// values of dictionaries.
///
/// # Errors
/// Returns an error for an array that is not of the type that its field says.
pub fn normalise(array: &ArrayRef, original: &Field) -> Result<(ArrayRef, Field), ArrowError> {
    let field = normal_field(original);
    Ok((rebuild(array, &field)?, field))
}

fn rebuild(array: &ArrayRef, field: &Field) -> Result<ArrayRef, ArrowError> {
    let wide = |offsets: &OffsetBuffer<i32>| {
        OffsetBuffer::new(offsets.iter().map(|&offset| i64::from(offset)).collect())
    };
    let large = |offsets, values, nulls| -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(LargeBinaryArray::try_new(offsets, values, nulls)?))
    };
    match (array.data_type(), field.data_type()) {
        (DataType::Dictionary(..), _) => {
            let dictionary = array.as_any_dictionary();
            let options = TakeOptions { check_bounds: true };
            rebuild(&take(dictionary.values(), dictionary.keys(), Some(options))?, field)
        }
        (DataType::Utf8, _) => {
            let (offsets, values, nulls) = array.as_string::<i32>().clone().into_parts();
            large(wide(&offsets), values, nulls)
        }
        (DataType::LargeUtf8, _) => {
            let (offsets, values, nulls) = array.as_string::<i64>().clone().into_parts();
            large(offsets, values, nulls)
        }
        (DataType::Utf8View, _) => {
            let mut builder = LargeBinaryBuilder::new();
            array.as_string_view().iter().for_each(|text| builder.append_option(text));
            Ok(Arc::new(builder.finish()))
        }
        (DataType::BinaryView, _) => {
            let mut builder = LargeBinaryBuilder::new();
            array.as_binary_view().iter().for_each(|bytes| builder.append_option(bytes));
            Ok(Arc::new(builder.finish()))
        }
        (DataType::List(_), DataType::LargeList(item)) => {
            let (_, offsets, values, nulls) = array.as_list::<i32>().clone().into_parts();
            let values = rebuild(&values, item)?;
            Ok(Arc::new(LargeListArray::try_new(Arc::clone(item), wide(&offsets), values, nulls)?))
        }
        (_, to) => {
            let fields = match to {
                DataType::LargeList(item) | DataType::FixedSizeList(item, _) => from_ref(item),
                DataType::Struct(fields) => fields,
                _ => return Ok(Arc::clone(array)),
            };
            let children = children(array);
            let children = children.iter().zip(fields).map(|(child, field)| rebuild(child, field));
            with_children(array, to, &children.collect::<Result<Vec<_>, _>>()?)
        }
    }
}
