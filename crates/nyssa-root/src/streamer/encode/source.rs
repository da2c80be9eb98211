//! Checks the type of an Arrow array once, so that the encoder reads values without checking types again.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use crate::arrow::{Native, Number, brief, each_number, numbers_enum, numbers_of};
use crate::error::{Error, Result, ResultExt};
use crate::streamer::shape::Shape;

/// The values of one shape.
pub(super) enum Source<'a> {
    Number(Numbers<'a>),
    /// Strings or raw bytes. Raw bytes may be null.
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
    /// The items of `TClonesArray`s of split branches, which hold only the items. All items are of one class, given
    /// by its number among the classes of the shape.
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
        ids: Cow<'a, [i8]>,
        offsets: &'a [i32],
        children: Vec<Source<'a>>,
    },
    /// Null pointers, or no values, in an array of another type. The type of a pointer depends on whether its
    /// class is compiled alone or inside another class.
    Nothing,
}

/// Returns whether an array has only null pointers.
fn all_null(array: &dyn Array) -> bool {
    match array.as_union_opt() {
        Some(union) => union.type_ids().iter().all(|&id| id == 0),
        None => array.null_count() == array.len(),
    }
}

/// The numbers of an array.
type Slice<'a, T> = &'a [T];

numbers_enum! {
    /// Numbers of one type.
    pub(super) enum Numbers<'a> { Bool(&'a BooleanArray), Slice }
}

impl<'a> Source<'a> {
    /// Makes the source of the values of `shape` in `array`.
    ///
    /// # Errors
    /// `InvalidArgument` with the member whose array has another type, or nulls where none are possible.
    pub(super) fn new(shape: &Shape, array: &'a dyn Array) -> Result<Self> {
        Self::in_objects(shape, array, None)
    }

    /// Makes the source of the members of objects. `there` says which of the objects are there: the members of the others
    /// may be null.
    fn in_objects(shape: &Shape, array: &'a dyn Array, there: Option<&NullBuffer>) -> Result<Self> {
        let nullable = matches!(shape, Shape::Raw | Shape::Optional(_));
        let is_there = |row: usize| there.is_none_or(|there| there.is_valid(row));
        let mut nulls = (0..array.len()).filter(|&row| array.is_null(row));
        if !nullable && array.null_count() > 0 && nulls.any(is_there) {
            return Err(Error::invalid_argument("null, where an object has no place for it"));
        }
        let pointer = matches!(shape, Shape::Raw | Shape::Optional(_) | Shape::Union(_));
        match Self::of_values(shape, array, there) {
            Err(_) if pointer && all_null(array) => Ok(Self::Nothing),
            array => array,
        }
    }

    fn of_values(shape: &Shape, array: &'a dyn Array, there: Option<&NullBuffer>) -> Result<Self> {
        let refused = || mismatch(shape, array);
        Ok(match shape {
            Shape::Number(number) | Shape::Quantized(_, number) => {
                Self::Number(Numbers::new(*number, array)?)
            }
            Shape::Date => Self::Number(Numbers::new(Number::UInt32, array)?),
            Shape::Link => return Err(refused()),
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
                let there = there.map(|there| there.expand(*size));
                let item = Self::in_objects(item, list.values().as_ref(), there.as_ref())?;
                Self::Fixed { size: *size, item: Box::new(item) }
            }
            Shape::Record(members) => {
                if let (Some(classes), Some((offsets, items))) = (clones(members), list(array)) {
                    return Self::of_clones(classes, offsets, items);
                }
                let record = array.as_struct_opt().ok_or_else(refused)?;
                let mut columns = 0;
                let member = |(name, shape): &(String, Shape)| match record.column_by_name(name) {
                    Some(array) => {
                        columns += 1;
                        Self::in_objects(shape, array.as_ref(), there).in_field(name)
                    }
                    // A split object has no branch for a base class without members.
                    None => Self::without_members(shape).ok_or_else(refused),
                };
                let members = members.iter().map(member).collect::<Result<_>>()?;
                if record.num_columns() != columns {
                    return Err(refused());
                }
                Self::Record(members)
            }
            Shape::Optional(value) => {
                let there = NullBuffer::union(there, array.nulls());
                let value = Box::new(Self::of_values(value, array, there.as_ref())?);
                Self::Optional { nulls: array.nulls(), value }
            }
            Shape::Union(alternatives) => {
                let union = array.as_union_opt().ok_or_else(refused)?;
                let offsets = union.offsets().ok_or_else(refused)?;
                let DataType::Union(fields, _) = union.data_type() else { return Err(refused()) };
                // Type ids are the numbers of the children. Id 0 is null, which has no shape.
                if !fields.iter().map(|(id, _)| id).eq((0_i8..).take(fields.len())) {
                    return Err(refused());
                }
                let mut numbers = vec![0; fields.len()];
                let mut children: Vec<_> = alternatives.iter().map(|_| Self::Nothing).collect();
                for (id, field) in fields.iter().skip(1) {
                    let child = union.child(id);
                    let mut named = (1_i8..).zip(alternatives).zip(&mut children);
                    match named.find(|((_, (name, _)), _)| name == field.name()) {
                        Some(((number, (name, shape)), room)) => {
                            *room = match Self::new(shape, child.as_ref()).in_field(name) {
                                Err(_) if child.is_empty() => Self::Nothing,
                                array => array?,
                            };
                            *numbers.get_mut(id as usize).ok_or_else(refused)? = number;
                        }
                        None if child.is_empty() => (),
                        None => return Err(refused()).in_field(field.name()),
                    }
                }
                let number = |id: &i8| numbers.get(*id as usize).copied();
                let ids: Option<Vec<i8>> = union.type_ids().iter().map(number).collect();
                Self::Union { ids: Cow::Owned(ids.ok_or_else(refused)?), offsets, children }
            }
        })
    }

    /// Returns the source of an object without members.
    fn without_members(shape: &Shape) -> Option<Self> {
        let Shape::Record(members) = shape else { return None };
        let members = members.iter().map(|(_, shape)| Self::without_members(shape));
        members.collect::<Option<_>>().map(Self::Record)
    }

    /// Makes the source of items, if they can be of one class only.
    fn of_clones(
        classes: Vec<&Shape>,
        offsets: Cow<'a, [i64]>,
        items: &'a dyn Array,
    ) -> Result<Self> {
        let sources = classes.into_iter().map(|shape| Self::new(shape, items));
        let fits = |item: Result<Self>| item.ok().filter(|item| !matches!(item, Self::Nothing));
        let mut fitting =
            sources.enumerate().filter_map(|(class, item)| Some((class, fits(item)?)));
        match (fitting.next(), fitting.next()) {
            (Some((class, item)), None) => {
                Ok(Self::Clones { offsets, class, item: Box::new(item) })
            }
            (Some(_), Some(_)) => Err(Error::unsupported(
                "a split TClonesArray whose items could be of several classes",
            )),
            (None, _) => Err(Error::invalid_argument(format!(
                "a TClonesArray of {}, which no class is",
                brief(items.data_type())
            ))),
        }
    }

    /// Returns the number at `row` as a count. `path` leads to the member.
    pub(super) fn count(&self, path: &[usize], row: usize) -> Option<usize> {
        match (self, path) {
            (Self::Number(numbers), []) => numbers.count(row),
            (Self::Record(members), [first, rest @ ..]) => members.get(*first)?.count(rest, row),
            _ => None,
        }
    }
}

impl<'a> Numbers<'a> {
    fn new(number: Number, array: &'a dyn Array) -> Result<Self> {
        let refused = || mismatch(&Shape::Number(number), array);
        Ok(numbers_of!(Self, number,
            T => array.as_primitive_opt::<T>().ok_or_else(refused)?.values().as_ref(),
            bool => array.as_boolean_opt().ok_or_else(refused)?))
    }

    /// Returns the number at `row` as a count.
    fn count(&self, row: usize) -> Option<usize> {
        let count = each_number!(Self, self, values => values.get(row)?.to_i64(), _bits => None);
        usize::try_from(count?).ok()
    }
}

/// Returns the classes that the items of a collection may have, if it has the members of a `TClonesArray`.
fn clones(members: &[(String, Shape)]) -> Option<Vec<&Shape>> {
    match members {
        [_, _, (lower, _), (items, Shape::List(item))]
            if lower == "fLowerBound" && items == "items" =>
        {
            match &**item {
                Shape::Union(classes) => Some(classes.iter().map(|(_, shape)| shape).collect()),
                Shape::Optional(class) => Some(vec![class]),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the offsets and the bytes of an array of strings.
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

/// Returns the offsets and the items of lists.
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
        brief(array.data_type()),
        brief(&shape.data_type())
    ))
}
