//! Arrays for other Arrow libraries: strings as `LargeUtf8`, once their bytes are known to be UTF-8.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, LargeListArray, LargeStringArray, StructArray,
};
use arrow_schema::{ArrowError, DataType, Field};
use nyssa::arrow::STRING;
use nyssa::{Error, Result};

/// The field other Arrow libraries see.
pub fn export_field(field: &Field) -> Field {
    if is_string(field) {
        return Field::new(field.name(), DataType::LargeUtf8, field.is_nullable());
    }
    let child = |field: &Arc<Field>| Arc::new(export_field(field));
    let data_type = match field.data_type() {
        DataType::LargeList(item) => DataType::LargeList(child(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(child(item), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(child).collect()),
        other => other.clone(),
    };
    field.clone().with_data_type(data_type)
}

/// `array` of `field` with the type of [`export_field`]. Shares all memory.
///
/// # Errors
/// `InvalidArgument` when a string is not UTF-8.
pub fn export(array: &ArrayRef, field: &Field) -> Result<ArrayRef> {
    rebuild(array, field).map_err(|error| {
        Error::invalid_argument(format!(
            "{} has strings that are not UTF-8, which Arrow cannot hold; read it with \
             library=\"np\" or \"ak\" ({error})",
            field.name()
        ))
    })
}

/// Whether `field` holds strings.
pub fn is_string(field: &Field) -> bool {
    *field.data_type() == DataType::LargeBinary
        && field.metadata().get(STRING.0).is_some_and(|kind| kind == STRING.1)
}

fn rebuild(array: &ArrayRef, field: &Field) -> std::result::Result<ArrayRef, ArrowError> {
    if is_string(field) {
        let (offsets, values, nulls) = array.as_binary::<i64>().clone().into_parts();
        return Ok(Arc::new(LargeStringArray::try_new(offsets, values, nulls)?));
    }
    Ok(match field.data_type() {
        DataType::LargeList(item) => {
            let (_, offsets, values, nulls) = array.as_list::<i64>().clone().into_parts();
            let values = rebuild(&values, item)?;
            let item = Arc::new(export_field(item));
            Arc::new(LargeListArray::try_new(item, offsets, values, nulls)?)
        }
        DataType::FixedSizeList(item, _) => {
            let list = array.as_fixed_size_list();
            let values = rebuild(list.values(), item)?;
            let item = Arc::new(export_field(item));
            Arc::new(FixedSizeListArray::try_new_with_length(
                item,
                list.value_length(),
                values,
                list.nulls().cloned(),
                list.len(),
            )?)
        }
        DataType::Struct(fields) => {
            let record = array.as_struct();
            let columns = fields
                .iter()
                .zip(record.columns())
                .map(|(field, column)| rebuild(column, field))
                .collect::<std::result::Result<Vec<_>, _>>()?;
            let fields = fields.iter().map(|field| export_field(field)).collect();
            Arc::new(StructArray::try_new_with_length(
                fields,
                columns,
                record.nulls().cloned(),
                record.len(),
            )?)
        }
        _ => Arc::clone(array),
    })
}
