//! Makes capsules of the Arrow PyCapsule interface: arrays, schemas and streams for any Arrow library.

use std::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, RecordBatchReader};
use arrow_schema::{ArrowError, Field, Schema};
use nyssa_root::Error;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors;

/// The interface prescribes the names of capsules.
pub(crate) const ARRAY: &CStr = c"arrow_array";
/// See [`ARRAY`].
pub(crate) const SCHEMA: &CStr = c"arrow_schema";
/// See [`ARRAY`].
pub(crate) const STREAM: &CStr = c"arrow_array_stream";

/// Returns the exception for an error of the Arrow library: what Python gave is not valid Arrow data.
pub(crate) fn arrow_error(error: ArrowError) -> PyErr {
    invalid(&format!("invalid Arrow data: {}", nyssa_root::arrow::shortened(error)))
}

/// Returns the exception for data that Python should not have given.
pub(crate) fn invalid(message: &str) -> PyErr {
    Python::attach(|py| errors::to_python(py, &Error::invalid_argument(message)))
}

/// Returns a capsule of the type, the name and the metadata of a field.
pub(crate) fn field<'py>(py: Python<'py>, field: &Field) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(field).map_err(arrow_error)?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// Returns a capsule of a whole schema.
pub(crate) fn schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(arrow_error)?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// Returns capsules of a field and its array, which share the memory of the array.
pub(crate) fn array<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    of: &Field,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let (data, _): (FFI_ArrowArray, _) = to_ffi(&array.to_data()).map_err(arrow_error)?;
    Ok((field(py, of)?, PyCapsule::new_with_value(py, data, ARRAY)?))
}

/// Returns a capsule of a stream of record batches.
pub(crate) fn stream<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}
