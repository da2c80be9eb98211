//! Checks that an array of the caller has the parts that its type needs, before it is imported: the values in its buffers
//! are trusted, their number is not.

use arrow_schema::{DataType, FieldRef, UnionMode};
use nyssa_root::{Error, Result};

use crate::parts::ArrayParts;

/// The largest number of bytes of a value in a buffer, except for binaries of a fixed size: `Decimal256`.
const WIDEST: usize = 32;

/// Checks the counts and the pointers of an array, and the lengths of its children. `name` is for messages.
///
/// # Errors
/// `InvalidArgument` with the first column that does not fit.
pub(crate) fn check(array: &ArrayParts, data_type: &DataType, name: &str) -> Result<()> {
    let wrong = |why: String| {
        let message =
            format!("the array does not fit its schema: {name:?} of type {data_type} {why}");
        Err(Error::invalid_argument(message))
    };
    if array.is_released() {
        return wrong("is released".to_owned());
    }
    let (length, offset) = (usize::try_from(array.length), usize::try_from(array.offset));
    let (Ok(length), Ok(offset)) = (length, offset) else {
        let (length, offset) = (array.length, array.offset);
        return wrong(format!("has a length of {length} and an offset of {offset}"));
    };
    let width = match data_type {
        DataType::FixedSizeBinary(size) => usize::try_from(*size).unwrap_or_default().max(WIDEST),
        _ => WIDEST,
    };
    // No memory has more: sizes are counted with a sign, and lists have one offset more than items.
    let end = length.checked_add(offset).filter(|end| *end < isize::MAX as usize / width);
    let Some(end) = end else {
        return wrong(format!("has a length of {length} and an offset of {offset}"));
    };
    check_buffers(array, data_type, end).or_else(wrong)?;
    if matches!(data_type, DataType::Dictionary(..)) != array.dictionary().is_some() {
        return wrong("and the array do not agree about a dictionary".to_owned());
    }
    if let (DataType::Dictionary(_, values), Some(dictionary)) = (data_type, array.dictionary()) {
        return check(dictionary, values, name);
    }
    let needed = children_of(data_type, end);
    if usize::try_from(array.n_children) != Ok(needed.len()) {
        return wrong(format!("has {} children, not {}", needed.len(), array.n_children));
    }
    for (at, (field, needed)) in needed.into_iter().enumerate() {
        let Some(child) = array.child(at) else {
            return wrong(format!("has a null pointer as its child {at}, {:?}", field.name()));
        };
        // A length below zero is an error of the child.
        if usize::try_from(child.length).is_ok_and(|length| length < needed) {
            return wrong(format!(
                "has {needed} values of {:?}, not {}",
                field.name(),
                child.length
            ));
        }
        check(child, field.data_type(), field.name())?;
    }
    Ok(())
}

/// Checks the buffers of an array of `end` values. The error says what is wrong.
fn check_buffers(
    array: &ArrayParts,
    data_type: &DataType,
    end: usize,
) -> std::result::Result<(), String> {
    let (least, is_view) = (buffers_of(data_type), is_view(data_type));
    let count = usize::try_from(array.n_buffers).ok();
    let Some(count) = count.filter(|count| *count == least || is_view && *count > least) else {
        return Err(format!("has {least} buffers, not {}", array.n_buffers));
    };
    if count > 0 && !array.has_buffers() {
        return Err(format!("has {count} buffers, but the pointer to them is null"));
    }
    let has_bits = has_validity(data_type);
    let missing = usize::try_from(array.null_count).unwrap_or_default();
    if has_bits && missing > 0 {
        if missing > end {
            return Err(format!("has {missing} missing values among {end}"));
        }
        if array.buffer(0).is_none() {
            return Err(format!("has {missing} missing values, but no buffer that says which"));
        }
    }
    for index in usize::from(has_bits)..count {
        let is_needed = match data_type {
            // Empty texts need no characters.
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => {
                index == 1
            }
            DataType::List(_) | DataType::LargeList(_) | DataType::Map(..) => true,
            // The views are first, and the sizes of the buffers between are last.
            DataType::Utf8View | DataType::BinaryView => match index {
                1 => end > 0,
                _ => index + 1 == count && count > least,
            },
            DataType::FixedSizeBinary(0) => false,
            _ => end > 0,
        };
        if is_needed && array.buffer(index).is_none() {
            return Err(format!("has a null pointer as its buffer {index}"));
        }
    }
    Ok(())
}

/// Returns whether the first buffer says which values are missing.
fn has_validity(data_type: &DataType) -> bool {
    !matches!(data_type, DataType::Null | DataType::RunEndEncoded(..) | DataType::Union(..))
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
