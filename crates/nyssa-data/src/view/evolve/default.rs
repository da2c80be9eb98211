//! Makes arrays of default values, for fields that a file does not have.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, LargeBinaryArray, LargeListArray,
    StructArray, UnionArray, make_array, new_empty_array, new_null_array,
};
use arrow_buffer::{BooleanBuffer, Buffer, OffsetBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field};
use nyssa_root::arrow::brief;
use nyssa_root::error::{Error, Result};
use nyssa_root::guard::try_vec;

/// Makes `len` default values of a field: null if the field can be null, otherwise zero, false or empty. A
/// variant has no alternative selected.
///
/// # Errors
/// `LimitExceeded` when memory is short, `Unsupported` for types that have no default.
pub fn default_array(field: &Field, len: usize) -> Result<ArrayRef> {
    let data_type = field.data_type();
    if field.is_nullable() && !matches!(data_type, DataType::Union(..)) {
        fits(data_type, len)?;
        return Ok(new_null_array(data_type, len));
    }
    let array: std::result::Result<ArrayRef, ArrowError> = match data_type {
        DataType::Boolean => Ok(shared(BooleanArray::new(BooleanBuffer::new_unset(len), None))),
        DataType::LargeBinary => {
            let offsets = OffsetBuffer::new_zeroed(len);
            LargeBinaryArray::try_new(offsets, Buffer::default(), None).map(shared)
        }
        DataType::LargeList(item) => {
            let items = new_empty_array(item.data_type());
            let offsets = OffsetBuffer::new_zeroed(len);
            LargeListArray::try_new(Arc::clone(item), offsets, items, None).map(shared)
        }
        DataType::FixedSizeList(item, size) => {
            let items = default_array(item, times(len, *size)?)?;
            FixedSizeListArray::try_new_with_length(Arc::clone(item), *size, items, None, len)
                .map(shared)
        }
        DataType::Struct(members) => {
            let columns = members.iter().map(|member| default_array(member, len));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            StructArray::try_new_with_length(members.clone(), columns, None, len).map(shared)
        }
        DataType::Union(members, _) => {
            let Some((first, none)) = members.iter().next() else { return Err(without(field)) };
            if none.data_type() != &DataType::Null {
                return Err(without(field));
            }
            let children = members.iter().map(|(id, member)| match id == first {
                true => new_null_array(&DataType::Null, len),
                false => new_empty_array(member.data_type()),
            });
            let end = i32::try_from(len).map_err(|_| Error::limit("too many variants"))?;
            let tags = ScalarBuffer::from(vec![first; len]);
            let offsets = ScalarBuffer::from_iter(0..end);
            UnionArray::try_new(members.clone(), tags, Some(offsets), children.collect())
                .map(shared)
        }
        DataType::Null => Ok(new_null_array(data_type, len)),
        primitive => {
            let width = primitive.primitive_width().ok_or_else(|| without(field))?;
            let bytes = len.checked_mul(width).ok_or_else(too_many)?;
            let zeros = try_vec::<u64>(bytes.div_ceil(8), "default values")?;
            let data = ArrayData::builder(primitive.clone()).len(len);
            data.add_buffer(Buffer::from_vec(zeros)).build().map(make_array)
        }
    };
    array.map_err(|error| without(field).with_source(error))
}

/// Checks that fixed arrays of nulls fit in memory. Their items need memory, and a damaged file can give any
/// size.
fn fits(data_type: &DataType, len: usize) -> Result<()> {
    match data_type {
        DataType::FixedSizeList(item, size) => {
            let items = times(len, *size)?;
            try_vec::<u64>(items, "missing values")?;
            fits(item.data_type(), items)
        }
        DataType::Struct(members) => {
            members.iter().try_for_each(|member| fits(member.data_type(), len))
        }
        _ => Ok(()),
    }
}

fn times(len: usize, size: i32) -> Result<usize> {
    usize::try_from(size).ok().and_then(|size| len.checked_mul(size)).ok_or_else(too_many)
}

fn too_many() -> Error {
    Error::limit("the default values do not fit in memory")
}

fn without(field: &Field) -> Error {
    Error::unsupported(format!("there is no default value of type {}", brief(field.data_type())))
        .at(|place| place.field = Some(field.name().clone()))
}

fn shared<A: Array + 'static>(array: A) -> ArrayRef {
    Arc::new(array)
}
