//! Lays an Arrow array out as buffers, from which Python builds awkward and NumPy arrays by the array's
//! [`ColumnForm`], without a copy and without pyarrow.

mod union;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{Buffer as Bytes, OffsetBuffer};
use arrow_schema::{DataType, Field};
use nyssa_root::arrow::{Date, bytes_of_bits, date_seconds};
use nyssa_root::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::buffer::Buffer;
use crate::column_form::{ColumnForm, may_be_missing, primitive, unsupported};

/// The Form and the buffers of an array. Shares the memory of the array, except for booleans and dates.
#[derive(Clone)]
pub struct Layout {
    form: Arc<ColumnForm>,
    /// The buffers, in the order of the keys of the Form.
    buffers: Vec<Bytes>,
}

/// NumPy's value for what is no date (`NaT`).
const NOT_A_TIME: i64 = i64::MIN;

impl Layout {
    /// Lays out `array`, which is of `field` and has the Form `form`.
    ///
    /// # Errors
    /// `Unsupported` for Arrow types that nyssa does not read. `OutOfSpec` for nulls that the field does not
    /// have.
    pub fn new(array: &ArrayRef, field: &Field, form: Arc<ColumnForm>) -> Result<Self> {
        let mut builder = Builder::default();
        builder.form(array, field, false)?;
        Ok(Self { form, buffers: builder.buffers })
    }

    /// Returns the Form.
    pub fn form(&self) -> &ColumnForm {
        &self.form
    }

    /// Returns the buffers by key.
    pub fn buffers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (key, bytes) in self.form.keys(py).iter().zip(&self.buffers) {
            dict.set_item(key, Buffer::new(bytes.clone()))?;
        }
        Ok(dict)
    }

    /// Returns the buffers by key. Python may write to those that nobody else holds.
    pub fn into_buffers(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        for (key, bytes) in self.form.keys(py).iter().zip(self.buffers) {
            dict.set_item(key, Buffer::writable(bytes))?;
        }
        Ok(dict)
    }
}

/// Takes the buffers of an array in the order of the nodes of its Form: the buffers of a node before the buffers below
/// it.
#[derive(Default)]
struct Builder {
    buffers: Vec<Bytes>,
}

impl Builder {
    /// Takes the buffers of an array. `below_nulls` says that a null is above it: one in a field that has none
    /// then only fills the place.
    fn form(&mut self, array: &ArrayRef, field: &Field, below_nulls: bool) -> Result<()> {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        if nulls.is_some() && !field.is_nullable() && !below_nulls {
            return Err(Error::out_of_spec(format!(
                "{} has nulls, which its type does not have",
                field.name()
            )));
        }
        if may_be_missing(field) {
            let mask = match nulls {
                Some(nulls) => bytes_of_bits(nulls.inner()),
                None => vec![1; array.len()],
            };
            self.buffers.push(mask.into());
        }
        self.value(array, field, below_nulls)
    }

    /// Takes the buffers of the values of an array, whether there are nulls or not.
    fn value(&mut self, array: &ArrayRef, field: &Field, below_nulls: bool) -> Result<()> {
        let below_nulls = below_nulls || array.nulls().is_some_and(|nulls| nulls.null_count() > 0);
        match field.data_type() {
            _ if Date::is_in(field) => {
                let seconds = date_seconds(array).map(|second| second.unwrap_or(NOT_A_TIME));
                self.buffers.push(seconds.collect::<Vec<i64>>().into());
            }
            DataType::Boolean => {
                self.buffers.push(bytes_of_bits(array.as_boolean().values()).into());
            }
            DataType::LargeBinary => {
                let array = array.as_binary::<i64>();
                self.buffers.extend([bytes(array.offsets()), array.values().clone()]);
            }
            DataType::LargeUtf8 => {
                let array = array.as_string::<i64>();
                self.buffers.extend([bytes(array.offsets()), array.values().clone()]);
            }
            DataType::LargeList(item) => {
                let list = array.as_list::<i64>();
                self.buffers.push(bytes(list.offsets()));
                self.form(list.values(), item, below_nulls)?;
            }
            DataType::FixedSizeList(item, _) => {
                self.form(array.as_fixed_size_list().values(), item, below_nulls)?;
            }
            DataType::Struct(fields) => {
                for (field, array) in fields.iter().zip(array.as_struct().columns()) {
                    self.form(array, field, below_nulls)?;
                }
            }
            DataType::Union(fields, _) => self.union(array.as_union(), fields, below_nulls)?,
            DataType::Null => self.buffers.push(vec![-1i64; array.len()].into()),
            data_type => {
                primitive(data_type).ok_or_else(|| unsupported(field))?;
                let data = array.to_data();
                let width = data_type.primitive_width().unwrap_or(1);
                let data = data.buffers().first().map_or_else(Bytes::default, |buffer| {
                    buffer.slice_with_length(data.offset() * width, data.len() * width)
                });
                self.buffers.push(data);
            }
        }
        Ok(())
    }
}

fn bytes(offsets: &OffsetBuffer<i64>) -> Bytes {
    offsets.inner().inner().clone()
}
