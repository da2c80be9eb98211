//! Builds the records of a split branch from the arrays of its sub-branches.

use std::sync::Arc;

use arrow_array::{ArrayRef, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};
use nyssa_root::error::Error;
use nyssa_root::guard;

use super::array;
use crate::model::{Split, SplitMember};

/// Builds the array of a split branch. `of` returns the array of a sub-branch. `offsets` divide the items of
/// a collection into entries. `rows` is the number of entries.
pub(super) fn build(
    split: &Split,
    offsets: Option<OffsetBuffer<i64>>,
    rows: usize,
    of: &dyn Fn(&str) -> Result<ArrayRef, Error>,
) -> Result<ArrayRef, Error> {
    let (record, items) = match split.data_type.clone().map_err(Error::unsupported)? {
        DataType::LargeList(item) => (item.data_type().clone(), true),
        record => (record, false),
    };
    let len = match (&offsets, items) {
        (Some(offsets), true) => guard::to_usize(offsets.last() as u64, "an array")?,
        _ => rows,
    };
    let array = build_record(split, &record, len, items, of)?;
    match offsets {
        None => Ok(array),
        Some(offsets) => array::lists(array, Field::new("item", record, false), offsets),
    }
}

fn build_record(
    split: &Split,
    record: &DataType,
    len: usize,
    items: bool,
    of: &dyn Fn(&str) -> Result<ArrayRef, Error>,
) -> Result<ArrayRef, Error> {
    let DataType::Struct(fields) = record else {
        return Err(Error::unsupported("the split branch is not a record"));
    };
    if fields.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(len, None)));
    }
    let mut arrays = Vec::with_capacity(fields.len());
    for ((_, member), field) in split.members.iter().zip(fields) {
        arrays.push(match member {
            SplitMember::Inside(inside) => build_record(inside, field.data_type(), len, items, of)?,
            SplitMember::Branch(path) if items => array::items(&of(path)?)?,
            SplitMember::Branch(path) => of(path)?,
        });
    }
    let record = StructArray::try_new(fields.clone(), arrays, None);
    Ok(Arc::new(record.map_err(|error| {
        Error::out_of_spec(format!("the sub-branches do not make up objects of one class: {error}"))
    })?))
}
