//! Builds Arrow arrays from native elements.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, LargeBinaryArray, LargeListArray,
    PrimitiveArray, StructArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field};
use nyssa_root::arrow::{Number, brief, with_number};
use nyssa_root::error::{Error, Result};
use nyssa_root::guard;

use crate::model::Element;
use crate::model::{EntryLayout, Member};

/// Returns a zeroed buffer that is aligned for every element type.
///
/// # Errors
/// `LimitExceeded` when memory is short.
pub(crate) fn zeroed(len: usize) -> Result<MutableBuffer> {
    let words = len.div_ceil(8);
    // The memory is reserved first, because a zeroed vector aborts the program when there is no memory.
    Vec::<u64>::new()
        .try_reserve_exact(words)
        .map_err(|_| Error::limit(format!("cannot allocate {len} bytes for an array")))?;
    let mut buffer = MutableBuffer::from(vec![0_u64; words]);
    buffer.truncate(len);
    Ok(buffer)
}

/// Builds the array of `items` items. `buffers` hold the elements of their members. `offsets` divide the
/// items into lists.
///
/// # Errors
/// `Unsupported` for dimensions that Arrow does not allow.
pub(crate) fn build(
    layout: &EntryLayout,
    buffers: Vec<Buffer>,
    offsets: Option<OffsetBuffer<i64>>,
    items: usize,
) -> Result<ArrayRef> {
    let mut arrays = layout
        .members
        .iter()
        .zip(buffers)
        .map(|(member, buffer)| fixed(member, buffer, items))
        .collect::<Result<Vec<_>>>()?;
    let array = match layout.data_type() {
        DataType::Struct(fields) => {
            Arc::new(StructArray::try_new(fields, arrays, None).map_err(arrow)?)
        }
        _ => arrays.pop().ok_or_else(|| Error::unsupported("the branch has no leaves"))?,
    };
    let Some(offsets) = offsets else { return Ok(array) };
    let field = Arc::new(nyssa_root::arrow::field("item", array.data_type().clone()));
    Ok(Arc::new(LargeListArray::try_new(field, offsets, array, None).map_err(arrow)?))
}

/// Joins arrays of one type. `offsets` divide their values into lists.
///
/// # Errors
/// `LimitExceeded` when there are more values than an Arrow array can have; `OutOfSpecification` when the number of
/// values differs from `offsets`.
pub(crate) fn concatenate(
    mut arrays: Vec<ArrayRef>,
    item: Field,
    offsets: Option<OffsetBuffer<i64>>,
) -> Result<ArrayRef> {
    let array = match arrays.len() {
        0 => arrow_array::new_empty_array(item.data_type()),
        1 => arrays.swap_remove(0),
        _ => {
            let all: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
            arrow_select::concat::concat(&all).map_err(|error| {
                Error::limit("the values do not fit an Arrow array").with_source(error)
            })?
        }
    };
    let Some(offsets) = offsets else { return Ok(array) };
    lists(array, item, offsets)
}

/// Divides items into lists.
///
/// # Errors
/// `OutOfSpecification` when the number of items differs from `offsets`.
pub(crate) fn lists(items: ArrayRef, item: Field, offsets: OffsetBuffer<i64>) -> Result<ArrayRef> {
    if items.len() as i64 != offsets.last() {
        return Err(Error::out_of_spec(format!(
            "{} items where their counter says {}",
            items.len(),
            offsets.last()
        )));
    }
    Ok(Arc::new(LargeListArray::try_new(Arc::new(item), offsets, items, None).map_err(arrow)?))
}

/// Returns the items of a list array, without its offsets.
///
/// # Errors
/// `OutOfSpecification` for an array of another type.
pub fn items(array: &ArrayRef) -> Result<ArrayRef> {
    let list = array.as_list_opt::<i64>().ok_or_else(|| {
        Error::out_of_spec(format!("a {} is not a list", brief(array.data_type())))
    })?;
    let offsets = list.value_offsets();
    let (first, last) = match (offsets.first(), offsets.last()) {
        (Some(&first), Some(&last)) => (first as usize, last as usize),
        _ => (0, 0),
    };
    Ok(list.values().slice(first, last - first))
}

/// Builds a string array from bytes and offsets.
///
/// # Errors
/// `Unsupported` when Arrow rejects the strings.
pub(crate) fn strings(bytes: Buffer, offsets: OffsetBuffer<i64>) -> Result<ArrayRef> {
    Ok(Arc::new(LargeBinaryArray::try_new(offsets, bytes, None).map_err(arrow)?))
}

/// Builds `items` items of fixed dimensions from native elements.
fn fixed(member: &Member, buffer: Buffer, items: usize) -> Result<ArrayRef> {
    let mut array = elements(member.element, buffer);
    for (depth, &size) in member.dimensions.iter().enumerate().rev() {
        let outer = member.dimensions[..depth].iter().product::<u64>();
        let length = items.saturating_mul(guard::to_usize(outer, "an array")?);
        let size = i32::try_from(size)
            .map_err(|_| Error::unsupported(format!("an array of {size} elements")))?;
        let field = Arc::new(nyssa_root::arrow::field("item", array.data_type().clone()));
        array = Arc::new(
            FixedSizeListArray::try_new_with_length(field, size, array, None, length)
                .map_err(arrow)?,
        );
    }
    Ok(array)
}

fn elements(element: Element, buffer: Buffer) -> ArrayRef {
    fn primitive<T: ArrowPrimitiveType>(buffer: Buffer) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(buffer), None))
    }
    // A string is an array of bytes here.
    let number = element.number().unwrap_or(Number::UInt8);
    with_number!(number, T => primitive::<T>(buffer), bool => {
        let length = buffer.len();
        Arc::new(BooleanArray::new(BooleanBuffer::new(pack(&buffer).into(), 0, length), None))
    })
}

/// Packs eight bools of one byte each (0 or 1) into a byte. The first bool becomes the lowest bit.
fn pack(bools: &[u8]) -> Vec<u8> {
    // Byte i of the word has its bit at 8 i; times 2^(56 - 7 i) puts that bit at 56 + i.
    const SPREAD: u64 = 0x0102_0408_1020_4080;
    let byte = |word: u64| (word.wrapping_mul(SPREAD) >> 56) as u8;
    let (words, rest) = bools.as_chunks::<8>();
    let mut packed: Vec<u8> = words.iter().map(|word| byte(u64::from_le_bytes(*word))).collect();
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        packed.push(byte(u64::from_le_bytes(word)));
    }
    packed
}

/// Returns the error when Arrow rejects an array. Earlier checks should have found the inconsistency.
fn arrow(error: ArrowError) -> Error {
    Error::unsupported("the elements do not form an Arrow array").with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bools_pack_to_the_lowest_bit_first() {
        for seed in 0..512_u32 {
            let bools: Vec<u8> = (0..9).map(|bit| (seed >> bit & 1) as u8).collect();
            assert_eq!(pack(&bools), [seed as u8, (seed >> 8) as u8]);
        }
        assert_eq!(pack(&[0, 1, 1]), [0b110]);
        assert!(pack(&[]).is_empty());
    }
}
