//! Builds columns value by value, and makes Arrow arrays of them.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeListArray, LargeBinaryArray,
    LargeListArray, NullArray, StructArray, UnionArray,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};

use super::shape::{Shape, fixed_size};
use crate::arena::huge_pages;
use crate::arrow::{Native, Number, each_number, numbers_enum, numbers_of};
use crate::error::{Error, Result};

/// The values of one shape.
pub(super) enum ColumnBuilder {
    Number(Numbers),
    /// Strings or raw bytes. Raw bytes may be null.
    Bytes {
        data: Vec<u8>,
        offsets: Vec<i64>,
        valid: BooleanBufferBuilder,
    },
    List {
        offsets: Vec<i64>,
        item: Box<ColumnBuilder>,
    },
    /// Lists of one length. The length of this column is the number of lists, not of items.
    Fixed {
        len: usize,
        size: usize,
        item: Box<ColumnBuilder>,
    },
    Record {
        len: usize,
        members: Vec<ColumnBuilder>,
    },
    Optional {
        valid: BooleanBufferBuilder,
        value: Box<ColumnBuilder>,
    },
    Union {
        ids: Vec<i8>,
        offsets: Vec<i32>,
        nulls: usize,
        children: Vec<ColumnBuilder>,
    },
}

numbers_enum! {
    /// Numbers of one type.
    pub(super) enum Numbers { Bool(BooleanBufferBuilder), Vec }
}

impl Numbers {
    fn new(number: Number) -> Self {
        numbers_of!(Self, number, T => Vec::<<T as ArrowPrimitiveType>::Native>::new(),
            bool => BooleanBufferBuilder::new(0))
    }

    fn len(&self) -> usize {
        each_number!(Self, self, values => values.len(), bits => bits.len())
    }

    fn push_zero(&mut self) {
        each_number!(Self, self, values => values.push(Default::default()),
            bits => bits.append(false));
    }

    /// Appends numbers of a type whose values fit.
    fn append(&mut self, others: &Self) {
        let bit = |set: bool| (i128::from(set), f64::from(u8::from(set)));
        let wide: Vec<(i128, f64)> = each_number!(Self, others,
            values => values.iter().map(|value| Native::wide(*value)).collect(),
            bits => (0..bits.len()).map(|at| bit(bits.get_bit(at))).collect());
        let wide = wide.into_iter();
        each_number!(Self, self, values => wide.for_each(|value| values.push(Native::narrow(value))),
            bits => wide.for_each(|value| bits.append(value.0 != 0)));
    }

    /// Returns the number at `row` as a count.
    fn count(&self, row: usize) -> Option<i64> {
        each_number!(Self, self, values => values.get(row)?.to_i64(), _bits => None)
    }

    fn finish(self) -> ArrayRef {
        each_number!(Self, self, values => Native::array(values),
            bits => { let mut bits = bits; Arc::new(BooleanArray::new(bits.finish(), None)) })
    }
}

impl ColumnBuilder {
    /// Makes an empty column.
    pub(super) fn new(shape: &Shape) -> Self {
        match shape {
            Shape::Number(number) | Shape::Quantized(_, number) => {
                Self::Number(Numbers::new(*number))
            }
            Shape::Date | Shape::Link => Self::Number(Numbers::new(Number::UInt32)),
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

    /// Returns the number of values.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Number(numbers) => numbers.len(),
            Self::Bytes { offsets, .. } | Self::List { offsets, .. } => offsets.len() - 1,
            Self::Fixed { len, .. } | Self::Record { len, .. } => *len,
            Self::Optional { valid, .. } => valid.len(),
            Self::Union { ids, .. } => ids.len(),
        }
    }

    /// Returns the number of values, including lists and records, that [`Self::push_default`] appends.
    pub(super) fn default_size(&self) -> usize {
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
    pub(super) fn push_default(&mut self) {
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

    /// Appends a string or raw bytes. Other columns do not change.
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        if let Self::Bytes { data, offsets, valid } = self {
            data.extend_from_slice(bytes);
            offsets.push(data.len() as i64);
            valid.append(true);
        }
    }

    /// Appends the values of a column with the same lists, whose numbers fit.
    ///
    /// # Errors
    /// An error for a column of another shape.
    pub(super) fn append(&mut self, others: &Self) -> Result<()> {
        match (self, others) {
            (Self::Number(own), Self::Number(others)) => own.append(others),
            (Self::List { offsets, item }, Self::List { offsets: more, item: others }) => {
                let start = item.len() as i64;
                offsets.extend(more.iter().skip(1).map(|end| start + end));
                item.append(others)?;
            }
            (Self::Fixed { len, item, .. }, Self::Fixed { len: more, item: others, .. }) => {
                *len += more;
                item.append(others)?;
            }
            _ => return Err(mismatch()),
        }
        Ok(())
    }

    /// Reserves memory for `more` times as many values as there are, but at most `limit` bytes in each buffer.
    /// If there is not enough memory, nothing happens.
    pub(super) fn reserve(&mut self, more: f64, limit: usize) {
        match self {
            Self::Number(numbers) => {
                each_number!(Numbers, numbers, values => room(values, more, limit),
                _bits => {})
            }
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

    /// Returns the number in the record at `row` as a count. `path` leads to the member.
    pub(super) fn count(&self, path: &[usize], row: usize) -> Option<i64> {
        match (self, path) {
            (Self::Number(numbers), []) => numbers.count(row),
            (Self::Record { members, .. }, [first, rest @ ..]) => {
                members.get(*first)?.count(rest, row)
            }
            _ => None,
        }
    }

    /// Returns the array of the values.
    ///
    /// # Errors
    /// `LimitExceeded` if a union has more values than Arrow can count.
    pub(super) fn finish(self, shape: &Shape) -> Result<ArrayRef> {
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
    members: Vec<ColumnBuilder>,
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

/// Reserves memory for `more` times as many values, but at most `limit` bytes.
#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "an estimate")]
fn room<T>(values: &mut Vec<T>, more: f64, limit: usize) {
    let wanted = (values.len() as f64 * more) as usize;
    // If memory is short, appending the values gives the error.
    let _ = values.try_reserve_exact(wanted.min(limit / size_of::<T>()));
    huge_pages(values.spare_capacity_mut());
}

/// Makes an offsets buffer. The offsets start at 0 and never descend, since they are lengths of growing vectors.
fn buffer(offsets: Vec<i64>) -> OffsetBuffer<i64> {
    OffsetBuffer::new(ScalarBuffer::from(offsets))
}

fn arrow(error: arrow_schema::ArrowError) -> Error {
    Error::limit("streamed objects do not make an Arrow array").with_source(error)
}

pub(super) fn mismatch() -> Error {
    Error::out_of_spec("a streamed member does not have the form that its class needs")
}
