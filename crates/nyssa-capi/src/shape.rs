//! Checks that an array of the caller has the parts that its type needs, before it is imported: the values in its buffers
//! are trusted, their number is not.

use arrow_array::ffi::FFI_ArrowArray;
use arrow_schema::{DataType, FieldRef, UnionMode};
use nyssa_root::{Error, Result};

/// Checks the number of buffers and children of an array, and the lengths of its children. `name` is for messages.
///
/// # Errors
/// `InvalidArgument` with the first column that does not fit.
pub(crate) fn check(array: &FFI_ArrowArray, data_type: &DataType, name: &str) -> Result<()> {
    let end = array.len().saturating_add(array.offset());
    let wrong = |why: String| {
        let message =
            format!("the array does not fit its schema: {name:?} of type {data_type} {why}");
        Err(Error::invalid_argument(message))
    };
    if i64::try_from(end).is_err() {
        return wrong("has a negative length or offset".to_owned());
    }
    let (buffers, held) = (array.num_buffers(), buffers_of(data_type));
    let most = if is_view(data_type) { i32::MAX as usize } else { held + 1 };
    if !(held..=most).contains(&buffers) {
        return wrong(format!("has {held} buffers, not {buffers}"));
    }
    if matches!(data_type, DataType::Dictionary(..)) != array.dictionary().is_some() {
        return wrong("and the array do not agree about a dictionary".to_owned());
    }
    if let (DataType::Dictionary(_, values), Some(dictionary)) = (data_type, array.dictionary()) {
        return check(dictionary, values, name);
    }
    let needed = children_of(data_type, end);
    if array.num_children() != needed.len() {
        return wrong(format!("has {} children, not {}", needed.len(), array.num_children()));
    }
    for (at, (field, length)) in needed.into_iter().enumerate() {
        let child = array.child(at);
        if child.len() < length {
            return wrong(format!(
                "has {length} values of {:?}, not {}",
                field.name(),
                child.len()
            ));
        }
        check(child, field.data_type(), field.name())?;
    }
    Ok(())
}

/// Returns whether an array has any number of buffers with the values.
fn is_view(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8View | DataType::BinaryView)
}

/// Returns the number of buffers that arrays of a type have at least.
fn buffers_of(data_type: &DataType) -> usize {
    match data_type {
        DataType::Null | DataType::RunEndEncoded(..) => 0,
        DataType::Struct(_)
        | DataType::FixedSizeList(..)
        | DataType::Union(_, UnionMode::Sparse) => 1,
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::Utf8View
        | DataType::BinaryView
        | DataType::ListView(_)
        | DataType::LargeListView(_) => 3,
        _ => 2,
    }
}

/// Returns the children that an array of a type has, with the lengths that they have at least.
fn children_of(data_type: &DataType, end: usize) -> Vec<(&FieldRef, usize)> {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(|field| (field, end)).collect(),
        DataType::FixedSizeList(item, size) => {
            let size = usize::try_from(*size).unwrap_or_default();
            vec![(item, end.saturating_mul(size))]
        }
        // Offsets, which are trusted, say how many values these have.
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::Map(item, _) => vec![(item, 0)],
        DataType::Union(fields, mode) => {
            let length = if *mode == UnionMode::Sparse { end } else { 0 };
            fields.iter().map(|(_, field)| (field, length)).collect()
        }
        DataType::RunEndEncoded(ends, values) => vec![(ends, 0), (values, 0)],
        _ => Vec::new(),
    }
}
