//! Converts arrays for Arrow consumers: strings to `LargeUtf8`, dates to `Timestamp`, dates and times of tables to their
//! types, bytes to binaries.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, FixedSizeBinaryArray, FixedSizeListArray, LargeBinaryArray, LargeListArray,
    LargeStringArray, RecordBatch, RecordBatchOptions, StructArray, UnionArray,
    cast::AsArray,
    types::{UInt8Type, UInt32Type},
};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit, UnionFields};

use super::date::timestamps;
use super::time::{TIME, as_time, time_of};
use super::{Date, STRING, VECTORS};
use crate::error::{Error, Result, ResultExt};

/// Returns whether a field is a `LargeBinary` that is marked as a string.
pub fn is_string(field: &Field) -> bool {
    // Only strings in `std::optional<std::string>` are neither.
    let is_text = |name: &String| name == STRING.1 || name.ends_with("std::string>");
    field.data_type() == &DataType::LargeBinary
        && field.metadata().get(STRING.0).is_some_and(is_text)
}

/// Returns whether a field is a list of `std::byte`, which other Arrow libraries have as a binary.
fn is_bytes(field: &Field) -> bool {
    let (DataType::LargeList(item) | DataType::FixedSizeList(item, _)) = field.data_type() else {
        return false;
    };
    let name = field.metadata().get(STRING.0).map_or("", String::as_str);
    let optional = name.strip_prefix("std::optional<").and_then(|name| name.strip_suffix('>'));
    let name = optional.unwrap_or(name);
    // The field of a vector or an array that is not optional has no type of its own, but its items have.
    let is_fixed = matches!(field.data_type(), DataType::FixedSizeList(..));
    let of_bytes = item.metadata().get(STRING.0).is_some_and(|name| name == "std::byte");
    item.data_type() == &DataType::UInt8
        && match is_fixed {
            true => of_bytes || name.starts_with("std::array<std::byte,"),
            false => name == "std::vector<std::byte>" || (name.is_empty() && of_bytes),
        }
}

/// Returns the field that [`export`] makes of `field`.
pub fn export_field(field: &Field) -> Field {
    let date = Date::is_in(field);
    let time = time_of(field);
    let data_type = match time.as_ref().unwrap_or(field.data_type()) {
        time if time.is_temporal() => time.clone(),
        _ if date => DataType::Timestamp(TimeUnit::Second, None),
        DataType::LargeBinary if is_string(field) => DataType::LargeUtf8,
        DataType::LargeList(_) if is_bytes(field) => DataType::LargeBinary,
        DataType::FixedSizeList(_, size) if is_bytes(field) => DataType::FixedSizeBinary(*size),
        DataType::LargeList(item) => DataType::LargeList(Arc::new(export_field(item))),
        DataType::FixedSizeList(item, size) => {
            DataType::FixedSizeList(Arc::new(export_field(item)), *size)
        }
        DataType::Struct(members) => {
            DataType::Struct(members.iter().map(|member| export_field(member)).collect())
        }
        DataType::Union(members, mode) => DataType::Union(export_union_fields(members), *mode),
        _ => return field.clone(),
    };
    let mut metadata = field.metadata().clone();
    metadata.retain(|key, value| {
        key != TIME && key != VECTORS && (key != STRING.0 || value != STRING.1)
    });
    Field::new(field.name(), data_type, field.is_nullable() || date).with_metadata(metadata)
}

/// Returns the schema that other Arrow libraries see.
pub fn export_schema(schema: &Schema) -> Schema {
    Schema::new(schema.fields().iter().map(|field| export_field(field)).collect::<Vec<_>>())
}

/// Returns a batch of `rows` rows of the `exported` form of `schema`.
///
/// # Errors
/// `InvalidArgument` with the field whose bytes are not UTF-8, and for columns that differ in length.
pub fn export_batch(
    schema: &Schema,
    arrays: &[ArrayRef],
    rows: usize,
    exported: &SchemaRef,
) -> Result<RecordBatch> {
    let columns = schema.fields().iter().zip(arrays);
    let columns = columns.map(|(field, array)| export(array, field)).collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(exported), columns, &options).map_err(|error| {
        Error::invalid_argument("columns of one table differ in length").with_source(error)
    })
}

fn export_union_fields(members: &UnionFields) -> UnionFields {
    members.iter().map(|(id, member)| (id, Arc::new(export_field(member)))).collect()
}

/// Checks all strings in `array`, at any depth, and casts them to `LargeUtf8`. Dates are cast to
/// `Timestamp(Second)`, dates and times of tables to their types, lists of bytes to binaries. All buffers but the dates of
/// `TDatime` are shared, not copied.
///
/// # Errors
/// `InvalidArgument` with the field whose bytes are not UTF-8.
pub fn export(array: &ArrayRef, field: &Field) -> Result<ArrayRef> {
    export_at(array, field, field.name())
}

/// Exports the array at a dotted `path`.
fn export_at(array: &ArrayRef, field: &Field, path: &str) -> Result<ArrayRef> {
    if let Some(time) = time_of(field) {
        return as_time(array, &time).map_err(arrow);
    }
    match field.data_type() {
        _ if Date::is_in(field) => {
            let packed = array.as_primitive_opt::<UInt32Type>().ok_or_else(mismatch)?;
            Ok(Arc::new(timestamps(packed)))
        }
        DataType::LargeBinary if is_string(field) => utf8(array).in_field(path),
        DataType::LargeList(_) if is_bytes(field) => binary(array),
        DataType::FixedSizeList(..) if is_bytes(field) => fixed_size_binary(array),
        DataType::LargeList(item) => list(array, item, path),
        DataType::FixedSizeList(item, _) => fixed_size_list(array, item, path),
        DataType::Struct(members) => record(array, members, path),
        DataType::Union(members, _) => union(array, members, path),
        _ => Ok(Arc::clone(array)),
    }
}

fn utf8(array: &ArrayRef) -> Result<ArrayRef> {
    let bytes = array.as_binary_opt::<i64>().ok_or_else(mismatch)?;
    let (offsets, values, nulls) = bytes.clone().into_parts();
    let strings = LargeStringArray::try_new(offsets, values, nulls).map_err(|error| {
        Error::invalid_argument("strings that are not UTF-8, which Arrow cannot hold")
            .with_source(error)
    })?;
    Ok(Arc::new(strings))
}

fn binary(array: &ArrayRef) -> Result<ArrayRef> {
    let list = array.as_list_opt::<i64>().ok_or_else(mismatch)?;
    let (_, offsets, values, nulls) = list.clone().into_parts();
    let bytes = values.as_primitive_opt::<UInt8Type>().ok_or_else(mismatch)?.values().inner();
    let binary = LargeBinaryArray::try_new(offsets, bytes.clone(), nulls);
    Ok(Arc::new(binary.map_err(arrow)?))
}

fn fixed_size_binary(array: &ArrayRef) -> Result<ArrayRef> {
    let list = array.as_fixed_size_list_opt().ok_or_else(mismatch)?;
    let (size, nulls) = (list.value_length(), list.nulls().cloned());
    let values = list.values().as_primitive_opt::<UInt8Type>().ok_or_else(mismatch)?;
    let binary = FixedSizeBinaryArray::try_new(size, values.values().inner().clone(), nulls);
    Ok(Arc::new(binary.map_err(arrow)?))
}

fn list(array: &ArrayRef, item: &Field, path: &str) -> Result<ArrayRef> {
    let list = array.as_list_opt::<i64>().ok_or_else(mismatch)?;
    let (_, offsets, values, nulls) = list.clone().into_parts();
    let values = export_at(&values, item, path)?;
    let list = LargeListArray::try_new(Arc::new(export_field(item)), offsets, values, nulls);
    Ok(Arc::new(list.map_err(arrow)?))
}

fn fixed_size_list(array: &ArrayRef, item: &Field, path: &str) -> Result<ArrayRef> {
    let list = array.as_fixed_size_list_opt().ok_or_else(mismatch)?;
    let values = export_at(list.values(), item, path)?;
    let (size, nulls) = (list.value_length(), list.nulls().cloned());
    let item = Arc::new(export_field(item));
    let list = FixedSizeListArray::try_new_with_length(item, size, values, nulls, list.len());
    Ok(Arc::new(list.map_err(arrow)?))
}

fn record(array: &ArrayRef, members: &Fields, path: &str) -> Result<ArrayRef> {
    let record = array.as_struct_opt().ok_or_else(mismatch)?;
    let columns = members
        .iter()
        .zip(record.columns())
        .map(|(member, column)| export_at(column, member, &format!("{path}.{}", member.name())));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let fields = members.iter().map(|member| export_field(member)).collect();
    let nulls = record.nulls().cloned();
    let record = StructArray::try_new_with_length(fields, columns, nulls, record.len());
    Ok(Arc::new(record.map_err(arrow)?))
}

fn union(array: &ArrayRef, members: &UnionFields, path: &str) -> Result<ArrayRef> {
    let union = array.as_union_opt().ok_or_else(mismatch)?;
    let child = |(id, member): (i8, &FieldRef)| {
        export_at(union.child(id), member, &format!("{path}.{}", member.name()))
    };
    let children = members.iter().map(child).collect::<Result<Vec<_>>>()?;
    let (tags, offsets) = (union.type_ids().clone(), union.offsets().cloned());
    let union = UnionArray::try_new(export_union_fields(members), tags, offsets, children);
    Ok(Arc::new(union.map_err(arrow)?))
}

fn mismatch() -> Error {
    Error::invalid_argument("the array is not of the type that its field says")
}

fn arrow(error: arrow_schema::ArrowError) -> Error {
    mismatch().with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow;
    use arrow_array::LargeBinaryArray;
    use arrow_buffer::{OffsetBuffer, ScalarBuffer};

    fn lists(strings: &[&[u8]]) -> (ArrayRef, Field) {
        let item = Arc::new(arrow::field("item", DataType::LargeBinary));
        let values = Arc::new(LargeBinaryArray::from_iter_values(strings));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(vec![0, strings.len() as i64]));
        let list = LargeListArray::try_new(Arc::clone(&item), offsets, values, None).unwrap();
        (Arc::new(list), arrow::field("names", DataType::LargeList(item)))
    }

    #[test]
    fn nested_strings_become_utf8() {
        let (array, field) = lists(&[b"caf\xC3\xA9", b""]);
        let exported = export(&array, &field).unwrap();
        assert_eq!(exported.data_type(), export_field(&field).data_type());
        let values = exported.as_list::<i64>().values().clone();
        assert_eq!(values.as_string::<i64>().value(0), "café");
    }

    #[test]
    fn bytes_that_are_no_text_name_their_field() {
        let (array, field) = lists(&[b"\xFF"]);
        assert_eq!(
            export(&array, &field).unwrap_err().to_string(),
            "strings that are not UTF-8, which Arrow cannot hold (field names)"
        );
    }
}
