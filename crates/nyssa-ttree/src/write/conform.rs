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
use nyssa_root::arrow::lists::{byte_lists, fixed, is_bytes, lists};
use nyssa_root::arrow::{Number, brief};
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
            let values =
                part(&values, item).map_err(|error| error.entry_of(|at| offsets.row(at)))?;
            let item = Arc::new(item.as_ref().clone().with_data_type(values.data_type().clone()));
            let ends: Vec<i64> = (0..offsets.len()).map(|at| offsets.get(at) - first).collect();
            let ends = OffsetBuffer::new(ends.into());
            made(LargeListArray::try_new(item, ends, values, None))
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

/// Returns the values of a member or of items. What may be missing, behind a pointer, has its type already.
fn part(array: &ArrayRef, field: &Field) -> Result<ArrayRef> {
    match field.is_nullable() {
        true => Ok(Arc::clone(array)),
        false => conform(array, field.data_type()),
    }
}

/// Returns whether values of the type `given` can have the type `wanted`, apart from their range.
pub(super) fn fits(given: &DataType, wanted: &DataType) -> bool {
    misfit_in(given, wanted).is_none()
}

/// Returns the first member in which values of the type `given` cannot have the type `wanted`, apart from their range.
pub(super) fn misfit_in(given: &DataType, wanted: &DataType) -> Option<String> {
    let types = || {
        let both = [given, wanted].map(|one| brief(one).to_string());
        Some(format!(": {} instead of {}", both[0], both[1]))
    };
    match (given, wanted) {
        (DataType::Struct(given), DataType::Struct(wanted)) => wanted
            .iter()
            .find_map(|field| {
                let name = field.name();
                let found = match given.find(name) {
                    Some((_, own)) => misfit_of(own, field)?,
                    None => ": it is missing".to_owned(),
                };
                let dot = if found.starts_with(':') { "" } else { "." };
                Some(format!("{name}{dot}{found}"))
            })
            .or_else(|| {
                let other = given.iter().find(|own| wanted.find(own.name()).is_none())?;
                Some(format!("{}: it is no member", other.name()))
            }),
        (DataType::List(given) | DataType::LargeList(given), DataType::LargeList(wanted)) => {
            misfit_of(given, wanted)
        }
        (DataType::FixedSizeList(own, size), DataType::FixedSizeList(item, other))
            if size == other =>
        {
            misfit_of(own, item)
        }
        _ if is_one(given, wanted) => None,
        _ => types(),
    }
}

fn misfit_of(given: &Field, wanted: &Field) -> Option<String> {
    match wanted.is_nullable() && !given.data_type().equals_datatype(wanted.data_type()) {
        false if wanted.is_nullable() => None,
        false => misfit_in(given.data_type(), wanted.data_type()),
        true => {
            let both = [given, wanted].map(|one| brief(one.data_type()).to_string());
            Some(format!(": a pointer to {} instead of {}", both[0], both[1]))
        }
    }
}

fn is_one(given: &DataType, wanted: &DataType) -> bool {
    match (given, wanted) {
        (DataType::Dictionary(_, values), _) => fits(values, wanted),
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
        part(found, field).in_field(field.name())
    };
    let members = fields.iter().enumerate().map(member).collect::<Result<Vec<_>>>()?;
    if let Some(extra) =
        record.column_names().into_iter().find(|name| !pair && fields.find(name).is_none())
    {
        let known = fields.iter().map(|field| field.name().as_str());
        return Err(Error::invalid_argument(format!("the class has no member {extra:?}"))
            .suggest(extra, known));
    }
    let with_type = |(field, member): (&Arc<Field>, &ArrayRef)| {
        field.as_ref().clone().with_data_type(member.data_type().clone())
    };
    let fields: Fields = fields.iter().zip(&members).map(with_type).collect();
    made(StructArray::try_new_with_length(fields, members, None, array.len()))
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
    let values = part(&values, item).map_err(|error| error.entry_of(|at| at / length.max(1)))?;
    let item = Arc::new(item.as_ref().clone().with_data_type(values.data_type().clone()));
    made(FixedSizeListArray::try_new(item, size, values, None))
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
        Err(error) => Err(Error::invalid_argument(error.to_string())),
    }
}

fn misfit(array: &ArrayRef, wanted: &DataType) -> Error {
    Error::invalid_argument(format!(
        "an array of type {} does not fit a member of type {}",
        brief(array.data_type()),
        brief(wanted)
    ))
}
