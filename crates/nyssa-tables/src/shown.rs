//! Brings the arrays of tables into the types that nyssa has for TTrees and RNTuples.
//!
//! | in the table | in nyssa |
//! |---|---|
//! | strings, also large, views, dictionaries | strings |
//! | binaries, also large, views | `LargeBinary`, a `std::vector<std::byte>` |
//! | dictionaries | their values |
//! | lists, large lists | `LargeList` |
//! | maps | `LargeList` of pairs, a `std::map` |
//! | binaries of fixed size | `FixedSizeList` of `UInt8`, a `std::array<std::byte,N>` |
//! | dates, times, timestamps, durations | integers, whose field is [`time_field`] |
//! | decimals, intervals, unions, nulls, views of lists, run-end encoded arrays | refused |

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryViewType, StringViewType, UInt8Type};
use arrow_array::{
    Array, ArrayRef, FixedSizeBinaryArray, FixedSizeListArray, LargeBinaryArray, LargeListArray,
    PrimitiveArray, StructArray, make_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use arrow_select::take::take;
use nyssa_root::arrow::{STREAMER, STRING, brief, field, time_field, typed_field};
use nyssa_root::error::{Error, Result, ResultExt};

/// Returns the field that nyssa shows for a field of a table, or the reason why it cannot.
pub(crate) fn shown(original: &Field) -> std::result::Result<Field, String> {
    let name = original.name();
    let own = |data_type| original.clone().with_data_type(data_type);
    let child = |inner: &Field| shown(&inner.clone().with_name("item")).map(Arc::new);
    Ok(match original.data_type() {
        DataType::Dictionary(_, values) => return shown(&own((**values).clone())),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let text = typed_field(own(DataType::LargeBinary), STRING.1);
            let more = original.metadata().iter().filter(|(key, _)| *key != STRING.0);
            let mut metadata = text.metadata().clone();
            metadata.extend(more.map(|(key, value)| (key.clone(), value.clone())));
            text.with_metadata(metadata)
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            own(DataType::LargeBinary)
        }
        DataType::FixedSizeBinary(size) => {
            let bytes = DataType::FixedSizeList(Arc::new(field("item", DataType::UInt8)), *size);
            typed_field(own(bytes), &format!("std::array<std::byte,{size}>"))
        }
        DataType::List(item) | DataType::LargeList(item) => own(DataType::LargeList(child(item)?)),
        DataType::FixedSizeList(item, size) => own(DataType::FixedSizeList(child(item)?, *size)),
        DataType::Struct(members) => {
            let members = members.iter().map(|member| shown(member).map(Arc::new));
            own(DataType::Struct(members.collect::<std::result::Result<_, _>>()?))
        }
        DataType::Map(entries, _) => {
            let DataType::Struct(pair) = entries.data_type() else {
                return Err(format!("{name} is a map without entries"));
            };
            let [key, value] = &pair[..] else {
                return Err(format!("{name} is a map whose entries are no pairs"));
            };
            let member = |inner: &FieldRef, name: &str| shown(&(**inner).clone().with_name(name));
            let pair = vec![member(key, "_0")?, member(value, "_1")?];
            let item = Field::new("item", DataType::Struct(pair.into()), false);
            typed_field(own(DataType::LargeList(Arc::new(item))), "std::map")
        }
        time if time.is_temporal() && !matches!(time, DataType::Interval(_)) => {
            time_field(name, time, original.is_nullable())
        }
        plain if plain.is_integer() || plain.is_floating() || *plain == DataType::Boolean => {
            original.clone()
        }
        other => return Err(format!("{name} has the type {}: {}", brief(other), advice(other))),
    })
}

fn advice(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => {
            "cast it to float64, or to int64 in units of its scale, before the table is written"
        }
        DataType::Interval(_) => "cast it to int64 before the table is written",
        DataType::ListView(_) | DataType::LargeListView(_) => "cast it to large_list",
        DataType::RunEndEncoded(..) => "decode it to its value type",
        DataType::Union(..) => "write its alternatives as separate columns",
        DataType::Null => "a column of nothing but nulls has no type",
        _ => "cast it to an integer, float, string, list or struct",
    }
}

/// Returns the field of a file of ROOT for a field that [`shown`] returned: binaries are lists of bytes.
pub fn of_root(field: &Field) -> Field {
    let child = |child: &FieldRef| Arc::new(of_root(child));
    let data_type = match field.data_type() {
        DataType::LargeBinary
            if !field.metadata().contains_key(STRING.0)
                && !field.metadata().contains_key(STREAMER) =>
        {
            let item = Arc::new(Field::new("item", DataType::UInt8, false));
            let bytes = field.clone().with_data_type(DataType::LargeList(item));
            return typed_field(bytes, "std::vector<std::byte>");
        }
        DataType::LargeList(item) => DataType::LargeList(child(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(child(item), *size),
        DataType::Struct(members) => DataType::Struct(members.iter().map(child).collect()),
        _ => return field.clone(),
    };
    field.clone().with_data_type(data_type)
}

/// Returns whether a value of a field that [`shown`] returned, or of a part of it, may be null.
pub fn may_be_null(field: &Field) -> bool {
    let below = match field.data_type() {
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => may_be_null(item),
        DataType::Struct(members) => members.iter().any(|member| may_be_null(member)),
        _ => false,
    };
    field.is_nullable() || below
}

/// Returns a field none of whose parts may be null.
pub fn without_nulls(field: &Field) -> Field {
    let child = |field: &Arc<Field>| Arc::new(without_nulls(field));
    let data_type = match field.data_type() {
        DataType::List(item) => DataType::List(child(item)),
        DataType::LargeList(item) => DataType::LargeList(child(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(child(item), *size),
        DataType::Map(entries, sorted) => DataType::Map(child(entries), *sorted),
        DataType::Struct(members) => DataType::Struct(members.iter().map(child).collect()),
        other => other.clone(),
    };
    field.clone().with_data_type(data_type).with_nullable(false)
}

/// Returns the values of an array in the type of `to`, which [`shown`] returned, perhaps with fewer fields that may be
/// null.
///
/// # Errors
/// `OutOfSpecification` for values that are missing where the field says that none are, and for arrays of other types.
pub fn fit(array: &ArrayRef, to: &Field) -> Result<ArrayRef> {
    let fitted = rebuild(array, to).map_err(|error| {
        Error::out_of_spec(format!("the values are not as the table says: {error}"))
    });
    fitted.in_field(to.name())
}

fn rebuild(array: &ArrayRef, to: &Field) -> std::result::Result<ArrayRef, ArrowError> {
    if !to.is_nullable() && array.null_count() > 0 {
        let why = format!("{} has missing values", to.name());
        return Err(ArrowError::InvalidArgumentError(why));
    }
    if array.data_type() == to.data_type() {
        return Ok(Arc::clone(array));
    }
    match (array.data_type(), to.data_type()) {
        (DataType::Dictionary(..), _) => {
            let dictionary = array.as_any_dictionary();
            rebuild(&take(dictionary.values(), dictionary.keys(), None)?, to)
        }
        (DataType::Utf8, DataType::LargeBinary) => {
            let (offsets, values, nulls) = array.as_string::<i32>().clone().into_parts();
            binary(&wide(&offsets), values, nulls)
        }
        (DataType::LargeUtf8, DataType::LargeBinary) => {
            let (offsets, values, nulls) = array.as_string::<i64>().clone().into_parts();
            binary(&offsets, values, nulls)
        }
        (DataType::Binary, DataType::LargeBinary) => {
            let (offsets, values, nulls) = array.as_binary::<i32>().clone().into_parts();
            binary(&wide(&offsets), values, nulls)
        }
        (DataType::Utf8View, DataType::LargeBinary) => {
            let views = array.as_byte_view::<StringViewType>().iter();
            Ok(Arc::new(views.map(|text| text.map(str::as_bytes)).collect::<LargeBinaryArray>()))
        }
        (DataType::BinaryView, DataType::LargeBinary) => {
            let views = array.as_byte_view::<BinaryViewType>().iter();
            Ok(Arc::new(views.collect::<LargeBinaryArray>()))
        }
        // Bytes in files of ROOT are numbers.
        (DataType::LargeBinary, DataType::LargeList(item))
            if *item.data_type() == DataType::UInt8 =>
        {
            let (offsets, values, nulls) = array.as_binary::<i64>().clone().into_parts();
            let values = PrimitiveArray::<UInt8Type>::new(ScalarBuffer::from(values), None);
            let values: ArrayRef = Arc::new(values);
            lists(item, &offsets, &values, nulls)
        }
        (DataType::List(_), DataType::LargeList(item)) => {
            let (_, offsets, values, nulls) = array.as_list::<i32>().clone().into_parts();
            lists(item, &wide(&offsets), &values, nulls)
        }
        (DataType::LargeList(_), DataType::LargeList(item)) => {
            let (_, offsets, values, nulls) = array.as_list::<i64>().clone().into_parts();
            lists(item, &offsets, &values, nulls)
        }
        (DataType::Map(..), DataType::LargeList(item)) => {
            let (_, offsets, entries, nulls, _) = array.as_map().clone().into_parts();
            let values: ArrayRef = Arc::new(entries);
            lists(item, &wide(&offsets), &values, nulls)
        }
        (DataType::FixedSizeBinary(size), DataType::FixedSizeList(item, other))
            if size == other =>
        {
            let bytes: &FixedSizeBinaryArray = array.as_fixed_size_binary();
            let values = ScalarBuffer::<u8>::from(bytes.value_data().to_vec());
            let values = PrimitiveArray::<UInt8Type>::new(values, None);
            let nulls = bytes.nulls().cloned();
            let lists =
                FixedSizeListArray::try_new(Arc::clone(item), *size, Arc::new(values), nulls)?;
            Ok(Arc::new(lists))
        }
        (DataType::FixedSizeList(..), DataType::FixedSizeList(item, size)) => {
            let list = array.as_fixed_size_list();
            let nulls = list.nulls().cloned();
            let length = usize::try_from(*size).unwrap_or_default();
            let values = match (&nulls, list.values().nulls()) {
                // The items of missing lists are missing, too.
                (Some(lists), Some(items))
                    if !item.is_nullable() && lists.expand(length).contains(items) =>
                {
                    make_array(list.values().to_data().into_builder().nulls(None).build()?)
                }
                _ => Arc::clone(list.values()),
            };
            let values = rebuild(&values, item)?;
            let lists = FixedSizeListArray::try_new(Arc::clone(item), *size, values, nulls)?;
            Ok(Arc::new(lists))
        }
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let record = array.as_struct();
            let nulls = record.nulls().cloned();
            let pairs = record.columns().iter().zip(fields);
            let members = pairs.map(|(member, field)| rebuild(member, field));
            let members = members.collect::<std::result::Result<_, _>>()?;
            let length = record.len();
            let record = StructArray::try_new_with_length(fields.clone(), members, nulls, length)?;
            Ok(Arc::new(record))
        }
        // Dates and times are integers.
        (from, DataType::Int32 | DataType::Int64) if from.is_temporal() => {
            let data = array.to_data().into_builder().data_type(to.data_type().clone());
            data.build().map(make_array)
        }
        (from, to) => {
            Err(ArrowError::InvalidArgumentError(format!("{} is not {}", brief(from), brief(to))))
        }
    }
}

fn wide(offsets: &OffsetBuffer<i32>) -> OffsetBuffer<i64> {
    OffsetBuffer::new(offsets.iter().map(|&offset| i64::from(offset)).collect())
}

/// Returns offsets that start at 0, with the first and the number of the items that they mean.
fn from_zero(offsets: &OffsetBuffer<i64>) -> (OffsetBuffer<i64>, usize, usize) {
    let (first, last) = (offsets.first(), offsets.last());
    let place = |offset: i64| usize::try_from(offset).unwrap_or_default();
    let moved = match first {
        0 => offsets.clone(),
        _ => OffsetBuffer::new(offsets.iter().map(|offset| offset - first).collect()),
    };
    (moved, place(first), place(last - first))
}

fn binary(
    offsets: &OffsetBuffer<i64>,
    values: arrow_buffer::Buffer,
    nulls: Option<NullBuffer>,
) -> std::result::Result<ArrayRef, ArrowError> {
    let (offsets, first, count) = from_zero(offsets);
    let values = values.slice_with_length(first, count);
    Ok(Arc::new(LargeBinaryArray::try_new(offsets, values, nulls)?))
}

fn lists(
    item: &FieldRef,
    offsets: &OffsetBuffer<i64>,
    values: &ArrayRef,
    nulls: Option<NullBuffer>,
) -> std::result::Result<ArrayRef, ArrowError> {
    let (offsets, first, count) = from_zero(offsets);
    let values = rebuild(&values.slice(first, count), item)?;
    Ok(Arc::new(LargeListArray::try_new(Arc::clone(item), offsets, values, nulls)?))
}
