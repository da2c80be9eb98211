//! Brings the arrays that users give into the type that a class needs: lists of any kind become large lists, strings
//! become bytes, and numbers of another width are converted if every value fits. Members are found by their names.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, LargeBinaryArray, LargeListArray, StructArray,
    new_empty_array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Fields};
use nyssa_root::arrow::gather::decoded;
use nyssa_root::arrow::lists::{byte_lists, fixed, is_bytes, item_type, lists};
use nyssa_root::arrow::{Number, brief, shortened};
use nyssa_root::error::{Error, Result, ResultExt};

use super::numbers::{self, at_entry};

/// Returns the values of `array` as an array of the type `wanted`.
///
/// # Errors
/// `InvalidArgument` with the member and the entry for arrays of other types, missing values, and values that do not
/// fit.
pub(super) fn conform(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    let array = &decoded(array)?;
    if array.is_empty() {
        return Ok(new_empty_array(wanted));
    }
    if array.logical_null_count() != 0 {
        let nulls = array.logical_nulls();
        let at = nulls.and_then(|nulls| (0..nulls.len()).find(|&row| nulls.is_null(row)));
        let missing =
            Error::invalid_argument("a value is missing, and objects have no such values");
        return Err(at_entry(missing, at.unwrap_or(0)));
    }
    match wanted {
        DataType::Struct(fields) => record(array, fields),
        DataType::LargeList(item) => {
            let (offsets, values) = lists(array).ok_or_else(|| misfit(array, wanted))??;
            let first = offsets.get(0);
            let values = conform(&values, item.data_type())
                .map_err(|error| error.entry_of(|at| offsets.row(at)))?;
            let ends: Vec<i64> = (0..offsets.len()).map(|at| offsets.get(at) - first).collect();
            let ends = OffsetBuffer::new(ends.into());
            made(LargeListArray::try_new(Arc::clone(item), ends, values, None))
        }
        DataType::FixedSizeList(item, size) => arrays(array, item, *size, wanted),
        DataType::LargeBinary => {
            let (offsets, bytes) = byte_lists(array).ok_or_else(|| misfit(array, wanted))??;
            let first = offsets.get(0);
            let ends: Vec<i64> = (0..offsets.len()).map(|at| offsets.get(at) - first).collect();
            made(LargeBinaryArray::try_new(OffsetBuffer::new(ends.into()), bytes, None))
        }
        _ => match Number::of_data_type(wanted) {
            Some(number) => numbers::convert(array, number),
            None => Err(misfit(array, wanted)),
        },
    }
}

/// Returns whether values of the type `given` can have the type `wanted`, apart from their range.
pub(super) fn fits(given: &DataType, wanted: &DataType) -> bool {
    let item = |given: &DataType, wanted: &Field| {
        item_type(given).is_some_and(|item| fits(item, wanted.data_type()))
    };
    match (given, wanted) {
        (DataType::Dictionary(_, values), _) => fits(values, wanted),
        (DataType::Struct(given), DataType::Struct(wanted)) => {
            given.len() == wanted.len()
                && wanted.iter().all(|field| {
                    given
                        .find(field.name())
                        .is_some_and(|(_, own)| fits(own.data_type(), field.data_type()))
                })
        }
        (DataType::List(_) | DataType::LargeList(_), DataType::LargeList(wanted)) => {
            item(given, wanted)
        }
        (DataType::FixedSizeList(_, size), DataType::FixedSizeList(wanted, other)) => {
            size == other && item(given, wanted)
        }
        (given, DataType::LargeBinary) => is_bytes(given),
        (given, wanted) => match (Number::of_data_type(given), Number::of_data_type(wanted)) {
            (Some(given), Some(wanted)) => given.is_float() == wanted.is_float(),
            _ => false,
        },
    }
}

/// Returns records with the members `fields`. The two members of a pair may have any names.
fn record(array: &ArrayRef, fields: &Fields) -> Result<ArrayRef> {
    let record =
        array.as_struct_opt().ok_or_else(|| misfit(array, &DataType::Struct(fields.clone())))?;
    let pair = fields.len() == 2 && record.num_columns() == 2 && fields[0].name() == "_0";
    let member = |(at, field): (usize, &Arc<Field>)| {
        let by_place = || pair.then(|| record.column(at));
        let found = record.column_by_name(field.name()).or_else(by_place);
        let found = found.ok_or_else(|| {
            Error::invalid_argument(format!("the record has no member {:?}", field.name()))
                .suggest(field.name(), record.column_names())
        })?;
        conform(found, field.data_type()).in_field(field.name())
    };
    let members = fields.iter().enumerate().map(member).collect::<Result<Vec<_>>>()?;
    if let Some(extra) =
        record.column_names().into_iter().find(|name| !pair && fields.find(name).is_none())
    {
        let known = fields.iter().map(|field| field.name().as_str());
        return Err(Error::invalid_argument(format!("the class has no member {extra:?}"))
            .suggest(extra, known));
    }
    made(StructArray::try_new(fields.clone(), members, None))
}

/// Returns arrays of a fixed size, from such arrays or from lists that all have this length.
fn arrays(array: &ArrayRef, item: &Arc<Field>, size: i32, wanted: &DataType) -> Result<ArrayRef> {
    let length = usize::try_from(size).unwrap_or(0);
    let values = match fixed(array)? {
        Some((found, values)) if found == length => values,
        Some((found, _)) => return Err(length_error(found, length, 0)),
        None => {
            let (offsets, values) = lists(array).ok_or_else(|| misfit(array, wanted))??;
            let other = offsets.lengths().enumerate().find(|(_, found)| *found != length);
            if let Some((at, found)) = other {
                return Err(length_error(found, length, at));
            }
            values
        }
    };
    let values = conform(&values, item.data_type())
        .map_err(|error| error.entry_of(|at| at / length.max(1)))?;
    made(FixedSizeListArray::try_new(Arc::clone(item), size, values, None))
}

fn length_error(found: usize, wanted: usize, at: usize) -> Error {
    let message = format!("an array of {found} items cannot fill an array of size {wanted}");
    at_entry(Error::invalid_argument(message), at)
}

fn made<A: Array + 'static>(
    array: std::result::Result<A, arrow_schema::ArrowError>,
) -> Result<ArrayRef> {
    match array {
        Ok(array) => Ok(Arc::new(array)),
        Err(error) => Err(Error::invalid_argument(shortened(error))),
    }
}

fn misfit(array: &ArrayRef, wanted: &DataType) -> Error {
    Error::invalid_argument(format!(
        "an array of type {} does not fit a member of type {}",
        brief(array.data_type()),
        brief(wanted)
    ))
}
