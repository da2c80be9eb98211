//! An Arrow array as a small tree of tuples and [`Buffer`]s, from which Python builds awkward and
//! NumPy arrays without a copy and without pyarrow.
//!
//! | tuple | meaning |
//! |---|---|
//! | `("number", dtype, data)` | `dtype` is NumPy's, such as `"<f4"`; bits become bytes for `"|b1"` |
//! | `("string", offsets, data)` | `i64` offsets into bytes; `"bytes"` for what is not text |
//! | `("list", offsets, child)` | `i64` offsets; arrays of one collection share them |
//! | `("fixed", size, length, child)` | `length` arrays of `size` |
//! | `("record", names, children, length)` | |
//! | `("option", mask, child)` | one byte per entry, 1 where there is a value |
//! | `("union", tags, index, children)` | `i8` tags, `i32` index; `index` is `None` when sparse |

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{BooleanBuffer, Buffer as Bytes, OffsetBuffer};
use arrow_schema::{DataType, Field};
use nyssa::Error;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::buffer::Buffer;
use crate::errors;
use crate::export::is_string;

/// The tree of `array`, which is of `field`.
pub fn layout<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    field: &Field,
) -> PyResult<Bound<'py, PyTuple>> {
    let tree = bare(py, array, field)?;
    match array.nulls() {
        Some(nulls) if nulls.null_count() > 0 => {
            ("option", Buffer::new(bytes_of_bits(nulls.inner())), tree).into_pyobject(py)
        }
        _ => Ok(tree),
    }
}

fn bare<'py>(py: Python<'py>, array: &ArrayRef, field: &Field) -> PyResult<Bound<'py, PyTuple>> {
    let children = |fields: Vec<&Field>, arrays: Vec<&ArrayRef>| -> PyResult<Bound<'py, PyTuple>> {
        let trees = fields.into_iter().zip(arrays).map(|(field, array)| layout(py, array, field));
        PyTuple::new(py, trees.collect::<PyResult<Vec<_>>>()?)
    };
    match field.data_type() {
        DataType::Boolean => {
            let data = bytes_of_bits(array.as_boolean().values());
            ("number", "|b1", Buffer::new(data)).into_pyobject(py)
        }
        DataType::LargeBinary => {
            let array = array.as_binary::<i64>();
            let kind = if is_string(field) { "string" } else { "bytes" };
            (kind, offsets(array.offsets()), Buffer::new(array.values().clone())).into_pyobject(py)
        }
        DataType::LargeUtf8 => {
            let array = array.as_string::<i64>();
            let data = Buffer::new(array.values().clone());
            ("string", offsets(array.offsets()), data).into_pyobject(py)
        }
        DataType::LargeList(item) => {
            let list = array.as_list::<i64>();
            ("list", offsets(list.offsets()), layout(py, list.values(), item)?).into_pyobject(py)
        }
        DataType::FixedSizeList(item, size) => {
            let list = array.as_fixed_size_list();
            ("fixed", *size, list.len(), layout(py, list.values(), item)?).into_pyobject(py)
        }
        DataType::Struct(fields) => {
            let record = array.as_struct();
            let names = PyTuple::new(py, fields.iter().map(|field| field.name()))?;
            let children = children(
                fields.iter().map(AsRef::as_ref).collect(),
                record.columns().iter().collect(),
            )?;
            ("record", names, children, record.len()).into_pyobject(py)
        }
        DataType::Union(fields, _) => {
            let union = array.as_union();
            let (ids, fields): (Vec<i8>, Vec<&Field>) =
                fields.iter().map(|(id, field)| (id, field.as_ref())).unzip();
            if ids.iter().enumerate().any(|(index, &id)| usize::try_from(id) != Ok(index)) {
                return Err(unsupported(py, field));
            }
            let children = children(fields, ids.iter().map(|&id| union.child(id)).collect())?;
            let tags = Buffer::new(union.type_ids().inner().clone());
            let index = match union.offsets() {
                Some(index) => Buffer::new(index.inner().clone()).into_bound_py_any(py)?,
                None => py.None().into_bound(py),
            };
            ("union", tags, index, children).into_pyobject(py)
        }
        data_type => {
            let Some(dtype) = dtype(data_type) else { return Err(unsupported(py, field)) };
            let data = array.to_data();
            let width = data_type.primitive_width().unwrap_or(1);
            let buffer = data.buffers().first().map_or_else(Bytes::default, |buffer| {
                buffer.slice_with_length(data.offset() * width, data.len() * width)
            });
            ("number", dtype, Buffer::new(buffer)).into_pyobject(py)
        }
    }
}

fn unsupported(py: Python<'_>, field: &Field) -> PyErr {
    let message = format!("{} has the Arrow type {}", field.name(), field.data_type());
    errors::to_python(py, &Error::unsupported(message))
}

fn offsets(offsets: &OffsetBuffer<i64>) -> Buffer {
    Buffer::new(offsets.inner().inner().clone())
}

/// NumPy's name of a fixed-width type.
fn dtype(data_type: &DataType) -> Option<&'static str> {
    Some(match data_type {
        DataType::Int8 => "|i1",
        DataType::UInt8 => "|u1",
        DataType::Int16 => "<i2",
        DataType::UInt16 => "<u2",
        DataType::Int32 => "<i4",
        DataType::UInt32 => "<u4",
        DataType::Int64 => "<i8",
        DataType::UInt64 => "<u8",
        DataType::Float16 => "<f2",
        DataType::Float32 => "<f4",
        DataType::Float64 => "<f8",
        _ => return None,
    })
}

/// `SPREAD[byte]` holds the eight bits of `byte` as eight bytes, lowest first.
static SPREAD: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte][bit] = (byte >> bit & 1) as u8;
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// One byte (0 or 1) per bit.
fn bytes_of_bits(bits: &BooleanBuffer) -> Bytes {
    let aligned = bits.sliced();
    let mut bytes = Vec::with_capacity(bits.len().next_multiple_of(8));
    for &byte in aligned.as_slice() {
        bytes.extend_from_slice(&SPREAD[usize::from(byte)]);
    }
    bytes.truncate(bits.len());
    Bytes::from_vec(bytes)
}
