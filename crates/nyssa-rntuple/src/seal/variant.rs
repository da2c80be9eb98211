//! Converts Arrow unions to tags and to the values of each alternative (specification, "std::variant").

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, NullArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use nyssa_root::arrow::gather::{gather, valid};
use nyssa_root::error::{Error, Result};

/// Returns the tags of the rows (0 for none, the alternatives from 1) and the values of each of `count` alternatives,
/// in order of the rows. The children of a dense or sparse union are assigned to alternatives by `place`. If the
/// union has one child more than there are alternatives, and the first child has type `Null`, this child means no
/// value. Any other array has values of one alternative. A row whose value is null has no alternative, unless the
/// alternative itself is `nullable`.
///
/// # Errors
/// `InvalidArgument` for a union with more children and for a damaged union. Returns `None` when the types do
/// not fit.
pub(super) fn alternatives(
    array: &ArrayRef,
    count: usize,
    nullable: impl Fn(usize) -> bool,
    place: impl Fn(&[&DataType]) -> Option<Vec<usize>>,
) -> Result<Option<(Vec<u8>, Vec<ArrayRef>)>> {
    let empty = || Arc::new(NullArray::new(0)) as ArrayRef;
    let mut values: Vec<ArrayRef> = (0..count).map(|_| empty()).collect();
    let Some(union) = array.as_union_opt() else {
        let Some(places) = place(&[array.data_type()]) else { return Ok(None) };
        let at = places.first().copied().unwrap_or_default();
        let nulls = array.logical_nulls().filter(|_| !nullable(at));
        let (tags, some) = only_alternative(array, at, nulls.as_ref())?;
        values[at] = some;
        return Ok(Some((tags, values)));
    };
    let children: Vec<(i8, &ArrayRef)> =
        union.fields().iter().map(|(id, _)| (id, union.child(id))).collect();
    let skip = usize::from(alternative_count(union.data_type()) == Some(count));
    let skip = skip * children.len().saturating_sub(count);
    if children.len() - skip > count {
        return Err(Error::invalid_argument(format!(
            "a union of {} types cannot fill a variant of {count}",
            children.len()
        )));
    }
    let types: Vec<_> = children[skip..].iter().map(|(_, child)| child.data_type()).collect();
    let Some(places) = place(&types) else { return Ok(None) };
    // Each child has a tag and a mask of its nulls.
    let tags_of = std::iter::repeat_n(0, skip).chain(places.iter().map(|place| place + 1));
    let tags_of: Vec<u8> = tags_of.map(|tag| u8::try_from(tag).unwrap_or_default()).collect();
    let nulls: Vec<_> = std::iter::zip(&children, &tags_of)
        .map(|((_, child), &tag)| {
            child.logical_nulls().filter(|_| tag == 0 || !nullable(usize::from(tag) - 1))
        })
        .collect();
    let mut by_id = [None; 128];
    for (index, (id, _)) in children.iter().enumerate() {
        if let Some(slot) = usize::try_from(*id).ok().and_then(|id| by_id.get_mut(id)) {
            *slot = Some(index);
        }
    }
    let mut rows: Vec<Vec<Range<usize>>> = vec![Vec::new(); children.len()];
    let mut tags = Vec::with_capacity(union.len());
    for row in 0..union.len() {
        let id = union.type_ids().get(row).copied().unwrap_or(-1);
        let child = usize::try_from(id).ok().and_then(|id| by_id.get(id).copied().flatten());
        let child = child.ok_or_else(|| {
            Error::invalid_argument(format!("a union without a type {id} has a value of it"))
        })?;
        let at = match union.offsets() {
            Some(offsets) => offsets.get(row).and_then(|&at| usize::try_from(at).ok()),
            None => Some(row),
        };
        let tag = tags_of[child];
        let inside = |at: &usize| tag == 0 || *at < children[child].1.len();
        let at = at.filter(inside).ok_or_else(|| {
            Error::invalid_argument("a union refers to values that its child does not have")
        })?;
        if tag == 0 || nulls[child].as_ref().is_some_and(|nulls| nulls.is_null(at)) {
            tags.push(0);
            continue;
        }
        tags.push(tag);
        match rows[child].last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => rows[child].push(at..at + 1),
        }
    }
    for ((child, rows), &tag) in children[skip..].iter().zip(&rows[skip..]).zip(&tags_of[skip..]) {
        values[usize::from(tag) - 1] = gather(child.1, rows)?;
    }
    Ok(Some((tags, values)))
}

/// Returns the tags of the rows and the values of an array that contains only values of alternative `at`.
fn only_alternative(
    array: &ArrayRef,
    at: usize,
    nulls: Option<&NullBuffer>,
) -> Result<(Vec<u8>, ArrayRef)> {
    let some = u8::try_from(at + 1).unwrap_or_default();
    let Some(nulls) = nulls else { return Ok((vec![some; array.len()], array.clone())) };
    let tags = nulls.iter().map(|valid| if valid { some } else { 0 }).collect();
    Ok((tags, valid(array, nulls)?))
}

/// Assigns each type to one of `count` alternatives. It takes the free alternative with the highest rank. If several
/// have this rank, it takes the alternative at the position of the type, or else the first. Returns `None` when no
/// free alternative fits (rank 0).
pub(super) fn place(
    types: &[&DataType],
    count: usize,
    rank: impl Fn(usize, &DataType) -> u8,
) -> Option<Vec<usize>> {
    let mut places = Vec::with_capacity(types.len());
    for (own, data_type) in types.iter().enumerate() {
        let free = (0..count).filter(|at| !places.contains(at));
        let ranked = free.map(|at| (rank(at, data_type), at == own, std::cmp::Reverse(at)));
        let (_, _, best) = ranked.filter(|(rank, ..)| *rank > 0).max()?;
        places.push(best.0);
    }
    Some(places)
}

/// Returns the number of alternatives of a union type. A first child of type `Null` is not an alternative.
pub(super) fn alternative_count(data_type: &DataType) -> Option<usize> {
    let DataType::Union(fields, _) = data_type else { return None };
    let none = fields.iter().next().is_some_and(|(_, child)| child.data_type() == &DataType::Null);
    Some(fields.len() - usize::from(none))
}
