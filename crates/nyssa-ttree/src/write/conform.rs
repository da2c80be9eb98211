//! Brings the arrays that users give into the type that a class needs: lists of any kind become large lists, strings
//! become bytes, and numbers of another width are converted if every value fits. Members are found by their names. Missing
//! values are null pointers.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, LargeBinaryArray, LargeListArray, NullArray, StructArray,
    UInt64Array, UnionArray, make_array, new_empty_array, new_null_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields, UnionFields};
use arrow_select::take::take;
use nyssa_root::arrow::gather::{decoded, valid};
use nyssa_root::arrow::lists::{byte_lists, fixed, is_bytes, lists};
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
        DataType::Struct(_) if let Some(union) = array.as_union_opt() => {
            conform(&of_one_child(union, wanted)?, wanted)
        }
        DataType::Struct(fields) => record(array, fields),
        DataType::LargeList(_)
            if let Some(items) = clones(array.data_type()).and(array.as_struct_opt()) =>
        {
            let items = items.column_by_name(ITEMS).ok_or_else(|| misfit(array, wanted))?;
            conform(items, wanted)
        }
        DataType::LargeList(item) => {
            let (offsets, values) = lists(array).ok_or_else(|| misfit(array, wanted))??;
            let first = offsets.get(0);
            let values =
                member(&values, item).map_err(|error| error.entry_of(|at| offsets.row(at)))?;
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

/// Returns the values of a member or of items. Missing values are null pointers, if the type has pointers.
fn member(array: &ArrayRef, field: &Field) -> Result<ArrayRef> {
    let wanted = field.data_type();
    if !field.is_nullable() || array.is_empty() {
        return conform(array, wanted);
    }
    let array = &decoded(array)?;
    if let (Some(given), DataType::Union(classes, _)) = (array.as_union_opt(), wanted) {
        return union(given, classes);
    }
    let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    let objects = match (&nulls, wanted) {
        (None, _) => Arc::clone(array),
        (Some(nulls), _) => valid(array, nulls)?,
    };
    let row = |at: usize| match &nulls {
        Some(nulls) => nulls.valid_indices().nth(at).unwrap_or(at),
        None => at,
    };
    let placed = |error: Error| error.entry_of(row);
    match wanted {
        DataType::Union(classes, _) => {
            // The first class is the class of the pointer.
            let own = classes.iter().nth(1).map(|(_, own)| own.data_type());
            let own = own.ok_or_else(|| misfit(array, wanted))?;
            let objects = conform(&objects, own).map_err(placed)?;
            of_one_class(objects, nulls.as_ref(), classes)
        }
        _ => with_nulls(&conform(&objects, wanted).map_err(placed)?, nulls),
    }
}

/// Returns objects with nulls between them.
fn with_nulls(objects: &ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let Some(nulls) = nulls else { return Ok(Arc::clone(objects)) };
    if objects.is_empty() {
        return Ok(new_null_array(objects.data_type(), nulls.len()));
    }
    // Members of missing objects are not null. They repeat the members of another object.
    let mut places = Vec::with_capacity(nulls.len());
    let mut next = 0;
    for is_valid in &nulls {
        places.push(if is_valid { next } else { 0 });
        next += u64::from(is_valid);
    }
    let refused = |error: ArrowError| Error::invalid_argument(error.to_string());
    let spread = take(objects, &UInt64Array::from(places), None).map_err(refused)?;
    let data = spread.into_data().into_builder().nulls(Some(nulls)).build().map_err(refused)?;
    Ok(make_array(data))
}

/// Returns a union of objects that are all of the first class, with nulls between them.
fn of_one_class(
    objects: ArrayRef,
    nulls: Option<&NullBuffer>,
    classes: &UnionFields,
) -> Result<ArrayRef> {
    let rows = nulls.map_or(objects.len(), NullBuffer::len);
    let (mut ids, mut places) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let mut next = 0;
    for row in 0..rows {
        let is_object = nulls.is_none_or(|nulls| nulls.is_valid(row));
        ids.push(i8::from(is_object));
        places.push(if is_object { next } else { 0 });
        next += i32::from(is_object);
    }
    let others = classes.iter().skip(2).map(|(_, class)| new_empty_array(class.data_type()));
    let none: ArrayRef = Arc::new(NullArray::new(1));
    let children = [none, objects].into_iter().chain(others).collect();
    made(UnionArray::try_new(classes.clone(), ids.into(), Some(places.into()), children))
}

/// Returns a union of objects of several classes. They are found by their names, or by their order if they have none.
fn union(given: &UnionArray, classes: &UnionFields) -> Result<ArrayRef> {
    let mut children: Vec<ArrayRef> =
        classes.iter().map(|(_, class)| new_empty_array(class.data_type())).collect();
    let mut nulls: Vec<Option<NullBuffer>> = vec![None; children.len()];
    let mut new_ids = HashMap::new();
    let DataType::Union(fields, _) = given.data_type() else {
        return Err(Error::invalid_argument("a union without types"));
    };
    let is_object = |field: &Field| *field.data_type() != DataType::Null;
    let objects = fields.iter().filter(|(_, field)| is_object(field));
    for (order, (id, field)) in objects.enumerate() {
        let name = field.name();
        let named = classes.iter().position(|(_, class)| class.name() == name);
        let at = named.or(name.starts_with('_').then_some(order + 1));
        let class = at.and_then(|at| Some((at, classes.iter().nth(at)?.1)));
        let (at, class) = class.ok_or_else(|| {
            let known = classes.iter().map(|(_, class)| class.name().as_str());
            Error::invalid_argument(format!("no class of the pointer has the name {name:?}"))
                .suggest(name, known)
        })?;
        let nullable = class.as_ref().clone().with_nullable(true);
        let child = member(given.child(id), &nullable).in_field(name)?;
        nulls[at] = child.logical_nulls();
        children[at] = child;
        new_ids.insert(id, at);
    }
    children[0] = Arc::new(NullArray::new(1));
    let (mut ids, mut places) = (Vec::new(), Vec::new());
    for (row, id) in given.type_ids().iter().enumerate() {
        let place = given.value_offset(row);
        let is_null = |at: usize| nulls[at].as_ref().is_some_and(|nulls| nulls.is_null(place));
        let at = new_ids.get(id).copied().filter(|&at| !is_null(at)).unwrap_or(0);
        ids.push(i8::try_from(at).unwrap_or(0));
        places.push(if at == 0 { 0 } else { i32::try_from(place).unwrap_or(i32::MAX) });
    }
    let bare = |child: ArrayRef| match child.null_count() {
        0 => Ok(child),
        count if count == child.len() => Ok(new_empty_array(child.data_type())),
        _ => child.into_data().into_builder().nulls(None).build().map(make_array),
    };
    let children = children.into_iter().map(bare).collect::<std::result::Result<_, _>>();
    let children = children.map_err(|error| Error::invalid_argument(error.to_string()))?;
    made(UnionArray::try_new(classes.clone(), ids.into(), Some(places.into()), children))
}

/// Returns whether values of the type `given` can have the type `wanted`, apart from their range.
pub(super) fn fits(given: &DataType, wanted: &DataType) -> bool {
    misfit_in(given, wanted).is_none()
}

/// Returns the first member in which values of the type `given` cannot have the type `wanted`, apart from their range.
pub(super) fn misfit_in(given: &DataType, wanted: &DataType) -> Option<String> {
    let inside = |own: &Field, field: &Field| misfit_in(own.data_type(), field.data_type());
    let is_fit = match (given, wanted) {
        _ if given.equals_datatype(wanted) => true,
        (DataType::Dictionary(_, values), _) => return misfit_in(values, wanted),
        (_, DataType::LargeList(_)) if let Some(items) = clones(given) => {
            return misfit_in(items.data_type(), wanted);
        }
        (DataType::Union(given, _), DataType::Struct(_)) => {
            given.iter().any(|(_, own)| fits(own.data_type(), wanted))
        }
        (DataType::Struct(given), DataType::Struct(wanted)) => {
            return misfit_in_members(given, wanted);
        }
        (DataType::List(own) | DataType::LargeList(own), DataType::LargeList(item)) => {
            return inside(own, item);
        }
        (DataType::FixedSizeList(own, size), DataType::FixedSizeList(item, other))
            if size == other =>
        {
            return inside(own, item);
        }
        (DataType::Union(given, _), DataType::Union(wanted, _)) => given.iter().all(|(_, own)| {
            let mut classes = wanted.iter().filter(|(_, class)| class.name() == own.name());
            classes.any(|(_, class)| inside(own, class).is_none())
        }),
        (given, DataType::Union(wanted, _)) => {
            wanted.iter().nth(1).is_some_and(|(_, own)| fits(given, own.data_type()))
        }
        (given, DataType::LargeBinary) => is_bytes(given),
        (given, wanted) => match (Number::of_data_type(given), Number::of_data_type(wanted)) {
            (Some(given), Some(wanted)) => given.is_float() == wanted.is_float(),
            _ => false,
        },
    };
    (!is_fit).then(|| format!(": {} instead of {}", brief(given), brief(wanted)))
}

/// Returns the first member in which records with the members `given` cannot have the members `wanted`.
fn misfit_in_members(given: &Fields, wanted: &Fields) -> Option<String> {
    let misfit = |field: &Arc<Field>| {
        let name = field.name();
        let problem = match given.find(name) {
            Some((_, own)) => misfit_in(own.data_type(), field.data_type())?,
            None => ": it is missing".to_owned(),
        };
        let dot = if problem.starts_with(':') { "" } else { "." };
        Some(format!("{name}{dot}{problem}"))
    };
    wanted.iter().find_map(misfit).or_else(|| {
        let mut others = given.iter().filter(|own| wanted.find(own.name()).is_none());
        let other = others.find(|own| !is_empty(own.data_type()))?;
        Some(format!("{}: it is no member", other.name()))
    })
}

/// Returns whether a type has no members, as some base classes. A split object has no branch for it.
fn is_empty(data_type: &DataType) -> bool {
    match data_type {
        DataType::Struct(members) => members.iter().all(|member| is_empty(member.data_type())),
        _ => false,
    }
}

/// Returns records with the members `fields`. The two members of a pair may have any names.
fn record(array: &ArrayRef, fields: &Fields) -> Result<ArrayRef> {
    let record =
        array.as_struct_opt().ok_or_else(|| misfit(array, &DataType::Struct(fields.clone())))?;
    let pair = fields.len() == 2 && record.num_columns() == 2 && fields[0].name() == "_0";
    let member_column = |(at, field): (usize, &Arc<Field>)| {
        let by_place = || pair.then(|| record.column(at));
        let column = record.column_by_name(field.name()).or_else(by_place);
        let column = column.ok_or_else(|| {
            Error::invalid_argument(format!("the record has no member {:?}", field.name()))
                .suggest(field.name(), record.column_names())
        })?;
        member(column, field).in_field(field.name())
    };
    let members = fields.iter().enumerate().map(member_column).collect::<Result<Vec<_>>>()?;
    let extra = |(name, _): &(&str, &ArrayRef)| !pair && fields.find(name).is_none();
    let mut columns = record.column_names().into_iter().zip(record.columns()).filter(extra);
    if let Some((extra, _)) = columns.find(|(_, array)| !is_empty(array.data_type())) {
        let known = fields.iter().map(|field| field.name().as_str());
        return Err(Error::invalid_argument(format!("the class has no member {extra:?}"))
            .suggest(extra, known));
    }
    made(StructArray::try_new_with_length(fields.clone(), members, None, array.len()))
}

/// The member of a `TClonesArray` with its items.
const ITEMS: &str = "items";

/// Returns the items of a `TClonesArray`, which is a record. Its branches have only the items.
fn clones(data_type: &DataType) -> Option<&Field> {
    let DataType::Struct(members) = data_type else { return None };
    match &members[..] {
        [_, _, lower, items] if lower.name() == "fLowerBound" && items.name() == ITEMS => {
            Some(items)
        }
        _ => None,
    }
}

/// Returns the objects of a union that are all of the class `wanted`.
fn of_one_child(union: &UnionArray, wanted: &DataType) -> Result<ArrayRef> {
    let DataType::Union(fields, _) = union.data_type() else {
        return Err(Error::invalid_argument("a union without types"));
    };
    let class = fields.iter().find(|(_, own)| fits(own.data_type(), wanted)).map(|(id, _)| id);
    let other = union.type_ids().iter().position(|id| Some(*id) != class);
    let (Some(class), None) = (class, other) else {
        let message = "an object is of another class, or a null pointer";
        return Err(at_entry(Error::invalid_argument(message), other.unwrap_or(0)));
    };
    let places = (0..union.len()).map(|row| union.value_offset(row) as u64);
    let refused = |error: ArrowError| Error::invalid_argument(error.to_string());
    take(union.child(class), &UInt64Array::from_iter_values(places), None).map_err(refused)
}

/// Returns arrays of a fixed size, from such arrays or from lists that all have this length.
fn arrays(array: &ArrayRef, item: &Arc<Field>, size: i32, wanted: &DataType) -> Result<ArrayRef> {
    let length = usize::try_from(size).unwrap_or(0);
    let values = match fixed(array)? {
        Some((actual, values)) if actual == length => values,
        Some((actual, _)) => return Err(length_error(actual, length, 0)),
        None => {
            let (offsets, values) = lists(array).ok_or_else(|| misfit(array, wanted))??;
            let other = offsets.lengths().enumerate().find(|(_, actual)| *actual != length);
            if let Some((at, actual)) = other {
                return Err(length_error(actual, length, at));
            }
            values
        }
    };
    let values = member(&values, item).map_err(|error| error.entry_of(|at| at / length.max(1)))?;
    made(FixedSizeListArray::try_new(Arc::clone(item), size, values, None))
}

fn length_error(length: usize, wanted: usize, at: usize) -> Error {
    let message = format!("an array of {length} items cannot fill an array of size {wanted}");
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
