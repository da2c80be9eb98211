//! An Arrow array as an awkward [`Form`] and buffers, from which Python builds awkward and NumPy arrays without a
//! copy and without pyarrow.

mod union;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{Buffer as Bytes, OffsetBuffer};
use arrow_schema::{DataType, Field};
use nyssa::arrow::{Date, STRING, bytes_of_bits, date_seconds, is_string};
use nyssa::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::buffer::Buffer;
use crate::form::{Class, Form};

/// The Form and the buffers of an array. Shares the memory of the array, except that of booleans and dates.
pub struct Layout {
    form: Form,
    /// The Form as JSON. Like the keys, it is written on the thread that makes the layout, not on Python's.
    json: String,
    /// Keys and buffers.
    buffers: Vec<(String, Bytes)>,
}

/// What NumPy has for what is no date (`NaT`).
const NOT_A_TIME: i64 = i64::MIN;

impl Layout {
    /// The layout of `array`, which is of `field`. The Form depends on the field only: there is an option wherever
    /// there may be nulls.
    ///
    /// # Errors
    /// `Unsupported` for Arrow types that nyssa does not read.
    pub fn new(array: &ArrayRef, field: &Field) -> Result<Self> {
        let mut builder = Builder::default();
        let form = builder.form(array, field, false)?;
        Ok(Self { json: form.to_json(false), form, buffers: builder.buffers })
    }

    /// The Form as JSON.
    pub fn form(&self) -> &str {
        &self.json
    }

    /// The Form as JSON, with the C++ types.
    pub fn typed_form(&self) -> String {
        self.form.to_json(true)
    }

    /// The buffers by key.
    pub fn buffers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (key, bytes) in &self.buffers {
            dict.set_item(key, Buffer::new(bytes.clone()))?;
        }
        Ok(dict)
    }
}

/// Numbers the nodes as [`Form::to_json`] does: a node before those below it.
#[derive(Default)]
struct Builder {
    nodes: usize,
    buffers: Vec<(String, Bytes)>,
}

impl Builder {
    /// The Form of an array. `below_nulls` says that a null is above it: one in a field that has none then only fills
    /// the place.
    fn form(&mut self, array: &ArrayRef, field: &Field, below_nulls: bool) -> Result<Form> {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        if nulls.is_some() && !field.is_nullable() && !below_nulls {
            return Err(Error::out_of_spec(format!(
                "{} has nulls, which its type does not have",
                field.name()
            )));
        }
        if !may_be_missing(field) {
            return self.value(array, field, below_nulls);
        }
        let mask = match nulls {
            Some(nulls) => bytes_of_bits(nulls.inner()),
            None => vec![1; array.len()],
        };
        self.node(&[("mask", mask.into())]);
        self.value(array, field, below_nulls).map(|form| Class::ByteMasked(Box::new(form)).into())
    }

    /// The Form of the values of an array, whether there are nulls or not.
    fn value(&mut self, array: &ArrayRef, field: &Field, below_nulls: bool) -> Result<Form> {
        let below_nulls = below_nulls || array.nulls().is_some_and(|nulls| nulls.null_count() > 0);
        let class = match field.data_type() {
            _ if Date::is_in(field) => {
                let seconds = date_seconds(array).map(|one| one.unwrap_or(NOT_A_TIME));
                let seconds: Vec<i64> = seconds.collect();
                self.number("datetime64[s]", seconds.into())
            }
            DataType::Boolean => {
                self.number("bool", bytes_of_bits(array.as_boolean().values()).into())
            }
            DataType::LargeBinary => {
                let array = array.as_binary::<i64>();
                self.text(is_string(field), array.offsets(), array.values())
            }
            DataType::LargeUtf8 => {
                let array = array.as_string::<i64>();
                self.text(true, array.offsets(), array.values())
            }
            DataType::LargeList(item) => {
                let list = array.as_list::<i64>();
                self.node(&[("offsets", bytes(list.offsets()))]);
                Class::List(Box::new(self.form(list.values(), item, below_nulls)?))
            }
            DataType::FixedSizeList(item, size) => {
                self.node(&[]);
                let content = self.form(array.as_fixed_size_list().values(), item, below_nulls)?;
                let size = u64::try_from(*size).map_err(|_| unsupported(field))?;
                Class::Regular { size, content: Box::new(content) }
            }
            DataType::Struct(fields) => {
                self.node(&[]);
                let pairs = fields.iter().zip(array.as_struct().columns());
                let contents = pairs.map(|(field, array)| self.form(array, field, below_nulls));
                let contents = contents.collect::<Result<_>>()?;
                let fields = fields.iter().map(|field| field.name().clone()).collect();
                Class::Record { fields, contents }
            }
            DataType::Union(fields, _) => self.union(array.as_union(), fields, below_nulls)?,
            DataType::Null => {
                self.node(&[("index", vec![-1i64; array.len()].into())]);
                self.node(&[]);
                Class::IndexedOption(Box::new(Class::Empty.into()))
            }
            data_type => {
                let primitive = primitive(data_type).ok_or_else(|| unsupported(field))?;
                let data = array.to_data();
                let width = data_type.primitive_width().unwrap_or(1);
                let data = data.buffers().first().map_or_else(Bytes::default, |buffer| {
                    buffer.slice_with_length(data.offset() * width, data.len() * width)
                });
                self.number(primitive, data)
            }
        };
        let typename = field.metadata().get(STRING.0).filter(|&name| name != STRING.1).cloned();
        Ok(Form { class, typename })
    }

    fn number(&mut self, primitive: &'static str, data: Bytes) -> Class {
        self.node(&[("data", data)]);
        Class::Numpy(primitive)
    }

    fn text(&mut self, text: bool, offsets: &OffsetBuffer<i64>, data: &Bytes) -> Class {
        self.node(&[("offsets", bytes(offsets))]);
        self.node(&[("data", data.clone())]);
        Class::Text { text }
    }

    /// Numbers a node and takes its buffers.
    fn node(&mut self, buffers: &[(&'static str, Bytes)]) {
        let node = self.nodes;
        self.nodes += 1;
        let key = |attribute: &str| format!("node{node}-{attribute}");
        self.buffers.extend(buffers.iter().map(|(name, bytes)| (key(name), bytes.clone())));
    }
}

/// Whether values of a field may be missing, and its class does not tell that itself.
fn may_be_missing(field: &Field) -> bool {
    field.is_nullable() && !matches!(field.data_type(), DataType::Union(..) | DataType::Null)
}

fn unsupported(field: &Field) -> Error {
    Error::unsupported(format!("{} has the Arrow type {}", field.name(), field.data_type()))
}

fn bytes(offsets: &OffsetBuffer<i64>) -> Bytes {
    offsets.inner().inner().clone()
}

/// Returns awkward's name of a type of numbers.
pub fn primitive(data_type: &DataType) -> Option<&'static str> {
    PRIMITIVES.iter().find(|(_, one)| one == data_type).map(|(name, _)| *name)
}

/// The types of numbers that cross the bridge as they are.
pub const PRIMITIVES: [(&str, DataType); 11] = [
    ("int8", DataType::Int8),
    ("uint8", DataType::UInt8),
    ("int16", DataType::Int16),
    ("uint16", DataType::UInt16),
    ("int32", DataType::Int32),
    ("uint32", DataType::UInt32),
    ("int64", DataType::Int64),
    ("uint64", DataType::UInt64),
    ("float16", DataType::Float16),
    ("float32", DataType::Float32),
    ("float64", DataType::Float64),
];
