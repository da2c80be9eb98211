//! Converts arrays from one type to another.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeListArray, UnionArray, make_array, new_empty_array};
use arrow_buffer::OffsetBuffer;
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, UnionFields};
use nyssa_root::arrow::{children, with_children};
use nyssa_root::error::{Error, Result};

use super::{default_array, numbers};

/// The conversion of arrays of one type to another. [`super::evolve`] makes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversion {
    to: Field,
    step: Step,
    /// Whether a null is an error: the source can hold nulls, and the target cannot.
    refuses_nulls: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// No conversion: the types are equal.
    Keep,
    Number,
    /// The items of lists of one kind, or the alternatives of variants.
    Below(Vec<Conversion>),
    /// Fixed arrays of this size that become lists.
    FixedToList(i32, Box<Conversion>),
    /// Nullable values that become lists of 0 or 1 items.
    NullableToList(Box<Conversion>),
    /// A union of classes.
    Classes(Vec<ClassStep>),
    /// A record. For each member of the target it has the index of its source and the conversion, or `None` if
    /// it is missing.
    Record(Vec<Option<(usize, Conversion)>>),
}

/// The objects of a class: their type id in the source, and their type id in the target with the conversion, or the reason
/// why they cannot be converted.
pub(super) type ClassStep = (i8, std::result::Result<(i8, Conversion), String>);

impl Conversion {
    pub(super) fn new(to: &Field, step: Step, refuses_nulls: bool) -> Self {
        Self { to: to.clone(), step, refuses_nulls }
    }

    /// Returns whether arrays stay unchanged.
    pub fn keeps(&self) -> bool {
        self.step == Step::Keep && !self.refuses_nulls
    }

    /// Converts an array to its new type. Unchanged parts share the memory of the original.
    ///
    /// # Errors
    /// `InvalidArgument` for a number that does not fit, or for a null if the target cannot be null.
    pub fn apply(&self, array: &ArrayRef) -> Result<ArrayRef> {
        if self.refuses_nulls && array.null_count() > 0 {
            let row = (0..array.len()).find(|&row| array.is_null(row)).unwrap_or_default();
            return Err(Error::invalid_argument(format!(
                "value {row} of those read is null, but the target type is not nullable"
            ))
            .at(|place| place.field = Some(self.to.name().clone())));
        }
        let to = self.to.data_type();
        let converted = match &self.step {
            Step::Keep if array.data_type() == to => return Ok(Arc::clone(array)),
            // Only the names of members with aliases differ.
            Step::Keep => relabel(array.to_data(), to).map(make_array),
            Step::Number => return numbers::convert(array, to),
            Step::Below(below) => {
                let children = children(array);
                let children =
                    children.iter().zip(below).map(|(child, conversion)| conversion.apply(child));
                with_children(array, to, &children.collect::<Result<Vec<_>>>()?)
            }
            Step::FixedToList(size, item) => {
                let list = array.as_fixed_size_list();
                let values = item.apply(list.values())?;
                let size = usize::try_from(*size).unwrap_or_default();
                let offsets = OffsetBuffer::from_repeated_length(size, list.len());
                let nulls = list.nulls().cloned();
                LargeListArray::try_new(item.field(), offsets, values, nulls).map(shared)
            }
            Step::NullableToList(item) => {
                let (offsets, values) = present(array)?;
                LargeListArray::try_new(item.field(), offsets, item.apply(&values)?, None)
                    .map(shared)
            }
            Step::Classes(classes) => {
                let DataType::Union(wanted, _) = to else { return Err(unexpected()) };
                return objects(array.as_union(), wanted, classes);
            }
            Step::Record(members) => {
                let DataType::Struct(wanted) = to else { return Err(unexpected()) };
                let record = array.as_struct();
                let column = |(member, field): (&Option<(usize, Self)>, &Arc<Field>)| match member {
                    Some((index, conversion)) => conversion.apply(record.column(*index)),
                    None => default_array(field, record.len()),
                };
                let columns = members.iter().zip(wanted).map(column);
                with_children(array, to, &columns.collect::<Result<Vec<_>>>()?)
            }
        };
        converted.map_err(mismatch)
    }

    fn field(&self) -> Arc<Field> {
        Arc::new(self.to.clone())
    }
}

/// Converts a union to one with the classes of `wanted`.
fn objects(union: &UnionArray, wanted: &UnionFields, classes: &[ClassStep]) -> Result<ArrayRef> {
    let new = |id: &i8| match classes.iter().find(|(from, _)| from == id) {
        Some((_, Ok((to, _)))) => Ok(*to),
        Some((_, Err(reason))) => Err(Error::unsupported(reason.clone())),
        None => Err(unexpected()),
    };
    let ids = union.type_ids().iter().map(new).collect::<Result<Vec<_>>>()?;
    let known = || classes.iter().filter_map(|(from, class)| Some((from, class.as_ref().ok()?)));
    let child = |(id, field): (i8, &Arc<Field>)| match known().find(|(_, (to, _))| *to == id) {
        Some((from, (_, conversion))) => conversion.apply(union.child(*from)),
        None => Ok(new_empty_array(field.data_type())),
    };
    let children = wanted.iter().map(child).collect::<Result<_>>()?;
    let offsets = union.offsets().cloned();
    UnionArray::try_new(wanted.clone(), ids.into(), offsets, children).map(shared).map_err(mismatch)
}

/// Gives data a type that differs only in names.
fn relabel(data: ArrayData, to: &DataType) -> std::result::Result<ArrayData, ArrowError> {
    let types: Vec<&DataType> = match to {
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => vec![item.data_type()],
        DataType::Struct(members) => members.iter().map(|member| member.data_type()).collect(),
        DataType::Union(members, _) => members.iter().map(|(_, m)| m.data_type()).collect(),
        _ => Vec::new(),
    };
    let children = data.child_data().iter().zip(types);
    let children = children
        .map(|(child, to)| relabel(child.clone(), to))
        .collect::<std::result::Result<Vec<_>, _>>()?;
    data.into_builder().data_type(to.clone()).child_data(children).build()
}

/// Converts nullable values to the offsets and items of lists of 0 or 1 items.
fn present(array: &ArrayRef) -> Result<(OffsetBuffer<i64>, ArrayRef)> {
    let lengths = (0..array.len()).map(|row| usize::from(!array.is_null(row)));
    let offsets = OffsetBuffer::from_lengths(lengths);
    let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else {
        return Ok((offsets, Arc::clone(array)));
    };
    let valid = arrow_array::BooleanArray::new(nulls.inner().clone(), None);
    let values = arrow_select::filter::filter(array, &valid).map_err(mismatch)?;
    Ok((offsets, values))
}

fn shared<A: Array + 'static>(array: A) -> ArrayRef {
    Arc::new(array)
}

fn mismatch(error: ArrowError) -> Error {
    unexpected().with_source(error)
}

fn unexpected() -> Error {
    Error::invalid_argument("an array is not of the type that its file promised")
}
