//! Makes offsets and items of Arrow's lists, strings and fixed-size arrays. Only the rows of a slice are
//! used.

use arrow_array::cast::AsArray;
use arrow_array::types::ByteArrayType;
use arrow_array::{Array, ArrayRef, GenericByteArray, UInt8Array};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;
use std::sync::Arc;

use super::elements::{Elements, Offsets};
use crate::error::{Error, Result};

/// Returns the offsets and the items of all kinds of lists and maps. Returns `None` for other types.
pub(super) fn lists(array: &ArrayRef) -> Option<Result<(Offsets, ArrayRef)>> {
    let cut = |offsets: Offsets, items: &ArrayRef| {
        let offsets = offsets.checked(items.len())?;
        let range = offsets.values();
        Ok((offsets, items.slice(range.start, range.len())))
    };
    Some(match array.data_type() {
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            cut(Offsets::Small(list.offsets().inner().clone()), list.values())
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            cut(Offsets::Large(list.offsets().inner().clone()), list.values())
        }
        DataType::Map(..) => {
            let map = array.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            cut(Offsets::Small(map.offsets().inner().clone()), &entries)
        }
        DataType::FixedSizeList(..) => fixed(array).transpose()?.map(|(size, items)| {
            (Offsets::of_lengths(std::iter::repeat_n(size, array.len())), items)
        }),
        _ => return None,
    })
}

/// Returns the type of the items of a list of any kind.
pub(super) fn item_type(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::Map(item, _)
        | DataType::FixedSizeList(item, _) => Some(item.data_type()),
        _ => None,
    }
}

/// Returns whether an Arrow type holds strings or bytes of variable size.
pub(super) fn is_bytes(data_type: &DataType) -> bool {
    use DataType as D;
    matches!(data_type, D::Binary | D::LargeBinary | D::Utf8 | D::LargeUtf8)
}

/// Returns the offsets and the bytes of strings and binaries. Returns `None` for other types.
pub(super) fn byte_lists(array: &ArrayRef) -> Option<Result<(Offsets, Elements)>> {
    fn split<T: ByteArrayType>(
        array: &GenericByteArray<T>,
        offsets: impl Fn(ScalarBuffer<T::Offset>) -> Offsets,
    ) -> Result<(Offsets, Elements)> {
        let values = array.values();
        let offsets = offsets(array.offsets().inner().clone()).checked(values.len())?;
        let range = offsets.values();
        let values = values.slice_with_length(range.start, range.len());
        Ok((offsets, Elements::Bytes { values, width: 1 }))
    }
    match array.data_type() {
        DataType::Binary => Some(split(array.as_binary::<i32>(), Offsets::Small)),
        DataType::LargeBinary => Some(split(array.as_binary::<i64>(), Offsets::Large)),
        DataType::Utf8 => Some(split(array.as_string::<i32>(), Offsets::Small)),
        DataType::LargeUtf8 => Some(split(array.as_string::<i64>(), Offsets::Large)),
        _ => None,
    }
}

/// Returns the size and the items of fixed-size lists and binaries. Returns `None` for other types.
///
/// # Errors
/// `InvalidArgument` for an array that is too short for its number of rows.
pub(super) fn fixed(array: &ArrayRef) -> Result<Option<(usize, ArrayRef)>> {
    let (size, items): (i32, ArrayRef) = match array.data_type() {
        DataType::FixedSizeList(_, size) => (*size, array.as_fixed_size_list().values().clone()),
        DataType::FixedSizeBinary(size) => {
            let bytes = array.as_fixed_size_binary().values().clone();
            let len = bytes.len();
            (*size, Arc::new(UInt8Array::new(ScalarBuffer::new(bytes, 0, len), None)))
        }
        _ => return Ok(None),
    };
    let size = usize::try_from(size).unwrap_or(0);
    let needed = array.len().checked_mul(size).filter(|&needed| needed <= items.len());
    match needed {
        Some(needed) => Ok(Some((size, items.slice(0, needed)))),
        None => Err(Error::invalid_argument("a fixed-size list has too few items")),
    }
}
