//! An Arrow array as a small tree of tuples and [`Buffer`]s, from which Python builds awkward and
//! NumPy arrays without a copy and without pyarrow.
//!
//! | tuple | meaning |
//! |---|---|
//! | `("number", dtype, data)` | `dtype` is NumPy's, such as `"<f4"`; bits become bytes for `"|b1"`, dates seconds for `"<M8[s]"` |
//! | `("string", offsets, data)` | `i64` offsets into bytes; `"bytes"` for what is not text |
//! | `("list", offsets, child)` | `i64` offsets; arrays of one collection share them |
//! | `("fixed", size, length, child)` | `length` arrays of `size` |
//! | `("record", names, children, length)` | |
//! | `("option", mask, child)` | one byte per entry, 1 where there is a value |
//! | `("union", tags, index, children, names)` | `i8` tags, `i32` index; `index` is `None` when sparse |
//! | `("nothing", length)` | missing values; the first child of the union of a variant |

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{Buffer as Bytes, OffsetBuffer};
use arrow_schema::{DataType, Field};
use nyssa::arrow::{Date, bytes_of_bits, date_seconds, is_string};
use nyssa::{Error, Result};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::buffer::Buffer;

/// The tree before it is shown to Python; made on any thread.
pub enum Tree {
    Number { dtype: &'static str, data: Bytes },
    String { text: bool, offsets: Bytes, data: Bytes },
    List { offsets: Bytes, child: Box<Tree> },
    Fixed { size: i32, length: usize, child: Box<Tree> },
    Record { names: Vec<String>, children: Vec<Tree>, length: usize },
    Option { mask: Bytes, child: Box<Tree> },
    Union { tags: Bytes, index: Option<Bytes>, children: Vec<Tree>, names: Vec<String> },
    Nothing { length: usize },
}

/// What is no date, for NumPy (`NaT`).
const NOT_A_TIME: i64 = i64::MIN;

/// Which nulls are options.
#[derive(Clone, Copy)]
struct Shown {
    /// Those that the field may have, whether there are any or not.
    declared: bool,
    /// A null is above: one in a field that has none only fills the place below it.
    below_nulls: bool,
}

impl Tree {
    /// The tree of `array`, which is of `field`. Shares its memory, except that of booleans and dates. There is
    /// an option where there are nulls; with `declared` wherever there may be, so that the shape of the
    /// tree depends on the field only (variants apart, which have no nulls).
    ///
    /// # Errors
    /// `Unsupported` for Arrow types that nyssa does not read.
    pub fn new(array: &ArrayRef, field: &Field, declared: bool) -> Result<Self> {
        Self::part(array, field, Shown { declared, below_nulls: false })
    }

    fn part(array: &ArrayRef, field: &Field, shown: Shown) -> Result<Self> {
        let Shown { declared, below_nulls } = shown;
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        let below = Shown { below_nulls: below_nulls || nulls.is_some(), ..shown };
        let tree = Self::bare(array, field, below)?;
        let mask = match nulls {
            Some(nulls) if field.is_nullable() || !below_nulls => {
                bytes_of_bits(nulls.inner()).into()
            }
            _ if declared && field.is_nullable() && tree.may_be_option() => {
                vec![1u8; array.len()].into()
            }
            _ => return Ok(tree),
        };
        Ok(Self::Option { mask, child: Box::new(tree) })
    }

    /// Whether what is missing is not told by the tree itself.
    fn may_be_option(&self) -> bool {
        !matches!(self, Self::Union { .. } | Self::Nothing { .. })
    }

    fn bare(array: &ArrayRef, field: &Field, below: Shown) -> Result<Self> {
        let child = |array, field| Self::part(array, field, below).map(Box::new);
        Ok(match field.data_type() {
            _ if Date::is_in(field) => {
                let seconds = date_seconds(array).map(|one| one.unwrap_or(NOT_A_TIME));
                Self::Number { dtype: "<M8[s]", data: seconds.collect::<Vec<_>>().into() }
            }
            DataType::Boolean => Self::Number {
                dtype: "|b1",
                data: bytes_of_bits(array.as_boolean().values()).into(),
            },
            DataType::LargeBinary => {
                let array = array.as_binary::<i64>();
                let (offsets, data) = (bytes(array.offsets()), array.values().clone());
                Self::String { text: is_string(field), offsets, data }
            }
            DataType::LargeUtf8 => {
                let array = array.as_string::<i64>();
                let (offsets, data) = (bytes(array.offsets()), array.values().clone());
                Self::String { text: true, offsets, data }
            }
            DataType::LargeList(item) => {
                let list = array.as_list::<i64>();
                Self::List { offsets: bytes(list.offsets()), child: child(list.values(), item)? }
            }
            DataType::FixedSizeList(item, size) => {
                let list = array.as_fixed_size_list();
                let child = child(list.values(), item)?;
                Self::Fixed { size: *size, length: list.len(), child }
            }
            DataType::Struct(fields) => {
                let record = array.as_struct();
                let names = fields.iter().map(|field| field.name().clone()).collect();
                let pairs = fields.iter().zip(record.columns());
                let children = pairs.map(|(field, array)| Self::part(array, field, below));
                Self::Record {
                    names,
                    children: children.collect::<Result<_>>()?,
                    length: record.len(),
                }
            }
            DataType::Union(fields, _) => {
                let union = array.as_union();
                if fields
                    .iter()
                    .enumerate()
                    .any(|(index, (id, _))| usize::try_from(id) != Ok(index))
                {
                    return Err(unsupported(field));
                }
                let children =
                    fields.iter().map(|(id, field)| Self::part(union.child(id), field, below));
                Self::Union {
                    tags: union.type_ids().inner().clone(),
                    index: union.offsets().map(|index| index.inner().clone()),
                    children: children.collect::<Result<_>>()?,
                    names: fields.iter().map(|(_, field)| field.name().clone()).collect(),
                }
            }
            DataType::Null => Self::Nothing { length: array.len() },
            data_type => {
                let dtype = dtype(data_type).ok_or_else(|| unsupported(field))?;
                let data = array.to_data();
                let width = data_type.primitive_width().unwrap_or(1);
                let data = data.buffers().first().map_or_else(Bytes::default, |buffer| {
                    buffer.slice_with_length(data.offset() * width, data.len() * width)
                });
                Self::Number { dtype, data }
            }
        })
    }

    /// The tuples and buffers.
    pub fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let show = |bytes: &Bytes| Buffer::new(bytes.clone());
        let all = |children: &[Self]| -> PyResult<Bound<'py, PyTuple>> {
            let trees = children.iter().map(|child| child.to_python(py));
            PyTuple::new(py, trees.collect::<PyResult<Vec<_>>>()?)
        };
        match self {
            Self::Number { dtype, data } => ("number", *dtype, show(data)).into_pyobject(py),
            Self::String { text, offsets, data } => {
                let kind = if *text { "string" } else { "bytes" };
                (kind, show(offsets), show(data)).into_pyobject(py)
            }
            Self::List { offsets, child } => {
                ("list", show(offsets), child.to_python(py)?).into_pyobject(py)
            }
            Self::Fixed { size, length, child } => {
                ("fixed", *size, *length, child.to_python(py)?).into_pyobject(py)
            }
            Self::Record { names, children, length } => {
                ("record", PyTuple::new(py, names)?, all(children)?, *length).into_pyobject(py)
            }
            Self::Option { mask, child } => {
                ("option", show(mask), child.to_python(py)?).into_pyobject(py)
            }
            Self::Union { tags, index, children, names } => {
                let index = index.as_ref().map(show).into_bound_py_any(py)?;
                let names = PyTuple::new(py, names)?;
                ("union", show(tags), index, all(children)?, names).into_pyobject(py)
            }
            Self::Nothing { length } => ("nothing", *length).into_pyobject(py),
        }
    }
}

fn unsupported(field: &Field) -> Error {
    Error::unsupported(format!("{} has the Arrow type {}", field.name(), field.data_type()))
}

fn bytes(offsets: &OffsetBuffer<i64>) -> Bytes {
    offsets.inner().inner().clone()
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
