//! Data of the Arrow C data interface, in and out, without copies.

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type, to_ffi};
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray, make_array};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema};
use nyssa_root::arrow::{normalise, shortened};
use nyssa_root::{Error, Result};

use crate::call::not_null;
use crate::parts::{ArrayParts, check_schema};
use crate::shape;

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
    let schema = unsafe { &*schema };
    // SAFETY: as above.
    unsafe { check_schema(schema) }?;
    let field = Field::try_from(schema).map_err(invalid)?;
    match field.data_type() {
        DataType::Struct(fields) => Ok(fields.clone()),
        _ => Err(Error::invalid_argument("the schema is no struct of columns")),
    }
}

/// Returns the schema of the caller, or no fields for null.
///
/// # Errors
/// `InvalidArgument` for a schema that is no struct of columns.
///
/// # Safety
/// `schema` is null, or a schema that is not released.
pub(crate) unsafe fn schema_or_none(schema: *const FFI_ArrowSchema) -> Result<Fields> {
    match schema.is_null() {
        true => Ok(Fields::empty()),
        // SAFETY: the caller promises it.
        false => unsafe { schema_in(schema) },
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
        true => Err(Error::invalid_argument(
            "the array is released, or was taken by an earlier call: make another for each call",
        )),
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
    let parts = ArrayParts::of(&array);
    let Ok(children) = usize::try_from(parts.n_children) else {
        let message = format!("the array has {} columns", parts.n_children);
        return Err(Error::invalid_argument(message));
    };
    let (fields, owner) = match schema.is_null() {
        true => {
            (known.get(..children).map(|known| known.iter().cloned().collect()), "the rows have")
        }
        // SAFETY: it is not null, so the caller promises that it is a schema.
        false => (Some(unsafe { schema_in(schema) }?), "its schema has"),
    };
    let fields: Fields = fields.unwrap_or_else(|| known.iter().cloned().collect());
    if fields.len() != children {
        let message = format!("the array has {children} columns, but {owner} {}", fields.len());
        return Err(Error::invalid_argument(message));
    }
    if fields.is_empty() && parts.length > 0 {
        return Err(Error::invalid_argument(format!(
            "the array has {} rows without columns, which are not written: a table needs a field for its entries",
            parts.length
        )));
    }
    let data_type = DataType::Struct(fields);
    shape::check(parts, &data_type, "the rows")?;
    // SAFETY: the array has these parts, and the caller promises that the buffers are as the schema says.
    let data = unsafe { from_ffi_and_data_type(array, data_type) };
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
