//! Columns that grow value by value and become Arrow arrays.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, LargeBinaryArray, LargeListArray, NullArray,
    PrimitiveArray, StructArray, UnionArray, types,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};

use super::shape::{Number, Shape, fixed_size};
use crate::arena::huge_pages;
use crate::error::{Error, Result};

/// Values of one shape.
pub(super) enum Column {
    Number(Numbers),
    /// Strings and raw bytes; raw ones may be null.
    Bytes {
        data: Vec<u8>,
        offsets: Vec<i64>,
        valid: BooleanBufferBuilder,
    },
    List {
        offsets: Vec<i64>,
        item: Box<Column>,
    },
    /// The length counts lists, not items.
    Fixed {
        len: usize,
        size: usize,
        item: Box<Column>,
    },
    Record {
        len: usize,
        members: Vec<Column>,
    },
    Optional {
        valid: BooleanBufferBuilder,
        value: Box<Column>,
    },
    Union {
        ids: Vec<i8>,
        offsets: Vec<i32>,
        nulls: usize,
        children: Vec<Column>,
    },
}

/// Numbers of one type.
#[allow(missing_docs)]
pub(super) enum Numbers {
    Bool(BooleanBufferBuilder),
    I8(Vec<i8>),
    U8(Vec<u8>),
    I16(Vec<i16>),
    U16(Vec<u16>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    I64(Vec<i64>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// Runs `$body` with the vector of numbers; bits apart.
macro_rules! each_vector {
    ($numbers:expr, $values:ident => $body:expr, $bits:ident => $other:expr) => {
        match $numbers {
            Numbers::Bool($bits) => $other,
            Numbers::I8($values) => $body,
            Numbers::U8($values) => $body,
            Numbers::I16($values) => $body,
            Numbers::U16($values) => $body,
            Numbers::I32($values) => $body,
            Numbers::U32($values) => $body,
            Numbers::I64($values) => $body,
            Numbers::U64($values) => $body,
            Numbers::F32($values) => $body,
            Numbers::F64($values) => $body,
        }
    };
}

impl Numbers {
    fn new(number: Number) -> Self {
        match number {
            Number::Bool => Self::Bool(BooleanBufferBuilder::new(0)),
            Number::I8 => Self::I8(Vec::new()),
            Number::U8 => Self::U8(Vec::new()),
            Number::I16 => Self::I16(Vec::new()),
            Number::U16 => Self::U16(Vec::new()),
            Number::I32 => Self::I32(Vec::new()),
            Number::U32 | Number::Date => Self::U32(Vec::new()),
            Number::I64 => Self::I64(Vec::new()),
            Number::U64 => Self::U64(Vec::new()),
            Number::F32 => Self::F32(Vec::new()),
            Number::F64 => Self::F64(Vec::new()),
        }
    }

    fn len(&self) -> usize {
        each_vector!(self, values => values.len(), bits => bits.len())
    }

    fn push_zero(&mut self) {
        each_vector!(self, values => values.push(Default::default()), bits => bits.append(false));
    }

    /// The number at `row` as a count.
    #[allow(clippy::unnecessary_fallible_conversions, reason = "of some of the types")]
    fn count(&self, row: usize) -> Option<i64> {
        match self {
            Self::I8(values) => values.get(row).map(|&value| value.into()),
            Self::U8(values) => values.get(row).map(|&value| value.into()),
            Self::I16(values) => values.get(row).map(|&value| value.into()),
            Self::U16(values) => values.get(row).map(|&value| value.into()),
            Self::I32(values) => values.get(row).map(|&value| value.into()),
            Self::U32(values) => values.get(row).map(|&value| value.into()),
            Self::I64(values) => values.get(row).copied(),
            Self::U64(values) => values.get(row).and_then(|&value| value.try_into().ok()),
            Self::Bool(_) | Self::F32(_) | Self::F64(_) => None,
        }
    }

    fn finish(self) -> ArrayRef {
        macro_rules! array {
            ($type:ident, $values:expr) => {
                Arc::new(PrimitiveArray::<types::$type>::new(ScalarBuffer::from($values), None))
            };
        }
        match self {
            Self::Bool(mut bits) => Arc::new(BooleanArray::new(bits.finish(), None)),
            Self::I8(values) => array!(Int8Type, values),
            Self::U8(values) => array!(UInt8Type, values),
            Self::I16(values) => array!(Int16Type, values),
            Self::U16(values) => array!(UInt16Type, values),
            Self::I32(values) => array!(Int32Type, values),
            Self::U32(values) => array!(UInt32Type, values),
            Self::I64(values) => array!(Int64Type, values),
            Self::U64(values) => array!(UInt64Type, values),
            Self::F32(values) => array!(Float32Type, values),
            Self::F64(values) => array!(Float64Type, values),
        }
    }
}

impl Column {
    /// An empty column.
    pub fn new(shape: &Shape) -> Self {
        match shape {
            Shape::Number(number) => Self::Number(Numbers::new(*number)),
            Shape::Text | Shape::Raw => Self::Bytes {
                data: Vec::new(),
                offsets: vec![0],
                valid: BooleanBufferBuilder::new(0),
            },
            Shape::List(item) => Self::List { offsets: vec![0], item: Box::new(Self::new(item)) },
            Shape::Fixed(size, item) => {
                Self::Fixed { len: 0, size: *size, item: Box::new(Self::new(item)) }
            }
            Shape::Record(members) => Self::Record {
                len: 0,
                members: members.iter().map(|(_, shape)| Self::new(shape)).collect(),
            },
            Shape::Optional(value) => Self::Optional {
                valid: BooleanBufferBuilder::new(0),
                value: Box::new(Self::new(value)),
            },
            Shape::Union(children) => Self::Union {
                ids: Vec::new(),
                offsets: Vec::new(),
                nulls: 0,
                children: children.iter().map(|(_, shape)| Self::new(shape)).collect(),
            },
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Number(numbers) => numbers.len(),
            Self::Bytes { offsets, .. } | Self::List { offsets, .. } => offsets.len() - 1,
            Self::Fixed { len, .. } | Self::Record { len, .. } => *len,
            Self::Optional { valid, .. } => valid.len(),
            Self::Union { ids, .. } => ids.len(),
        }
    }

    /// Number of values, and of lists and the like, that [`Self::push_default`] appends in all.
    pub fn default_size(&self) -> usize {
        match self {
            Self::Number(_) | Self::Bytes { .. } | Self::List { .. } | Self::Union { .. } => 1,
            Self::Fixed { size, item, .. } => {
                size.saturating_mul(item.default_size()).saturating_add(1)
            }
            Self::Record { members, .. } => {
                members.iter().fold(1, |sum, member| sum.saturating_add(member.default_size()))
            }
            Self::Optional { value, .. } => value.default_size().saturating_add(1),
        }
    }

    /// Appends zero, an empty list or string, or null.
    pub fn push_default(&mut self) {
        match self {
            Self::Number(numbers) => numbers.push_zero(),
            Self::Bytes { data, offsets, valid } => {
                offsets.push(data.len() as i64);
                valid.append(false);
            }
            Self::List { offsets, item } => offsets.push(item.len() as i64),
            Self::Fixed { len, size, item } => {
                (0..*size).for_each(|_| item.push_default());
                *len += 1;
            }
            Self::Record { len, members } => {
                members.iter_mut().for_each(Self::push_default);
                *len += 1;
            }
            Self::Optional { valid, value } => {
                value.push_default();
                valid.append(false);
            }
            Self::Union { ids, offsets, nulls, .. } => {
                ids.push(0);
                offsets.push(i32::try_from(*nulls).unwrap_or(i32::MAX));
                *nulls += 1;
            }
        }
    }

    /// Appends a string or raw bytes; nothing on other columns.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        if let Self::Bytes { data, offsets, valid } = self {
            data.extend_from_slice(bytes);
            offsets.push(data.len() as i64);
            valid.append(true);
        }
    }

    /// Makes room for `more` times as many values as there are, but for no more than `limit` bytes in
    /// any buffer, and for nothing where memory is short.
    pub fn reserve(&mut self, more: f64, limit: usize) {
        match self {
            Self::Number(numbers) => each_vector!(numbers, values => room(values, more, limit),
                _bits => {}),
            Self::Bytes { data, offsets, .. } => {
                room(data, more, limit);
                room(offsets, more, limit);
            }
            Self::List { offsets, item } => {
                room(offsets, more, limit);
                item.reserve(more, limit);
            }
            Self::Fixed { item, .. } => item.reserve(more, limit),
            Self::Record { members, .. } => {
                members.iter_mut().for_each(|member| member.reserve(more, limit));
            }
            Self::Optional { value, .. } => value.reserve(more, limit),
            Self::Union { ids, offsets, children, .. } => {
                room(ids, more, limit);
                room(offsets, more, limit);
                children.iter_mut().for_each(|child| child.reserve(more, limit));
            }
        }
    }

    /// The count in the record at `row`, found by the path of a member.
    pub fn count(&self, path: &[usize], row: usize) -> Option<i64> {
        match (self, path) {
            (Self::Number(numbers), []) => numbers.count(row),
            (Self::Record { members, .. }, [first, rest @ ..]) => {
                members.get(*first)?.count(rest, row)
            }
            _ => None,
        }
    }

    /// The array.
    ///
    /// # Errors
    /// `LimitExceeded` where a union has more values than Arrow counts.
    pub fn finish(self, shape: &Shape) -> Result<ArrayRef> {
        Ok(match (self, shape) {
            (Self::Number(numbers), _) => numbers.finish(),
            (Self::Bytes { data, offsets, mut valid }, shape) => {
                let nulls = (*shape == Shape::Raw).then(|| NullBuffer::new(valid.finish()));
                let data = Buffer::from_vec(data);
                Arc::new(LargeBinaryArray::try_new(buffer(offsets), data, nulls).map_err(arrow)?)
            }
            (Self::List { offsets, item }, Shape::List(of)) => {
                let (offsets, field) = (buffer(offsets), of.item());
                let items = item.finish(of)?;
                Arc::new(LargeListArray::try_new(field, offsets, items, None).map_err(arrow)?)
            }
            (Self::Fixed { len, size, item }, Shape::Fixed(_, of)) => {
                let (size, items) = (fixed_size(size), item.finish(of)?);
                let list =
                    FixedSizeListArray::try_new_with_length(of.item(), size, items, None, len);
                Arc::new(list.map_err(arrow)?)
            }
            (Self::Record { len, members }, Shape::Record(of)) => record(len, members, of, shape)?,
            (Self::Optional { mut valid, value }, Shape::Optional(of)) => {
                let data = value.finish(of)?.to_data().into_builder();
                let nulls = NullBuffer::new(valid.finish());
                arrow_array::make_array(data.nulls(Some(nulls)).build().map_err(arrow)?)
            }
            (Self::Union { ids, offsets, nulls, children }, Shape::Union(of)) => {
                let children =
                    children.into_iter().zip(of).map(|(column, (_, of))| column.finish(of));
                let none: ArrayRef = Arc::new(NullArray::new(nulls));
                let children = [Ok(none)].into_iter().chain(children).collect::<Result<_>>()?;
                let (ids, offsets) = (ScalarBuffer::from(ids), ScalarBuffer::from(offsets));
                let union = UnionArray::try_new(shape.union_fields(), ids, Some(offsets), children);
                Arc::new(union.map_err(arrow)?)
            }
            _ => return Err(mismatch()),
        })
    }
}

fn record(
    len: usize,
    members: Vec<Column>,
    of: &[(String, Shape)],
    shape: &Shape,
) -> Result<ArrayRef> {
    if members.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(len, None)));
    }
    let arrays = members.into_iter().zip(of).map(|(column, (_, shape))| column.finish(shape));
    let arrays = arrays.collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(StructArray::try_new(shape.record_fields(), arrays, None).map_err(arrow)?))
}

/// Room for `more` times as many values, of no more than `limit` bytes.
#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "an estimate")]
fn room<T>(values: &mut Vec<T>, more: f64, limit: usize) {
    let wanted = (values.len() as f64 * more) as usize;
    // Short of memory: the error comes with the values, if they come.
    let _ = values.try_reserve_exact(wanted.min(limit / size_of::<T>()));
    huge_pages(values.spare_capacity_mut());
}

/// Offsets start at 0 and never descend: they are lengths of growing vectors.
fn buffer(offsets: Vec<i64>) -> OffsetBuffer<i64> {
    OffsetBuffer::new(ScalarBuffer::from(offsets))
}

fn arrow(error: arrow_schema::ArrowError) -> Error {
    Error::limit("streamed objects do not make an Arrow array").with_source(error)
}

pub(super) fn mismatch() -> Error {
    Error::out_of_spec("a streamed member does not have the form that its class needs")
}
