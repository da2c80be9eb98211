//! Turns Arrow PyCapsules from Python into arrays of the types that nyssa writes.

use std::slice::from_ref;
use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{ArrayReader, ArrayRef, LargeBinaryArray, LargeListArray, make_array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType, Field};
use arrow_select::concat::concat;
use nyssa_data::view::evolve::{children, with_children};
use nyssa_root::arrow::STRING;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsule::{ARRAY, SCHEMA, STREAM, arrow_error, invalid};

/// Takes the array from a pair of capsules, which `__arrow_c_array__` returns.
pub fn from_array_capsules(
    schema: &Bound<'_, PyCapsule>,
    array: &Bound<'_, PyCapsule>,
) -> PyResult<(ArrayRef, Field)> {
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: capsules of these names hold such structs, valid while the capsules live; the array
    // is moved out, which marks the original as released.
    let (schema, array) = unsafe { (schema.as_ref(), FFI_ArrowArray::from_raw(array.as_ptr())) };
    let field = Field::try_from(schema).map_err(arrow_error)?;
    if array.is_released() {
        return Err(invalid("the Arrow array has been consumed already"));
    }
    // SAFETY: the producer promises that the array is of the schema.
    let data = unsafe { from_ffi(array, schema) }.map_err(arrow_error)?;
    normalise(&make_array(data), &field).map_err(arrow_error)
}

/// Takes the arrays from a capsule, which `__arrow_c_stream__` returns, and their field (`Struct` for tables).
pub fn from_stream_capsule(stream: &Bound<'_, PyCapsule>) -> PyResult<(Vec<ArrayRef>, Field)> {
    let stream = stream.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds such a struct, valid while the capsule lives; it is moved
    // out, which marks the original as released.
    let reader = unsafe { ArrayStreamReader::from_raw(stream.as_ptr()) }.map_err(arrow_error)?;
    let original = Arc::clone(reader.field());
    let mut field = normal_field(&original);
    let mut arrays = Vec::new();
    for array in reader {
        let (array, normal) =
            array.and_then(|array| normalise(&array, &original)).map_err(arrow_error)?;
        field = normal;
        arrays.push(array);
    }
    Ok((arrays, field))
}

/// Joins several arrays of the same type.
pub fn concatenate(arrays: &[ArrayRef], data_type: &DataType) -> PyResult<ArrayRef> {
    if arrays.is_empty() {
        return Ok(arrow_array::new_empty_array(data_type));
    }
    concat(&arrays.iter().map(AsRef::as_ref).collect::<Vec<_>>()).map_err(arrow_error)
}

/// Returns the field of what [`normalise`] returns.
fn normal_field(original: &Field) -> Field {
    let string = || {
        Field::new(original.name(), DataType::LargeBinary, original.is_nullable())
            .with_metadata([(STRING.0.to_owned(), STRING.1.to_owned())])
    };
    let child = |field: &Arc<Field>| Arc::new(normal_field(field));
    let data_type = match original.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => return string(),
        DataType::BinaryView => DataType::LargeBinary,
        DataType::LargeList(item) => DataType::LargeList(child(item)),
        DataType::List(item) => DataType::LargeList(child(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(child(item), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(child).collect()),
        other => other.clone(),
    };
    original.clone().with_data_type(data_type)
}

/// Returns the same values in the types that nyssa writes: 64-bit offsets, strings as marked bytes, no views.
fn normalise(array: &ArrayRef, original: &Field) -> Result<(ArrayRef, Field), ArrowError> {
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
