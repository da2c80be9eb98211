//! Arrow unions → tags and the values of each alternative (specification, "std::variant").

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UnionArray};
use arrow_schema::DataType;

use super::gather::gather;
use crate::error::{Error, Result};

/// The tags of the rows of a union (0 for none, from 1 the alternatives in order) and the values of
/// each of `count` alternatives, in order of the rows. A dense or sparse union has `count` children, or
/// one of type `Null` before them. Rows whose value is null have none, unless the alternative is
/// `nullable` itself.
///
/// # Errors
/// `InvalidArgument` for a union of another number of children, or one that is damaged.
pub(super) fn alternatives(
    array: &ArrayRef,
    count: usize,
    nullable: impl Fn(usize) -> bool,
) -> Result<Option<(Vec<u8>, Vec<ArrayRef>)>> {
    let Some(union) = array.as_union_opt() else { return Ok(None) };
    let Some(children) = children(union, count) else {
        return Err(Error::invalid_argument(format!(
            "a union of {} types cannot fill a variant of {count}",
            union.fields().len()
        )));
    };
    let nulls = children.iter().enumerate().map(|(index, child)| {
        child.and_then(|child| child.logical_nulls()).filter(|_| index == 0 || !nullable(index - 1))
    });
    let nulls: Vec<_> = nulls.collect();
    let mut rows: Vec<Vec<Range<usize>>> = vec![Vec::new(); children.len()];
    let mut tags = Vec::with_capacity(union.len());
    let by_id = tags_by_id(union, count);
    for row in 0..union.len() {
        let id = union.type_ids().get(row).copied().unwrap_or(-1);
        let tag = usize::try_from(id).ok().and_then(|id| by_id[id]);
        let tag = tag.ok_or_else(|| {
            Error::invalid_argument(format!("a union without a type {id} has a value of it"))
        })?;
        let at = match union.offsets() {
            Some(offsets) => offsets.get(row).and_then(|&at| usize::try_from(at).ok()),
            None => Some(row),
        };
        let child = usize::from(tag);
        let inside = |at: &usize| children[child].is_none_or(|values| *at < values.len());
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
    let values = children.iter().zip(&rows).skip(1);
    let values = values.filter_map(|(child, ranges)| child.map(|child| gather(child, ranges)));
    Ok(Some((tags, values.collect::<Result<_>>()?)))
}

/// Number of alternatives of a union type: `Null` at the first place is no alternative.
pub fn alternative_count(data_type: &DataType) -> Option<usize> {
    let DataType::Union(fields, _) = data_type else { return None };
    let none = fields.iter().next().is_some_and(|(_, child)| child.data_type() == &DataType::Null);
    Some(fields.len() - usize::from(none))
}

/// The children by tag; the first is that of "none", where there is one.
fn children(union: &UnionArray, count: usize) -> Option<Vec<Option<&ArrayRef>>> {
    let ids = union.fields().iter().map(|(id, _)| id);
    let skip = union.fields().len().checked_sub(count)?;
    match (skip, alternative_count(union.data_type())) {
        (0, _) => Some(std::iter::once(None).chain(ids.map(|id| Some(union.child(id)))).collect()),
        (1, Some(found)) if found == count => Some(ids.map(|id| Some(union.child(id))).collect()),
        _ => None,
    }
}

/// The tag of each type id.
fn tags_by_id(union: &UnionArray, count: usize) -> [Option<u8>; 128] {
    let mut tags = [None; 128];
    let first = if union.fields().len() == count { 1 } else { 0 };
    for (tag, (id, _)) in (first..).zip(union.fields().iter()) {
        if let Some(slot) = usize::try_from(id).ok().and_then(|id| tags.get_mut(id)) {
            *slot = Some(tag);
        }
    }
    tags
}
