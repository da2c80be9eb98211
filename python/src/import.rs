//! Data from Python as Arrow arrays: trees of buffers (the grammar of [`crate::layout`]) and Arrow
//! PyCapsules. Trees are copied, since Python may change its arrays while nyssa still holds them.

use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{
    Array, ArrayReader, ArrayRef, BooleanArray, FixedSizeListArray, LargeBinaryArray,
    LargeListArray, NullArray, StructArray, UnionArray, make_array,
};
use arrow_buffer::{BooleanBuffer, MutableBuffer, OffsetBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{ArrowError, DataType, Field, UnionFields};
use nyssa::arrow::{STRING, field};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::capsule::{ARRAY, SCHEMA, STREAM, arrow_error};

/// The array of one tree, and its field.
pub fn from_layout(name: &str, tree: &Bound<'_, PyTuple>) -> PyResult<(ArrayRef, Field)> {
    let kind: String = tree.get_item(0)?.extract()?;
    let array: ArrayRef = match kind.as_str() {
        "number" => number(&tree.get_item(1)?.extract::<String>()?, &tree.get_item(2)?)?,
        "string" | "bytes" => {
            let values = bytes(&tree.get_item(2)?)?.into();
            let array = LargeBinaryArray::try_new(offsets(&tree.get_item(1)?)?, values, None);
            Arc::new(array.map_err(arrow_error)?)
        }
        "list" => {
            let (items, item) = from_layout("item", tree.get_item(2)?.cast()?)?;
            // What a variant does not hold counts as a null of its union.
            let variant = matches!(item.data_type(), DataType::Union(..));
            let item = if variant { item.with_nullable(true) } else { item };
            let offsets = offsets(&tree.get_item(1)?)?;
            let array = LargeListArray::try_new(Arc::new(item), offsets, items, None);
            Arc::new(array.map_err(arrow_error)?)
        }
        "fixed" => {
            let (items, item) = from_layout("item", tree.get_item(3)?.cast()?)?;
            let size: i32 = tree.get_item(1)?.extract()?;
            let length: usize = tree.get_item(2)?.extract()?;
            let array =
                FixedSizeListArray::try_new_with_length(Arc::new(item), size, items, None, length);
            Arc::new(array.map_err(arrow_error)?)
        }
        "record" => {
            let names: Vec<String> = tree.get_item(1)?.extract()?;
            let children = tree.get_item(2)?;
            let mut fields = Vec::with_capacity(names.len());
            let mut arrays = Vec::with_capacity(names.len());
            for (name, child) in names.iter().zip(children.try_iter()?) {
                let (array, field) = from_layout(name, child?.cast()?)?;
                fields.push(Arc::new(field));
                arrays.push(array);
            }
            let length: usize = tree.get_item(3)?.extract()?;
            let array = StructArray::try_new_with_length(fields.into(), arrays, None, length);
            Arc::new(array.map_err(arrow_error)?)
        }
        "null" => Arc::new(NullArray::new(tree.get_item(1)?.extract()?)),
        "option" => {
            let (values, item) = from_layout(name, tree.get_item(2)?.cast()?)?;
            let array = option(bytes(&tree.get_item(1)?)?.as_slice(), &values)?;
            return Ok((array, item.with_nullable(true)));
        }
        "union" => union(tree)?,
        "named" => {
            let (array, field) = from_layout(name, tree.get_item(2)?.cast()?)?;
            let mut metadata = field.metadata().clone();
            metadata.insert(STRING.0.to_owned(), tree.get_item(1)?.extract::<String>()?);
            return Ok((array, field.with_metadata(metadata)));
        }
        other => return Err(PyTypeError::new_err(format!("cannot import a layout of {other}"))),
    };
    let mut field = field(name, array.data_type().clone());
    if kind == "bytes" {
        field = field.with_metadata(arrow_schema::Metadata::default());
    }
    Ok((array, field))
}

/// The values where `mask` is not zero, nulls elsewhere.
fn option(mask: &[u8], values: &ArrayRef) -> PyResult<ArrayRef> {
    let data = values.to_data();
    let mut all = MutableArrayData::try_new(vec![&data], true, mask.len()).map_err(arrow_error)?;
    let mut next = 0;
    for run in mask.chunk_by(|a, b| (*a == 0) == (*b == 0)) {
        if run.first() == Some(&0) {
            all.try_extend_nulls(run.len()).map_err(arrow_error)?;
            continue;
        }
        let end = next + run.len();
        if end > values.len() {
            return Err(PyValueError::new_err("an option has fewer values than its mask says"));
        }
        all.try_extend(0, next, end).map_err(arrow_error)?;
        next = end;
    }
    Ok(make_array(all.freeze()))
}

/// A dense union, its types numbered from 0. A null of a type stands for a value of none.
fn union(tree: &Bound<'_, PyTuple>) -> PyResult<ArrayRef> {
    let tags = bytes(&tree.get_item(1)?)?;
    let index = bytes(&tree.get_item(2)?)?;
    let rows = tags.len();
    let mut fields = Vec::new();
    let mut children = Vec::new();
    for (id, child) in (0i8..).zip(tree.get_item(3)?.try_iter()?) {
        let (array, field) = from_layout(&format!("_{id}"), child?.cast()?)?;
        fields.push((id, Arc::new(field.with_nullable(false))));
        children.push(array);
    }
    let tags = ScalarBuffer::<i8>::new(tags.into(), 0, rows);
    let index = ScalarBuffer::<i32>::new(index.into(), 0, rows);
    let fields = UnionFields::try_new(
        fields.iter().map(|(id, _)| *id),
        fields.iter().map(|(_, field)| Arc::clone(field)),
    );
    let union = UnionArray::try_new(fields.map_err(arrow_error)?, tags, Some(index), children);
    Ok(Arc::new(union.map_err(arrow_error)?))
}

fn number(dtype: &str, data: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let bytes = bytes(data)?;
    let data_type = match dtype {
        "|b1" => {
            let bits: BooleanBuffer = bytes.as_slice().iter().map(|&byte| byte != 0).collect();
            return Ok(Arc::new(BooleanArray::new(bits, None)));
        }
        "|i1" => DataType::Int8,
        "|u1" => DataType::UInt8,
        "<i2" => DataType::Int16,
        "<u2" => DataType::UInt16,
        "<i4" => DataType::Int32,
        "<u4" => DataType::UInt32,
        "<i8" => DataType::Int64,
        "<u8" => DataType::UInt64,
        "<f2" => DataType::Float16,
        "<f4" => DataType::Float32,
        "<f8" => DataType::Float64,
        other => return Err(PyTypeError::new_err(format!("numbers of type {other}"))),
    };
    let length = bytes.len() / data_type.primitive_width().unwrap_or(1);
    let data = ArrayData::builder(data_type).len(length).add_buffer(bytes.into()).build();
    Ok(make_array(data.map_err(arrow_error)?))
}

fn offsets(data: &Bound<'_, PyAny>) -> PyResult<OffsetBuffer<i64>> {
    let bytes = bytes(data)?;
    let length = bytes.len() / size_of::<i64>();
    let offsets = ScalarBuffer::<i64>::new(bytes.into(), 0, length);
    // Negative where an offset is, or is smaller than the one before; faster than to stop there.
    let signs = |signs, pair: &[i64]| signs | pair[1] | pair[1].wrapping_sub(pair[0]);
    let signs = offsets.windows(2).fold(0, signs);
    if offsets.first().is_none_or(|&first| first < 0) || signs < 0 {
        return Err(PyValueError::new_err("offsets of a list must not be negative or decrease"));
    }
    Ok(OffsetBuffer::new(offsets))
}

/// An aligned copy of a contiguous buffer of bytes.
fn bytes(data: &Bound<'_, PyAny>) -> PyResult<MutableBuffer> {
    let buffer = PyBuffer::<u8>::get(data)?;
    let mut bytes = MutableBuffer::from_len_zeroed(buffer.len_bytes());
    buffer.copy_to_slice(data.py(), bytes.as_slice_mut())?;
    Ok(bytes)
}

/// The array in a pair of capsules, as `__arrow_c_array__` returns them.
pub fn from_array_capsules(
    schema: &Bound<'_, PyCapsule>,
    array: &Bound<'_, PyCapsule>,
) -> PyResult<(ArrayRef, Field)> {
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: capsules of these names hold such structs, valid while the capsules live; the array
    // is moved out, which marks the original as released.
    let (schema, array) = unsafe { (schema.as_ref(), FFI_ArrowArray::from_raw(array.as_ptr())) };
    let field = Field::try_from(schema).map_err(arrow_error)?;
    if array.is_released() {
        return Err(PyValueError::new_err("the Arrow array was taken by someone else"));
    }
    // SAFETY: the producer promises that the array is of the schema.
    let data = unsafe { from_ffi(array, schema) }.map_err(arrow_error)?;
    let (array, field) = normalise(&make_array(data), &field).map_err(arrow_error)?;
    let field = observed(&field, &array);
    Ok((array, field))
}

/// The arrays of a capsule, as `__arrow_c_stream__` returns it, and their field: `Struct` for tables.
pub fn from_stream_capsule(stream: &Bound<'_, PyCapsule>) -> PyResult<(Vec<ArrayRef>, Field)> {
    let stream = stream.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds such a struct, valid while the capsule lives; it is moved
    // out, which marks the original as released.
    let reader = unsafe { ArrayStreamReader::from_raw(stream.as_ptr()) }.map_err(arrow_error)?;
    let original = Arc::clone(reader.field());
    let mut field = normal_field(&original);
    let mut arrays = Vec::new();
    for array in reader {
        let (array, normal) =
            array.and_then(|array| normalise(&array, &original)).map_err(arrow_error)?;
        field = normal;
        arrays.push(array);
    }
    Ok((arrays, field))
}

/// One array of several of the same type.
pub fn concatenate(arrays: &[ArrayRef], data_type: &DataType) -> PyResult<ArrayRef> {
    if let [array] = arrays {
        return Ok(Arc::clone(array));
    }
    if arrays.is_empty() {
        return Ok(arrow_array::new_empty_array(data_type));
    }
    let data: Vec<_> = arrays.iter().map(|array| array.to_data()).collect();
    let total = data.iter().map(ArrayData::len).sum();
    let mut all = MutableArrayData::new(data.iter().collect(), false, total);
    for (index, part) in data.iter().enumerate() {
        all.try_extend(index, 0, part.len()).map_err(arrow_error)?;
    }
    Ok(make_array(all.freeze()))
}

/// `field` with only those parts nullable that have nulls in `array`: most Arrow columns are nullable
/// without a reason, and only what is written as `std::optional` should be.
pub fn observed(field: &Field, array: &dyn Array) -> Field {
    let child = |field: &Arc<Field>, array: &ArrayRef| Arc::new(observed(field, array));
    let data_type = match field.data_type() {
        DataType::LargeList(item) => {
            DataType::LargeList(child(item, array.as_list::<i64>().values()))
        }
        DataType::FixedSizeList(item, size) => {
            DataType::FixedSizeList(child(item, array.as_fixed_size_list().values()), *size)
        }
        DataType::Map(entries, sorted) => {
            let values: ArrayRef = Arc::new(array.as_map().entries().clone());
            DataType::Map(child(entries, &values), *sorted)
        }
        DataType::Struct(members) => {
            let columns = array.as_struct().columns();
            let pairs = members.iter().zip(columns);
            DataType::Struct(pairs.map(|(member, column)| child(member, column)).collect())
        }
        other => other.clone(),
    };
    let nulls = array.logical_null_count() > 0;
    field.clone().with_data_type(data_type).with_nullable(nulls)
}

/// The field of what [`normalise`] returns.
fn normal_field(original: &Field) -> Field {
    let string = || {
        Field::new(original.name(), DataType::LargeBinary, original.is_nullable())
            .with_metadata([(STRING.0.to_owned(), STRING.1.to_owned())])
    };
    let child = |field: &Arc<Field>| Arc::new(normal_field(field));
    let data_type = match original.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => return string(),
        DataType::BinaryView => DataType::LargeBinary,
        DataType::LargeList(item) => DataType::LargeList(child(item)),
        DataType::List(item) => DataType::LargeList(child(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(child(item), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(child).collect()),
        other => other.clone(),
    };
    original.clone().with_data_type(data_type)
}

/// The same values in the types nyssa writes: 64-bit offsets, strings as marked bytes, no views.
fn normalise(array: &ArrayRef, original: &Field) -> Result<(ArrayRef, Field), ArrowError> {
    let field = normal_field(original);
    Ok((rebuild(array, &field)?, field))
}

fn rebuild(array: &ArrayRef, field: &Field) -> Result<ArrayRef, ArrowError> {
    let wide = |offsets: &OffsetBuffer<i32>| {
        OffsetBuffer::new(offsets.iter().map(|&offset| i64::from(offset)).collect())
    };
    let large = |offsets, values, nulls| -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(LargeBinaryArray::try_new(offsets, values, nulls)?))
    };
    match (array.data_type(), field.data_type()) {
        (DataType::Utf8, _) => {
            let (offsets, values, nulls) = array.as_string::<i32>().clone().into_parts();
            large(wide(&offsets), values, nulls)
        }
        (DataType::LargeUtf8, _) => {
            let (offsets, values, nulls) = array.as_string::<i64>().clone().into_parts();
            large(offsets, values, nulls)
        }
        (DataType::Utf8View, _) => {
            let mut builder = LargeBinaryBuilder::new();
            array.as_string_view().iter().for_each(|text| builder.append_option(text));
            Ok(Arc::new(builder.finish()))
        }
        (DataType::BinaryView, _) => {
            let mut builder = LargeBinaryBuilder::new();
            array.as_binary_view().iter().for_each(|bytes| builder.append_option(bytes));
            Ok(Arc::new(builder.finish()))
        }
        (DataType::List(_), DataType::LargeList(item)) => {
            let (_, offsets, values, nulls) = array.as_list::<i32>().clone().into_parts();
            let values = rebuild(&values, item)?;
            Ok(Arc::new(LargeListArray::try_new(Arc::clone(item), wide(&offsets), values, nulls)?))
        }
        (DataType::LargeList(_), DataType::LargeList(item)) => {
            let (_, offsets, values, nulls) = array.as_list::<i64>().clone().into_parts();
            let values = rebuild(&values, item)?;
            Ok(Arc::new(LargeListArray::try_new(Arc::clone(item), offsets, values, nulls)?))
        }
        (DataType::FixedSizeList(..), DataType::FixedSizeList(item, size)) => {
            let list = array.as_fixed_size_list();
            let values = rebuild(list.values(), item)?;
            let nulls = list.nulls().cloned();
            let item = Arc::clone(item);
            Ok(Arc::new(FixedSizeListArray::try_new_with_length(
                item,
                *size,
                values,
                nulls,
                list.len(),
            )?))
        }
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let record = array.as_struct();
            let columns = fields
                .iter()
                .zip(record.columns())
                .map(|(field, column)| rebuild(column, field))
                .collect::<Result<Vec<_>, _>>()?;
            let nulls = record.nulls().cloned();
            let fields = fields.clone();
            Ok(Arc::new(StructArray::try_new_with_length(fields, columns, nulls, record.len())?))
        }
        _ => Ok(Arc::clone(array)),
    }
}
