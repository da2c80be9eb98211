//! Turns Forms and buffers from Python into Arrow arrays; see [`crate::form`]. Buffers are copied, because Python
//! may change its arrays while nyssa still holds them.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, LargeBinaryArray, LargeListArray, NullArray,
    StructArray, UnionArray, make_array, new_null_array,
};
use arrow_buffer::{
    ArrowNativeType, BooleanBuffer, MutableBuffer, NullBuffer, OffsetBuffer, ScalarBuffer,
};
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{DataType, Field, Metadata, UnionFields};
use nyssa_root::arrow::{STRING, field};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::capsule::{arrow_error, invalid};
use crate::column_form::PRIMITIVES;

/// Returns the array of `length` entries of a Form (a dict), and its field.
pub(crate) fn from_buffers(
    name: &str,
    form: &Bound<'_, PyDict>,
    length: usize,
    buffers: &Bound<'_, PyDict>,
) -> PyResult<(ArrayRef, Field)> {
    Node { form, buffers }.array(name, length)
}

/// A Form and the buffers of all Forms.
#[derive(Clone, Copy)]
struct Node<'a, 'py> {
    form: &'a Bound<'py, PyDict>,
    buffers: &'a Bound<'py, PyDict>,
}

impl<'py> Node<'_, 'py> {
    fn array(self, name: &str, length: usize) -> PyResult<(ArrayRef, Field)> {
        let array: ArrayRef = match self.class()?.as_str() {
            "NumpyArray" => number(&self.text("primitive")?, self.bytes("data")?, length)?,
            "EmptyArray" => number("float64", MutableBuffer::new(0), length)?,
            "ListOffsetArray" => {
                let offsets = offsets(self.values("offsets", length + 1)?)?;
                if let Some(kind) = self.parameter("__array__")? {
                    let values = self.with(&self.content()?).bytes("data")?.into();
                    let text = LargeBinaryArray::try_new(offsets, values, None);
                    let text = Arc::new(text.map_err(arrow_error)?);
                    let own = field(name, DataType::LargeBinary);
                    let bytes = kind == "bytestring";
                    let none = Metadata::default();
                    return Ok((text, if bytes { own.with_metadata(none) } else { own }));
                }
                let items = usize::try_from(offsets.last())
                    .map_err(|_| invalid("offsets of a list are too large"))?;
                let (items, item) = self.with(&self.content()?).array("item", items)?;
                let item = Arc::new(may_be_missing(item));
                let array = LargeListArray::try_new(item, offsets, items, None);
                Arc::new(array.map_err(arrow_error)?)
            }
            "RegularArray" => {
                let size: i32 = self.get("size")?.extract()?;
                let items = usize::try_from(size).ok().and_then(|size| size.checked_mul(length));
                let items = items.ok_or_else(|| invalid("a list is too long"))?;
                let (items, item) = self.with(&self.content()?).array("item", items)?;
                let item = Arc::new(may_be_missing(item));
                let array =
                    FixedSizeListArray::try_new_with_length(item, size, items, None, length);
                Arc::new(array.map_err(arrow_error)?)
            }
            "RecordArray" => return self.record(name, length),
            "ByteMaskedArray" => {
                let mask = self.bytes("mask")?;
                let valid = mask.as_slice().iter().map(|&byte| byte != 0).collect();
                let (values, item) = self.with(&self.content()?).array(name, length)?;
                let array = masked(&values, &NullBuffer::new(valid))?;
                return Ok((array, item.with_nullable(true)));
            }
            "IndexedOptionArray" => {
                let index = self.values::<i64>("index", length)?;
                let (values, item) = self.with(&self.content()?).array(name, reach(&index)?)?;
                return Ok((indexed(&index, &values)?, item.with_nullable(true)));
            }
            "UnmaskedArray" => {
                let (values, item) = self.with(&self.content()?).array(name, length)?;
                return Ok((values, item.with_nullable(true)));
            }
            "UnionArray" => self.union(length)?,
            other => {
                return Err(invalid(&format!("cannot import an array of {other}")));
            }
        };
        let field = field(name, array.data_type().clone());
        Ok((array, field))
    }

    fn record(self, name: &str, length: usize) -> PyResult<(ArrayRef, Field)> {
        let contents = self.get("contents")?;
        let names: Option<Vec<String>> = self.get("fields")?.extract()?;
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (index, content) in contents.try_iter()?.enumerate() {
            let given = names.as_ref().map(|names| names.get(index).cloned().unwrap_or_default());
            let name = given.unwrap_or_else(|| format!("_{index}"));
            let (array, field) = self.with(content?.cast()?).array(&name, length)?;
            fields.push(Arc::new(may_be_missing(field)));
            arrays.push(array);
        }
        let array = StructArray::try_new_with_length(fields.into(), arrays, None, length);
        let array = Arc::new(array.map_err(arrow_error)?);
        let mut field = field(name, array.data_type().clone());
        let class = match names {
            Some(_) => self.parameter("__record__")?,
            None => Some("std::tuple".to_owned()),
        };
        if let Some(class) = class {
            field.metadata_mut().insert(STRING.0.to_owned(), class);
        }
        Ok((array, field))
    }

    /// Makes a dense union, whose types are numbered from 0. A null of a type means that there is no value.
    fn union(self, length: usize) -> PyResult<ArrayRef> {
        let tags = self.values::<i8>("tags", length)?;
        let index = self.values::<i32>("index", length)?;
        let (mut ids, mut fields, mut children) = (Vec::new(), Vec::new(), Vec::new());
        for (id, content) in (0i8..).zip(self.get("contents")?.try_iter()?) {
            let own = tags.iter().zip(&index).filter(|(tag, _)| **tag == id);
            let own: Vec<i64> = own.map(|(_, &index)| i64::from(index)).collect();
            let content = content?;
            let node = self.with(content.cast()?);
            let (array, field) = node.alternative(&format!("_{id}"), reach(&own)?)?;
            ids.push(id);
            fields.push(Arc::new(field.with_nullable(false)));
            children.push(array);
        }
        let fields = UnionFields::try_new(ids, fields).map_err(arrow_error)?;
        let union = UnionArray::try_new(fields, tags, Some(index), children);
        Ok(Arc::new(union.map_err(arrow_error)?))
    }

    /// Returns one type of a union. A variant without a value has a type without values.
    fn alternative(self, name: &str, length: usize) -> PyResult<(ArrayRef, Field)> {
        let inner = match self.class()?.as_str() {
            "IndexedOptionArray" | "ByteMaskedArray" | "UnmaskedArray" => self.content()?,
            _ => self.form.clone(),
        };
        if self.with(&inner).class()? == "EmptyArray" {
            return Ok((Arc::new(NullArray::new(length)), field(name, DataType::Null)));
        }
        self.array(name, length)
    }

    fn with<'b>(&'b self, form: &'b Bound<'py, PyDict>) -> Node<'b, 'py> {
        Node { form, buffers: self.buffers }
    }

    fn get(&self, key: &str) -> PyResult<Bound<'py, PyAny>> {
        self.form.as_any().get_item(key)
    }

    fn text(&self, key: &str) -> PyResult<String> {
        self.get(key)?.extract()
    }

    fn class(&self) -> PyResult<String> {
        self.text("class")
    }

    fn content(&self) -> PyResult<Bound<'py, PyDict>> {
        Ok(self.get("content")?.cast_into()?)
    }

    fn parameter(&self, key: &str) -> PyResult<Option<String>> {
        let Some(parameters) = self.form.get_item("parameters")? else { return Ok(None) };
        let value = parameters.cast::<PyDict>()?.get_item(key)?;
        value.map(|value| value.extract()).transpose()
    }

    /// Returns the first numbers of the buffer of an attribute.
    fn values<T: ArrowNativeType>(
        &self,
        attribute: &str,
        length: usize,
    ) -> PyResult<ScalarBuffer<T>> {
        let bytes = self.bytes(attribute)?;
        if bytes.len() / size_of::<T>() < length {
            return Err(invalid(&format!(
                "the buffer {attribute:?} has fewer than {length} values"
            )));
        }
        Ok(ScalarBuffer::new(bytes.into(), 0, length))
    }

    /// Returns an aligned copy of the buffer of an attribute.
    fn bytes(&self, attribute: &str) -> PyResult<MutableBuffer> {
        let key = format!("{}-{attribute}", self.text("form_key")?);
        let buffer = PyBuffer::<u8>::get(&self.buffers.as_any().get_item(key)?)?;
        let mut bytes = MutableBuffer::from_len_zeroed(buffer.len_bytes());
        buffer.copy_to_slice(self.form.py(), bytes.as_slice_mut())?;
        Ok(bytes)
    }
}

/// Returns the field of a member or an item. A variant without a value is a null of its union.
fn may_be_missing(field: Field) -> Field {
    let variant = matches!(field.data_type(), DataType::Union(..));
    if variant { field.with_nullable(true) } else { field }
}

fn number(primitive: &str, bytes: MutableBuffer, length: usize) -> PyResult<ArrayRef> {
    if primitive == "bool" {
        let bits: BooleanBuffer = bytes.as_slice().iter().take(length).map(|&b| b != 0).collect();
        return Ok(Arc::new(BooleanArray::new(bits, None)));
    }
    let known = PRIMITIVES.into_iter().find(|(name, _)| *name == primitive);
    let (_, data_type) =
        known.ok_or_else(|| invalid(&format!("cannot import numbers of type {primitive}")))?;
    let data = ArrayData::builder(data_type).len(length).add_buffer(bytes.into()).build();
    Ok(make_array(data.map_err(arrow_error)?))
}

fn offsets(offsets: ScalarBuffer<i64>) -> PyResult<OffsetBuffer<i64>> {
    // The result is negative if an offset is negative or smaller than the one before. This is faster than to stop.
    let signs = |signs, pair: &[i64]| signs | pair[1] | pair[1].wrapping_sub(pair[0]);
    let signs = offsets.windows(2).fold(0, signs);
    if offsets.first().is_none_or(|&first| first < 0) || signs < 0 {
        return Err(invalid("offsets of a list must not be negative or decrease"));
    }
    Ok(OffsetBuffer::new(offsets))
}

/// Returns the number of values that an index reaches.
fn reach(index: &[i64]) -> PyResult<usize> {
    let last = index.iter().copied().max().unwrap_or(-1).max(-1);
    usize::try_from(last + 1).map_err(|_| invalid("an index is too large"))
}

/// Returns the values where `valid` is set, and nulls elsewhere.
fn masked(values: &ArrayRef, valid: &NullBuffer) -> PyResult<ArrayRef> {
    if valid.len() != values.len() {
        return Err(invalid("an option has another length than its mask"));
    }
    let place = |(place, valid)| if valid { place } else { -1 };
    indexed(&(0i64..).zip(valid.iter()).map(place).collect::<Vec<_>>(), values)
}

/// Returns the values at the places of an index, and nulls where it is negative.
fn indexed(index: &[i64], values: &ArrayRef) -> PyResult<ArrayRef> {
    let runs = || index.chunk_by(|a, b| if *a < 0 { *b < 0 } else { *b == *a + 1 });
    let missing = runs().filter(|run| run.first().is_some_and(|&first| first < 0));
    let longest = missing.map(<[i64]>::len).max().unwrap_or(0);
    // Nulls are copied from an array of nulls, because Arrow cannot append nulls to a union.
    let (data, nulls) = (values.to_data(), new_null_array(values.data_type(), longest).to_data());
    let all = MutableArrayData::try_new(vec![&data, &nulls], true, index.len());
    let mut all = all.map_err(arrow_error)?;
    for run in runs() {
        match run.first().map(|&first| usize::try_from(first)) {
            Some(Ok(first)) if first + run.len() <= values.len() => {
                all.try_extend(0, first, first + run.len()).map_err(arrow_error)?;
            }
            Some(Ok(_)) => {
                return Err(invalid("an option has fewer values than it refers to"));
            }
            _ => all.try_extend(1, 0, run.len()).map_err(arrow_error)?,
        }
    }
    Ok(make_array(all.freeze()))
}
