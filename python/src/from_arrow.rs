//! Turns Arrow PyCapsules from Python into arrays of the types that nyssa writes.

use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{ArrayReader, ArrayRef, make_array};
use arrow_schema::{DataType, Field};
use arrow_select::concat::concat;
use nyssa_root::arena::keep_read_only;
use nyssa_root::arrow::{normal_field, normalise};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsule::{ARRAY, SCHEMA, STREAM, arrow_error, invalid};

/// Takes the array from a pair of capsules, which `__arrow_c_array__` returns.
pub(crate) fn from_array_capsules(
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
    keep_read_only(&data);
    normalise(&make_array(data), &field).map_err(arrow_error)
}

/// Takes the arrays from a capsule, which `__arrow_c_stream__` returns, and their field (`Struct` for tables).
pub(crate) fn from_stream_capsule(
    stream: &Bound<'_, PyCapsule>,
) -> PyResult<(Vec<ArrayRef>, Field)> {
    let stream = stream.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds such a struct, valid while the capsule lives; it is moved
    // out, which marks the original as released.
    let reader = unsafe { ArrayStreamReader::from_raw(stream.as_ptr()) }.map_err(arrow_error)?;
    let original = Arc::clone(reader.field());
    let mut field = normal_field(&original);
    let mut arrays = Vec::new();
    for array in reader {
        let array = array.map_err(arrow_error)?;
        keep_read_only(&array.to_data());
        let (array, normal) = normalise(&array, &original).map_err(arrow_error)?;
        field = normal;
        arrays.push(array);
    }
    Ok((arrays, field))
}

/// Joins several arrays of the same type.
pub(crate) fn concatenate(arrays: &[ArrayRef], data_type: &DataType) -> PyResult<ArrayRef> {
    if arrays.is_empty() {
        return Ok(arrow_array::new_empty_array(data_type));
    }
    concat(&arrays.iter().map(AsRef::as_ref).collect::<Vec<_>>()).map_err(arrow_error)
}
