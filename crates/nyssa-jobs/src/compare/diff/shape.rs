//! Compares columns with equal values in different shapes: arrays of fixed size and lists, several dimensions and one
//! dimension, strings and lists of characters. They are compared as flat lists.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, LargeListArray, UInt8Array};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};

use nyssa_root::arrow::lists::is_bytes;

use super::compare::{Relation, lists, relation};

/// The flat list of a type.
struct Flat<'a> {
    item: &'a DataType,
    /// The number of items, if it is fixed.
    size: Option<i64>,
}

/// Returns whether columns of these types can be compared as flat lists.
pub(super) fn alike(a: &DataType, b: &DataType) -> bool {
    if is_bytes(a) != is_bytes(b) {
        return is_characters(a) || is_characters(b);
    }
    let (Some(a), Some(b)) = (flat(a), flat(b)) else { return false };
    let sizes = a.size.zip(b.size).is_none_or(|(a, b)| a == b);
    sizes && relation(a.item, b.item) < Relation::Different
}

fn flat(data_type: &DataType) -> Option<Flat<'_>> {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) => {
            Some(Flat { item: item.data_type(), size: None })
        }
        DataType::FixedSizeList(item, size) => {
            let (mut item, mut size) = (item.data_type(), i64::from(*size));
            while let DataType::FixedSizeList(inner, more) = item {
                size = size.saturating_mul(i64::from(*more));
                item = inner.data_type();
            }
            Some(Flat { item, size: Some(size) })
        }
        _ => None,
    }
}

/// Returns whether a type is a list of bytes, with or without sign.
fn is_characters(data_type: &DataType) -> bool {
    let item = match data_type {
        DataType::List(item) | DataType::LargeList(item) => item.data_type(),
        _ => return false,
    };
    matches!(item, DataType::Int8 | DataType::UInt8)
}

/// Returns `array` as a flat list, if the type `other` can be a flat list, too. An array that cannot become a flat
/// list stays unchanged, and compares as different.
pub(super) fn flattened(array: &ArrayRef, other: &DataType) -> ArrayRef {
    let list = match array.data_type() {
        DataType::FixedSizeList(..) => flattened_array(array),
        own if is_bytes(own) || is_bytes(other) => characters(array),
        _ => None,
    };
    list.unwrap_or_else(|| Arc::clone(array))
}

fn flattened_array(array: &ArrayRef) -> Option<ArrayRef> {
    let (mut items, mut size) = (Arc::clone(array), 1i64);
    while let DataType::FixedSizeList(_, more) = *items.data_type() {
        size = size.checked_mul(i64::from(more))?;
        // The `values` of a slice are already limited to the slice.
        items = Arc::clone(items.as_fixed_size_list().values());
    }
    let count = i64::try_from(array.len()).ok()?;
    let offsets = (0..=count).map(|entry| entry.checked_mul(size)).collect::<Option<Vec<_>>>()?;
    list(offsets, items, array)
}

/// Returns the unsigned bytes of a string or a list.
fn characters(array: &ArrayRef) -> Option<ArrayRef> {
    let texts = lists(array)?;
    let first = texts.offsets.first().copied()?;
    let offsets = texts.offsets.iter().map(|offset| offset - first).collect();
    let items: ArrayRef = match texts.items.data_type() {
        DataType::Int8 => {
            let signed = texts.items.as_primitive::<Int8Type>().values();
            Arc::new(UInt8Array::new(signed.iter().map(|&c| c.cast_unsigned()).collect(), None))
        }
        _ => texts.items,
    };
    list(offsets, items, array)
}

/// Returns a list with the nulls of `array`.
fn list(offsets: Vec<i64>, items: ArrayRef, array: &ArrayRef) -> Option<ArrayRef> {
    let field = Arc::new(Field::new("item", items.data_type().clone(), items.is_nullable()));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let list = LargeListArray::try_new(field, offsets, items, array.nulls().cloned()).ok()?;
    Some(Arc::new(list))
}
