//! Data of the Arrow C data interface, in and out, without copies.

use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, from_ffi_and_data_type, to_ffi};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader, StructArray, make_array};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use nyssa_data::dataset::steps::Batches;
use nyssa_root::arrow::{normalise, shortened};
use nyssa_root::{Error, Result};

use crate::call::not_null;

/// A column that is to be written: its name, and its values.
pub(crate) type Given = (String, ArrayRef);

/// Returns the error for data that break the interface.
pub(crate) fn invalid(error: ArrowError) -> Error {
    Error::invalid_argument(format!("invalid Arrow data: {}", shortened(error)))
}

/// Returns a schema for C.
///
/// # Errors
/// `InvalidArgument` for types that the interface does not have.
pub(crate) fn schema_out(schema: &Schema) -> Result<FFI_ArrowSchema> {
    FFI_ArrowSchema::try_from(schema).map_err(invalid)
}

/// Returns a batch for C: a struct array whose children are the columns.
///
/// # Errors
/// `InvalidArgument` for types that the interface does not have.
pub(crate) fn batch_out(batch: &RecordBatch) -> Result<FFI_ArrowArray> {
    let fields = batch.schema().fields().clone();
    let columns = batch.columns().to_vec();
    let record = StructArray::try_new_with_length(fields, columns, None, batch.num_rows());
    let (array, _) = to_ffi(&record.map_err(invalid)?.to_data()).map_err(invalid)?;
    Ok(array)
}

/// Returns the schema of the caller. It stays with the caller.
///
/// # Errors
/// `InvalidArgument` for null, and for a schema that is no struct of columns.
///
/// # Safety
/// `schema` is null, or a schema that is not released.
pub(crate) unsafe fn schema_in(schema: *const FFI_ArrowSchema) -> Result<Fields> {
    not_null(schema, "the schema")?;
    // SAFETY: it is not null, so the caller promises that it is a schema.
    let field = Field::try_from(unsafe { &*schema }).map_err(invalid)?;
    match field.data_type() {
        DataType::Struct(fields) => Ok(fields.clone()),
        _ => Err(Error::invalid_argument("the schema is no struct of columns")),
    }
}

/// Takes an array of the caller. Functions do this first, so that the array is released even after an error.
///
/// # Errors
/// `InvalidArgument` for null, and for an array that was taken before.
///
/// # Safety
/// `array` is null, or an array of the interface.
pub(crate) unsafe fn take(array: *mut FFI_ArrowArray) -> Result<FFI_ArrowArray> {
    not_null(array, "the array")?;
    // SAFETY: it is not null, so the caller promises that it is an array; it is moved out, which marks it as released.
    let array = unsafe { FFI_ArrowArray::from_raw(array) };
    match array.is_released() {
        true => Err(Error::invalid_argument("the array is released, or was taken before")),
        false => Ok(array),
    }
}

/// Returns the columns of a struct array of the caller. They are of the types of `schema`, or, if it is null, of the first
/// fields of `known`.
///
/// # Errors
/// `InvalidArgument` for an array that does not fit the schema or that has missing rows.
///
/// # Safety
/// `schema` is null, or a schema that is not released. The buffers are as the schema says.
pub(crate) unsafe fn columns_in(
    array: FFI_ArrowArray,
    schema: *const FFI_ArrowSchema,
    known: &[FieldRef],
) -> Result<Vec<Given>> {
    let children = array.num_children();
    let data = match schema.is_null() {
        true => {
            let Some(fields) = known.get(..children) else {
                let fields = known.len();
                let message =
                    format!("the array has {children} columns, but the rows have {fields}");
                return Err(Error::invalid_argument(message));
            };
            // SAFETY: the caller promises that the buffers are as the schema of the rows says.
            unsafe {
                from_ffi_and_data_type(
                    array,
                    DataType::Struct(fields.iter().map(Arc::clone).collect()),
                )
            }
        }
        false => {
            // SAFETY: as above; the children are counted, because the library trusts the schema.
            let fields = unsafe { schema_in(schema) }?;
            if fields.len() != children {
                let message =
                    format!("the array has {children} columns, but its schema {}", fields.len());
                return Err(Error::invalid_argument(message));
            }
            // SAFETY: it is not null, and the caller promises that the buffers are as the schema says.
            unsafe { from_ffi(array, &*schema) }
        }
    };
    let array = make_array(data.map_err(invalid)?);
    let Some(record) = array.as_any().downcast_ref::<StructArray>() else {
        return Err(Error::invalid_argument("the array is no struct of columns"));
    };
    if record.null_count() > 0 {
        return Err(Error::invalid_argument("the array has missing rows"));
    }
    let columns = record.fields().iter().zip(record.columns());
    let column = |(field, column): (&FieldRef, &ArrayRef)| {
        let (column, _) = normalise(column, field).map_err(invalid)?;
        Ok((field.name().clone(), column))
    };
    columns.map(column).collect()
}

/// The batches of a stream.
pub(crate) struct Stream(pub Batches);

impl Iterator for Stream {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // The consumer is C code, which no panic may reach.
        let read = std::panic::AssertUnwindSafe(|| self.0.next_batch());
        let batch = std::panic::catch_unwind(read)
            .unwrap_or_else(|_| Err(Error::out_of_spec("nyssa failed unexpectedly")));
        batch.map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }
}
