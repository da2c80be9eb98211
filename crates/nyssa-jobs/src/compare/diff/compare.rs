//! Compares two arrays value by value and bit by bit.
//!
//! Containers are equal if their lengths and items are equal. Their offsets may start at any number and may have
//! different widths. Floats are compared as bits, so that the payload of a NaN counts.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float16Type;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, Float32Array, UInt8Array, UnionArray,
};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{DataType, FieldRef, UnionFields};
use arrow_select::filter::filter;
use nyssa_data::view::evolve::{are_classes, child_of_class};
use nyssa_root::arrow::lists::{self, byte_lists, is_bytes};
use nyssa_root::arrow::{Number, with_integer_type, with_number};

/// The relation of two types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// Equal types.
    Same,
    /// Types that differ only in widths or signs of integers. Their values can be compared.
    IntegerWidths,
    /// Types that cannot be compared.
    Different,
}

/// Returns the relation of the types `a` and `b`. Names of list items and metadata do not matter.
pub fn relation(a: &DataType, b: &DataType) -> Relation {
    match (a, b) {
        _ if a.is_integer() && b.is_integer() => {
            if a == b {
                Relation::Same
            } else {
                Relation::IntegerWidths
            }
        }
        (DataType::FixedSizeList(a, size_a), DataType::FixedSizeList(b, size_b)) => {
            if size_a == size_b {
                relation(a.data_type(), b.data_type())
            } else {
                Relation::Different
            }
        }
        (DataType::Struct(a), DataType::Struct(b)) if a.len() == b.len() => a
            .iter()
            .map(|field| match b.find(field.name()) {
                Some((_, other)) => relation(field.data_type(), other.data_type()),
                None => Relation::Different,
            })
            .max()
            .unwrap_or(Relation::Same),
        (DataType::Struct(_), DataType::Struct(_)) => Relation::Different,
        (DataType::Union(a, _), DataType::Union(b, _)) => match pairs(a, b) {
            Some(pairs) => pairs
                .iter()
                .map(|[(_, a), (_, b)]| relation(a.data_type(), b.data_type()))
                .max()
                .unwrap_or(Relation::Same),
            None => Relation::Different,
        },
        _ => match (list_item(a), list_item(b)) {
            (Some(a), Some(b)) => relation(a, b),
            _ if is_bytes(a) && is_bytes(b) => Relation::Same,
            // RNTuples read half precision as single precision, which has all its values.
            _ if is_single(a) && is_single(b) => Relation::Same,
            _ if a == b => Relation::Same,
            _ => Relation::Different,
        },
    }
}

/// Returns whether single precision has all values of a type of real numbers.
fn is_single(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float16 | DataType::Float32)
}

/// A child of a union: its type id and its field.
type Child<'u> = (i8, &'u FieldRef);

/// Returns the children of two unions that belong together: classes of the same name, or alternatives at the same place.
/// Returns `None` for different numbers of alternatives. A class may be in only one of the unions.
fn pairs<'u>(a: &'u UnionFields, b: &'u UnionFields) -> Option<Vec<[Child<'u>; 2]>> {
    if are_classes(a) && are_classes(b) {
        let pair = |own: Child<'u>| Some([own, child_of_class(b, own.1.name())?]);
        return Some(a.iter().filter_map(pair).collect());
    }
    (a.len() == b.len()).then(|| a.iter().zip(b.iter()).map(|(a, b)| [a, b]).collect())
}

fn list_item(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) => Some(item.data_type()),
        _ => None,
    }
}

/// Returns whether all values are equal. The bytes of values that are null do not matter. It is false for types
/// that cannot be compared.
pub fn same(a: &dyn Array, b: &dyn Array) -> bool {
    let nulls = |array: &dyn Array| array.nulls().filter(|n| n.null_count() > 0).cloned();
    match (nulls(a), nulls(b)) {
        _ if a.len() != b.len() => return false,
        (None, None) => {}
        (Some(mine), Some(others)) if mine == others => {
            let mask = BooleanArray::new(mine.into_inner(), None);
            let valid = |array: &dyn Array| filter(array, &mask);
            return valid(a).is_ok_and(|a| valid(b).is_ok_and(|b| same(&a, &b)));
        }
        _ => return false,
    }
    match (a.data_type(), b.data_type()) {
        (DataType::Boolean, DataType::Boolean) => {
            a.as_boolean().values() == b.as_boolean().values()
        }
        (DataType::FixedSizeList(_, size), DataType::FixedSizeList(_, other)) => {
            // The `values` of a slice are already limited to the slice.
            size == other && {
                let (a, b) = (a.as_fixed_size_list(), b.as_fixed_size_list());
                same(a.values(), b.values())
            }
        }
        (DataType::Struct(fields), DataType::Struct(others)) => {
            let (a, b) = (a.as_struct(), b.as_struct());
            fields.len() == others.len()
                && fields.iter().all(|field| {
                    let members =
                        a.column_by_name(field.name()).zip(b.column_by_name(field.name()));
                    members.is_some_and(|(a, b)| same(a, b))
                })
        }
        (DataType::Union(fields, _), DataType::Union(others, _)) => {
            let Some(pairs) = pairs(fields, others) else { return false };
            let (a, b) = (a.as_union(), b.as_union());
            let is_pair = |ids: (&i8, &i8)| pairs.iter().any(|[a, b]| ids == (&a.0, &b.0));
            let values = |[own, other]: &[Child<'_>; 2]| {
                Some([alternative(a, own.0)?, alternative(b, other.0)?])
            };
            a.type_ids().iter().zip(b.type_ids()).all(is_pair)
                && match pairs.iter().map(values).collect::<Option<Vec<_>>>() {
                    Some(all) => all.iter().all(|[a, b]| same(a, b)),
                    None => (0..a.len()).all(|index| same(&a.value(index), &b.value(index))),
                }
        }
        (DataType::Null, DataType::Null) => true,
        (left, right) => match (lists(a), lists(b)) {
            (Some(a), Some(b)) => same_lengths(&a.offsets, &b.offsets) && same(&a.items, &b.items),
            (None, None) if left == right => match (bytes(a), bytes(b)) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
            (None, None) if is_single(left) && is_single(right) => {
                let (a, b) = (single(a), single(b));
                a.values().inner() == b.values().inner()
            }
            (None, None) => integers(a).zip(integers(b)).is_some_and(|(a, b)| a == b),
            _ => false,
        },
    }
}

/// Returns the values of each alternative of a dense union, or `None` if they are not in order.
pub(in crate::compare) fn alternatives(union: &UnionArray) -> Option<Vec<ArrayRef>> {
    union.fields().iter().map(|(id, _)| alternative(union, id)).collect()
}

/// Returns the values of one alternative of a dense union, or `None` if they are not in order.
fn alternative(union: &UnionArray, id: i8) -> Option<ArrayRef> {
    let mine = union.type_ids().iter().zip(union.offsets()?).filter(|(tag, _)| **tag == id);
    let mut mine = mine.map(|(_, &offset)| offset);
    let first = mine.next().unwrap_or(0);
    let last = mine.try_fold(first, |last, next| (next == last + 1).then_some(next))?;
    let any = union.type_ids().contains(&id);
    let count = usize::try_from(last - first).ok()? + usize::from(any);
    Some(union.child(id).slice(usize::try_from(first).ok()?, count))
}

/// The offsets of a list or text array, and the items between the first and the last offset.
pub(in crate::compare) struct Lists {
    pub offsets: ScalarBuffer<i64>,
    pub items: ArrayRef,
}

pub(in crate::compare) fn lists(array: &dyn Array) -> Option<Lists> {
    let array = array.slice(0, array.len());
    let (offsets, items) = match array.data_type() {
        DataType::List(_) | DataType::LargeList(_) => lists::lists(&array)?.ok()?,
        _ => {
            let (offsets, bytes) = byte_lists(&array)?.ok()?;
            (offsets, Arc::new(UInt8Array::new(bytes.into(), None)) as ArrayRef)
        }
    };
    Some(Lists { offsets: offsets.wide(), items })
}

/// Returns whether lists with these offsets have the same lengths.
pub(super) fn same_lengths(a: &[i64], b: &[i64]) -> bool {
    let (Some(first_a), Some(first_b)) = (a.first(), b.first()) else { return a.len() == b.len() };
    let shift = first_b - first_a;
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a + shift == *b)
}

/// Returns the values of a primitive array as bytes.
fn bytes(array: &dyn Array) -> Option<&[u8]> {
    fn of<T: ArrowPrimitiveType>(array: &dyn Array) -> &[u8] {
        array.as_primitive::<T>().values().inner().as_slice()
    }
    if let DataType::Float16 = array.data_type() {
        return Some(of::<Float16Type>(array));
    }
    let number = Number::of_data_type(array.data_type())?;
    with_number!(number, T => Some(of::<T>(array)), bool => None)
}

/// Returns real numbers of half or single precision in single precision.
pub(in crate::compare) fn single(array: &dyn Array) -> Float32Array {
    match array.as_primitive_opt::<Float16Type>() {
        Some(halves) => halves.unary(|half| half.to_f32()),
        None => array.as_primitive().clone(),
    }
}

/// Returns the values of an integer array in a width that holds integers of every type.
fn integers(array: &dyn Array) -> Option<Vec<i128>> {
    fn of<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &dyn Array) -> Vec<i128> {
        array.as_primitive::<T>().values().iter().map(|&value| value.into()).collect()
    }
    with_integer_type!(array.data_type(), T => Some(of::<T>(array)), _ => None)
}

/// Returns how many entries differ, and the first of them. Ranges that differ are divided down to single entries.
pub fn differences(a: &dyn Array, b: &dyn Array) -> (u64, Option<usize>) {
    let common = a.len().min(b.len());
    let mut differing = (a.len().abs_diff(b.len()) as u64, None);
    let mut open = Vec::from_iter(std::iter::once(0..common));
    while let Some(range) = open.pop() {
        let len = range.len();
        if len == 0 || same(&a.slice(range.start, len), &b.slice(range.start, len)) {
            continue;
        }
        if len == 1 {
            differing.0 += 1;
            differing.1 = differing.1.or(Some(range.start));
            continue;
        }
        let middle = range.start + len / 2;
        open.push(middle..range.end);
        open.push(range.start..middle);
    }
    if differing.0 > 0 {
        differing.1 = differing.1.or(Some(common));
    }
    differing
}
