//! Makes an array of some rows of another array.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_buffer::NullBuffer;
use arrow_data::transform::MutableArrayData;
use arrow_schema::ArrowError;

use crate::error::{Error, Result};

/// Returns the rows of `ranges` in this order. Rows that follow each other are not copied.
///
/// # Errors
/// `InvalidArgument` for a range outside the array.
pub fn gather(array: &ArrayRef, ranges: &[Range<usize>]) -> Result<ArrayRef> {
    if ranges.iter().any(|range| range.start > range.end || range.end > array.len()) {
        return Err(Error::invalid_argument(
            "an array refers to rows that its child does not have",
        ));
    }
    match ranges {
        [] => return Ok(array.slice(0, 0)),
        [range] => return Ok(array.slice(range.start, range.len())),
        _ => {}
    }
    let data = array.to_data();
    let total = ranges.iter().map(ExactSizeIterator::len).sum();
    let mut rows = MutableArrayData::try_new(vec![&data], false, total).map_err(arrow)?;
    for range in ranges {
        rows.try_extend(0, range.start, range.end).map_err(arrow)?;
    }
    Ok(make_array(rows.freeze()))
}

/// Returns a copy of an array in memory of its own. Only the values of views and dictionaries are shared.
///
/// # Errors
/// `InvalidArgument` for arrays that are too large.
pub fn copied(array: &ArrayRef) -> Result<ArrayRef> {
    let data = array.to_data();
    let mut rows = MutableArrayData::try_new(vec![&data], false, array.len()).map_err(arrow)?;
    rows.try_extend(0, 0, array.len()).map_err(arrow)?;
    Ok(make_array(rows.freeze()))
}

/// Returns the rows that are not null.
pub fn valid(array: &ArrayRef, nulls: &NullBuffer) -> Result<ArrayRef> {
    gather(array, &nulls.valid_slices().map(|(start, end)| start..end).collect::<Vec<_>>())
}

/// Decodes a dictionary-encoded array. Other arrays are returned without change.
///
/// # Errors
/// `InvalidArgument` for keys that the dictionary does not have.
pub fn decoded(array: &ArrayRef) -> Result<ArrayRef> {
    let Some(dictionary) = array.as_any_dictionary_opt() else { return Ok(array.clone()) };
    let values = dictionary.values();
    let data = values.to_data();
    let keys = if values.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
    let mut rows = MutableArrayData::try_new(vec![&data], true, array.len()).map_err(arrow)?;
    for row in 0..array.len() {
        if dictionary.is_null(row) {
            rows.try_extend_nulls(1).map_err(arrow)?;
            continue;
        }
        let key = keys.get(row).copied().filter(|&key| key < values.len()).ok_or_else(|| {
            Error::invalid_argument("a dictionary array has a key outside its dictionary")
        })?;
        rows.try_extend(0, key, key + 1).map_err(arrow)?;
    }
    Ok(make_array(rows.freeze()))
}

fn arrow(error: ArrowError) -> Error {
    Error::invalid_argument("rows of an array cannot be copied").with_source(error)
}
