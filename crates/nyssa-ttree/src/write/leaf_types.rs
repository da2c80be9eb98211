//! Says which leaves, vectors and texts hold the values of an Arrow type.

use arrow_schema::{DataType, Field};
use nyssa_root::arrow::lists::{is_bytes, item_type};
use nyssa_root::arrow::{Number, STREAMER, brief};
use nyssa_root::error::{Error, Result};

use super::vector::{Item, VectorForm};

/// Returns the type of the values of a dictionary, or the type itself.
pub(super) fn plain(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}

/// Returns the type of numbers.
pub(super) fn number(data_type: &DataType) -> Option<Number> {
    match plain(data_type) {
        DataType::Float16 => Some(Number::Float32),
        other => Number::of_data_type(other),
    }
}

pub(super) fn is_counting(number: Number) -> bool {
    !number.is_float() && number != Number::Bool
}

/// Returns the type and the dimensions of numbers in fixed arrays; `None` for other types.
pub(super) fn leaf(data_type: &DataType) -> Result<Option<(Number, Vec<usize>)>> {
    let mut dimensions = Vec::new();
    let mut inner = data_type;
    while let (DataType::FixedSizeList(_, size), Some(item)) = (inner, item_type(inner)) {
        dimensions.push(usize::try_from(*size).unwrap_or(0));
        inner = item;
    }
    let Some(number) = number(inner) else { return Ok(None) };
    let elements = dimensions.iter().try_fold(1usize, |all, &size| all.checked_mul(size));
    match elements.filter(|&elements| i32::try_from(elements.saturating_mul(8)).is_ok()) {
        Some(0) => Err(Error::unsupported("a tree cannot hold fixed arrays of size 0")),
        Some(_) => Ok(Some((number, dimensions))),
        None => Err(Error::limit("fixed arrays of more than 2 GiB")),
    }
}

/// Returns the form of lists of numbers, of strings or of such lists; `None` for other types.
pub(super) fn vector(data_type: &DataType) -> Option<VectorForm> {
    let (DataType::List(item) | DataType::LargeList(item)) = plain(data_type) else { return None };
    if let Some(number) = number(item.data_type()) {
        return Some(VectorForm { depth: 1, item: Item::Number(number) });
    }
    if is_text(item) {
        return Some(VectorForm { depth: 1, item: Item::Text });
    }
    let inner = vector(item.data_type())?;
    Some(VectorForm { depth: inner.depth + 1, ..inner })
}

pub(super) fn is_text(field: &Field) -> bool {
    is_bytes(plain(field.data_type())) && !field.metadata().contains_key(STREAMER)
}

pub(super) fn no_vector(data_type: &DataType) -> Error {
    Error::unsupported(format!(
        "a tree cannot hold values of type {} as std::vector: its items are numbers, strings or vectors of these",
        brief(data_type)
    ))
}

pub(super) fn no_leaf(member: &Field) -> Error {
    Error::unsupported(format!(
        "the member {:?} cannot be in a leaf list: it has type {}, and leaves are numbers or fixed arrays of numbers",
        member.name(),
        brief(member.data_type())
    ))
}

pub(super) fn refused(data_type: &DataType, in_list: bool) -> Error {
    let place = if in_list { "lists of values" } else { "values" };
    let reason = match data_type {
        DataType::Null => ": say the type, as there are no values to see it",
        _ if in_list => ": lists have numbers, fixed arrays of numbers, or records of these",
        _ => "",
    };
    let data_type = brief(data_type);
    Error::unsupported(format!("a tree cannot hold {place} of type {data_type}{reason}"))
}

/// Collects the names of the lists in a column.
pub(super) fn list_names(name: &str, field: &Field, names: &mut Vec<String>) {
    match field.data_type() {
        DataType::List(item) | DataType::LargeList(item)
            if vector(item.data_type()).is_none() && !is_text(item) =>
        {
            names.push(name.to_owned());
        }
        DataType::Struct(members) => {
            members.iter().for_each(|member| list_names(&join(name, member.name()), member, names))
        }
        _ => {}
    }
}

/// Returns the name of the branch of a member.
pub(super) fn join(outer: &str, inner: &str) -> String {
    format!("{outer}_{inner}")
}
