//! An Arrow array of a field → the elements of its columns, recursively (specification, "Mapping of
//! C++ Types to Fields and Columns").
//!
//! Slices of arrays are honoured: offsets start at zero for the first row of the slice, and only the
//! items that the rows cover are taken.

use arrow_array::cast::AsArray;
use arrow_array::types::ByteArrayType;
use arrow_array::{Array, ArrayRef, GenericByteArray};
use arrow_schema::DataType;

use super::elements::{Elements, Offsets};
use crate::encoding::{ColumnType, Native};
use crate::error::{Error, Result, ResultExt};
use crate::schema::{ColumnId, Field, FieldId, Schema, Structure};

/// The elements of one column.
pub(super) struct Shred {
    pub(super) column: ColumnId,
    pub(super) elements: Elements,
}

/// Elements of all columns of a field, in depth-first order. Projected fields have none.
///
/// # Errors
/// `InvalidArgument` when the array does not have the structure of the field or has nulls,
/// `Unsupported` for variants.
pub(super) fn shred(schema: &Schema, field: FieldId, array: &ArrayRef) -> Result<Vec<Shred>> {
    let mut out = Vec::new();
    shred_into(schema, field, array, &mut out)?;
    Ok(out)
}

/// The element of a collection's own column for `offsets`.
pub(super) fn shred_offsets(schema: &Schema, field: FieldId, offsets: Offsets) -> Result<Shred> {
    let [column, ..] = own_columns(schema, field)[..] else {
        return Err(wrong_columns(schema, field));
    };
    index(schema, column, offsets)
}

fn shred_into(schema: &Schema, id: FieldId, array: &ArrayRef, out: &mut Vec<Shred>) -> Result<()> {
    let field = get(schema, id)?;
    if field.source.is_some() {
        return Ok(());
    }
    shred_field(schema, id, field, array, out).at(|place| place.field = Some(schema.path(id)))
}

fn shred_field(
    schema: &Schema,
    id: FieldId,
    field: &Field,
    array: &ArrayRef,
    out: &mut Vec<Shred>,
) -> Result<()> {
    if array.null_count() != 0 {
        return Err(Error::invalid_argument(format!(
            "{} of {} values are null, which a field of type {:?} cannot hold: fill or drop them \
             first",
            array.null_count(),
            array.len(),
            field.type_name
        )));
    }
    let columns = own_columns(schema, id);
    match (field.structure, &columns[..], &field.children[..]) {
        (Structure::Leaf, columns, children) if field.array_size.is_some() => {
            let items = fixed_items(field, array)?;
            match (columns, children) {
                (&[column], []) => leaf(schema, column, &items, out),
                ([], &[child]) => shred_into(schema, child, &items, out),
                _ => Err(wrong_columns(schema, id)),
            }
        }
        (Structure::Leaf, &[column], []) => leaf(schema, column, array, out),
        (Structure::Leaf, [], &[child]) => shred_into(schema, child, array, out),
        (Structure::Leaf | Structure::Streamer, &[first, second], []) => {
            let (offsets, values) = byte_lists(array).ok_or_else(|| mismatch(field, array))??;
            out.push(index(schema, first, offsets)?);
            out.push(Shred { column: second, elements: values });
            Ok(())
        }
        (Structure::Collection, &[column], &[child]) => {
            collection(schema, field, column, child, array, out)
        }
        (Structure::Record, [], children) => {
            let members = array.as_struct_opt().ok_or_else(|| mismatch(field, array))?;
            if members.num_columns() != children.len() {
                return Err(Error::invalid_argument(format!(
                    "a struct of {} members cannot fill a record of {}",
                    members.num_columns(),
                    children.len()
                )));
            }
            let pairs = children.iter().zip(members.columns());
            pairs
                .into_iter()
                .try_for_each(|(&child, member)| shred_into(schema, child, member, out))
        }
        (Structure::Variant, ..) => Err(Error::unsupported("variants cannot be written yet")),
        _ => Err(wrong_columns(schema, id)),
    }
}

fn collection(
    schema: &Schema,
    field: &Field,
    column: ColumnId,
    child: FieldId,
    array: &ArrayRef,
    out: &mut Vec<Shred>,
) -> Result<()> {
    // Bytes as `std::vector<std::byte>`, which Arrow keeps without a child array.
    if let Some(bytes) = byte_lists(array) {
        let (offsets, elements) = bytes?;
        let [values] = own_columns(schema, child)[..] else { return Err(mismatch(field, array)) };
        if column_type(schema, values)?.native() != Native::Bytes(1) {
            return Err(mismatch(field, array));
        }
        out.push(index(schema, column, offsets)?);
        out.push(Shred { column: values, elements });
        return Ok(());
    }
    let (offsets, items) = if let Some(list) = array.as_list_opt::<i32>() {
        (Offsets::Small(list.offsets().inner().clone()), list.values())
    } else if let Some(list) = array.as_list_opt::<i64>() {
        (Offsets::Large(list.offsets().inner().clone()), list.values())
    } else {
        return Err(mismatch(field, array));
    };
    let offsets = offsets.checked(items.len())?;
    let range = offsets.values();
    out.push(index(schema, column, offsets)?);
    shred_into(schema, child, &items.slice(range.start, range.len()), out)
}

/// Offsets and bytes of strings and binaries; `None` for other types.
fn byte_lists(array: &ArrayRef) -> Option<Result<(Offsets, Elements)>> {
    fn split<T: ByteArrayType>(
        array: &GenericByteArray<T>,
        offsets: impl Fn(&GenericByteArray<T>) -> Offsets,
    ) -> Result<(Offsets, Elements)> {
        let values = array.values();
        let offsets = offsets(array).checked(values.len())?;
        let range = offsets.values();
        let values = values.slice_with_length(range.start, range.len());
        Ok((offsets, Elements::Bytes { values, width: 1 }))
    }
    fn small<T: ByteArrayType<Offset = i32>>(array: &GenericByteArray<T>) -> Offsets {
        Offsets::Small(array.offsets().inner().clone())
    }
    fn large<T: ByteArrayType<Offset = i64>>(array: &GenericByteArray<T>) -> Offsets {
        Offsets::Large(array.offsets().inner().clone())
    }
    match array.data_type() {
        DataType::Binary => Some(split(array.as_binary::<i32>(), small)),
        DataType::LargeBinary => Some(split(array.as_binary::<i64>(), large)),
        DataType::Utf8 => Some(split(array.as_string::<i32>(), small)),
        DataType::LargeUtf8 => Some(split(array.as_string::<i64>(), large)),
        _ => None,
    }
}

/// The items of a fixed-size list, those of the slice only.
fn fixed_items(field: &Field, array: &ArrayRef) -> Result<ArrayRef> {
    let list = array.as_fixed_size_list_opt().ok_or_else(|| mismatch(field, array))?;
    let size = u64::try_from(list.value_length()).unwrap_or(0);
    if field.array_size != Some(size) {
        return Err(Error::invalid_argument(format!(
            "lists of {size} items cannot fill a field of type {:?}",
            field.type_name
        )));
    }
    let size = usize::try_from(size).unwrap_or(0);
    let items = list.values();
    let needed = list.len().checked_mul(size).filter(|&needed| needed <= items.len());
    match needed {
        Some(needed) => Ok(items.slice(0, needed)),
        None => Err(Error::invalid_argument("a fixed-size list has too few items")),
    }
}

fn leaf(schema: &Schema, column: ColumnId, array: &ArrayRef, out: &mut Vec<Shred>) -> Result<()> {
    if array.null_count() != 0 {
        return Err(Error::invalid_argument("null items cannot be written: fill them first"));
    }
    let type_name = &schema.field(schema.column(column).field).type_name;
    let elements = Elements::of_leaf(column_type(schema, column)?, type_name, array)?;
    out.push(Shred { column, elements });
    Ok(())
}

fn index(schema: &Schema, column: ColumnId, offsets: Offsets) -> Result<Shred> {
    let column_type = column_type(schema, column)?;
    if column_type.native() != Native::Index {
        return Err(Error::invalid_argument(format!(
            "offsets cannot be stored in a column of type {}",
            column_type.name()
        )));
    }
    Ok(Shred { column, elements: Elements::Offsets(offsets) })
}

fn get(schema: &Schema, id: FieldId) -> Result<&Field> {
    schema
        .fields
        .get(id.0 as usize)
        .ok_or_else(|| Error::invalid_argument(format!("there is no field {} in the schema", id.0)))
}

fn column_type(schema: &Schema, column: ColumnId) -> Result<ColumnType> {
    schema.column(column).column_type.ok_or_else(|| {
        Error::unsupported(format!(
            "columns of the unknown type {:#x} cannot be written",
            schema.column(column).type_code
        ))
    })
}

/// Columns of the first representation: the only one that is written.
fn own_columns(schema: &Schema, field: FieldId) -> Vec<ColumnId> {
    let columns = schema.fields.get(field.0 as usize).map_or(&[][..], |field| &field.columns);
    columns.iter().copied().filter(|&id| schema.column(id).representation == 0).collect()
}

fn mismatch(field: &Field, array: &ArrayRef) -> Error {
    let name = if field.type_name.is_empty() { "untyped" } else { &field.type_name };
    Error::invalid_argument(format!(
        "an array of type {} cannot fill a field of type {name}",
        array.data_type()
    ))
}

fn wrong_columns(schema: &Schema, field: FieldId) -> Error {
    Error::invalid_argument(format!(
        "the columns of {} do not belong to its structure",
        schema.path(field)
    ))
}
