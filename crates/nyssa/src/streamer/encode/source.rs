//! Arrow arrays as values of a shape, taken apart once so that objects are put together without
//! looking at types.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, BooleanArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use crate::error::{Error, Result, ResultExt};
use crate::streamer::shape::{Number, Shape};

/// Values of one shape.
pub(super) enum Source<'a> {
    Number(Numbers<'a>),
    /// Strings and raw bytes; raw ones may be null.
    Bytes {
        offsets: Cow<'a, [i64]>,
        data: &'a [u8],
        nulls: Option<&'a NullBuffer>,
    },
    List {
        offsets: Cow<'a, [i64]>,
        item: Box<Source<'a>>,
    },
    Fixed {
        size: usize,
        item: Box<Source<'a>>,
    },
    Record(Vec<Source<'a>>),
    /// The items of `TClonesArray`s of split branches, which have nothing else of them: of one class,
    /// by its number among those of the shape.
    Clones {
        offsets: Cow<'a, [i64]>,
        class: usize,
        item: Box<Source<'a>>,
    },
    Optional {
        nulls: Option<&'a NullBuffer>,
        value: Box<Source<'a>>,
    },
    Union {
        ids: &'a [i8],
        offsets: &'a [i32],
        children: Vec<Source<'a>>,
    },
}

/// Numbers of one type.
#[allow(missing_docs)]
pub(super) enum Numbers<'a> {
    Bool(&'a BooleanArray),
    I8(&'a [i8]),
    U8(&'a [u8]),
    I16(&'a [i16]),
    U16(&'a [u16]),
    I32(&'a [i32]),
    U32(&'a [u32]),
    I64(&'a [i64]),
    U64(&'a [u64]),
    F32(&'a [f32]),
    F64(&'a [f64]),
}

impl<'a> Source<'a> {
    /// Takes `array` for values of `shape`.
    ///
    /// # Errors
    /// `InvalidArgument` naming the member whose array has another type, or nulls where none can be.
    pub fn new(shape: &Shape, array: &'a dyn Array) -> Result<Self> {
        let nullable = matches!(shape, Shape::Raw | Shape::Optional(_));
        if !nullable && array.null_count() > 0 {
            return Err(Error::invalid_argument("null, where an object has no place for it"));
        }
        Self::of_values(shape, array)
    }

    fn of_values(shape: &Shape, array: &'a dyn Array) -> Result<Self> {
        let refused = || mismatch(shape, array);
        Ok(match shape {
            Shape::Number(number) => Self::Number(Numbers::new(*number, array)?),
            Shape::Text | Shape::Raw => {
                let (offsets, data) = bytes(array).ok_or_else(refused)?;
                Self::Bytes { offsets, data, nulls: array.nulls() }
            }
            Shape::List(item) => {
                let (offsets, values) = list(array).ok_or_else(refused)?;
                Self::List { offsets, item: Box::new(Self::new(item, values)?) }
            }
            Shape::Fixed(size, item) => {
                let list = array.as_fixed_size_list_opt().ok_or_else(refused)?;
                if usize::try_from(list.value_length()) != Ok(*size) {
                    return Err(refused());
                }
                let item = Self::new(item, list.values().as_ref())?;
                Self::Fixed { size: *size, item: Box::new(item) }
            }
            Shape::Record(members) => {
                if let (Some(classes), Some((offsets, items))) = (clones(members), list(array)) {
                    return Self::of_clones(classes, offsets, items);
                }
                let record = array.as_struct_opt().ok_or_else(refused)?;
                if record.num_columns() != members.len() {
                    return Err(refused());
                }
                let member = |(name, shape): &(String, Shape)| {
                    let array = record.column_by_name(name).ok_or_else(refused)?;
                    Self::new(shape, array.as_ref()).in_field(name)
                };
                Self::Record(members.iter().map(member).collect::<Result<_>>()?)
            }
            Shape::Optional(value) => Self::Optional {
                nulls: array.nulls(),
                value: Box::new(Self::of_values(value, array)?),
            },
            Shape::Union(alternatives) => {
                let union = array.as_union_opt().ok_or_else(refused)?;
                let offsets = union.offsets().ok_or_else(refused)?;
                let DataType::Union(fields, _) = union.data_type() else { return Err(refused()) };
                // Type ids count the children: 0 is null, and has no shape.
                let names = fields.iter().skip(1).map(|(_, field)| field.name());
                let counted = fields.iter().map(|(id, _)| id).eq((0_i8..).take(fields.len()));
                if !counted || !names.eq(alternatives.iter().map(|(name, _)| name)) {
                    return Err(refused());
                }
                let children = (1_i8..).zip(alternatives).map(|(id, (name, shape))| {
                    Self::new(shape, union.child(id).as_ref()).in_field(name)
                });
                Self::Union {
                    ids: union.type_ids(),
                    offsets,
                    children: children.collect::<Result<_>>()?,
                }
            }
        })
    }

    /// Items of the only class whose objects they can be.
    fn of_clones(
        classes: &[(String, Shape)],
        offsets: Cow<'a, [i64]>,
        items: &'a dyn Array,
    ) -> Result<Self> {
        let sources = classes.iter().map(|(_, shape)| Self::new(shape, items));
        let mut fitting = sources.enumerate().filter_map(|(class, item)| Some((class, item.ok()?)));
        match (fitting.next(), fitting.next()) {
            (Some((class, item)), None) => {
                Ok(Self::Clones { offsets, class, item: Box::new(item) })
            }
            (Some(_), Some(_)) => Err(Error::unsupported(
                "a split TClonesArray whose items could be of several classes",
            )),
            (None, _) => Err(Error::invalid_argument(format!(
                "a TClonesArray of {}, which no class is",
                items.data_type()
            ))),
        }
    }

    /// The number at `row` as a count, found by the path of a member.
    pub fn count(&self, path: &[usize], row: usize) -> Option<usize> {
        match (self, path) {
            (Self::Number(numbers), []) => numbers.count(row),
            (Self::Record(members), [first, rest @ ..]) => members.get(*first)?.count(rest, row),
            _ => None,
        }
    }
}

impl<'a> Numbers<'a> {
    fn new(number: Number, array: &'a dyn Array) -> Result<Self> {
        macro_rules! values {
            ($variant:ident, $type:ty) => {
                array
                    .as_primitive_opt::<$type>()
                    .map(|array| Self::$variant(array.values().as_ref()))
            };
        }
        let numbers = match number {
            Number::Bool => array.as_boolean_opt().map(Self::Bool),
            Number::I8 => values!(I8, Int8Type),
            Number::U8 => values!(U8, UInt8Type),
            Number::I16 => values!(I16, Int16Type),
            Number::U16 => values!(U16, UInt16Type),
            Number::I32 => values!(I32, Int32Type),
            Number::U32 => values!(U32, UInt32Type),
            Number::I64 => values!(I64, Int64Type),
            Number::U64 => values!(U64, UInt64Type),
            Number::F32 => values!(F32, Float32Type),
            Number::F64 => values!(F64, Float64Type),
        };
        numbers.ok_or_else(|| mismatch(&Shape::Number(number), array))
    }

    /// The number at `row` as a count.
    #[allow(clippy::unnecessary_fallible_conversions, reason = "of some of the types")]
    fn count(&self, row: usize) -> Option<usize> {
        match self {
            Self::I8(values) => usize::try_from(*values.get(row)?).ok(),
            Self::U8(values) => usize::try_from(*values.get(row)?).ok(),
            Self::I16(values) => usize::try_from(*values.get(row)?).ok(),
            Self::U16(values) => usize::try_from(*values.get(row)?).ok(),
            Self::I32(values) => usize::try_from(*values.get(row)?).ok(),
            Self::U32(values) => usize::try_from(*values.get(row)?).ok(),
            Self::I64(values) => usize::try_from(*values.get(row)?).ok(),
            Self::U64(values) => usize::try_from(*values.get(row)?).ok(),
            Self::Bool(_) | Self::F32(_) | Self::F64(_) => None,
        }
    }
}

/// The classes that the items of a collection may have, if its members are those of a `TClonesArray`.
fn clones(members: &[(String, Shape)]) -> Option<&[(String, Shape)]> {
    match members {
        [_, _, (lower, _), (items, Shape::List(item))]
            if lower == "fLowerBound" && items == "items" =>
        {
            match &**item {
                Shape::Union(classes) => Some(classes),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Offsets and bytes of an array of strings.
fn bytes(array: &dyn Array) -> Option<(Cow<'_, [i64]>, &[u8])> {
    if let Some(array) = array.as_binary_opt::<i64>() {
        Some((Cow::Borrowed(array.value_offsets()), array.value_data()))
    } else if let Some(array) = array.as_string_opt::<i64>() {
        Some((Cow::Borrowed(array.value_offsets()), array.value_data()))
    } else if let Some(array) = array.as_binary_opt::<i32>() {
        Some((wide(array.value_offsets()), array.value_data()))
    } else {
        let array = array.as_string_opt::<i32>()?;
        Some((wide(array.value_offsets()), array.value_data()))
    }
}

/// Offsets and items of lists.
fn list(array: &dyn Array) -> Option<(Cow<'_, [i64]>, &dyn Array)> {
    if let Some(list) = array.as_list_opt::<i64>() {
        Some((Cow::Borrowed(list.value_offsets()), list.values().as_ref()))
    } else {
        let list = array.as_list_opt::<i32>()?;
        Some((wide(list.value_offsets()), list.values().as_ref()))
    }
}

fn wide(offsets: &[i32]) -> Cow<'_, [i64]> {
    offsets.iter().copied().map(i64::from).collect()
}

fn mismatch(shape: &Shape, array: &dyn Array) -> Error {
    Error::invalid_argument(format!(
        "an array of {}, where the class needs {}",
        array.data_type(),
        shape.data_type()
    ))
}
