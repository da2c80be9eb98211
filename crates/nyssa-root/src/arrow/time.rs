//! Dates and times of tables, which are integers inside nyssa. The metadata of their fields have the type, which they
//! get back when they leave nyssa.

use std::str::FromStr;

use arrow_array::{Array, ArrayRef, make_array};
use arrow_schema::{ArrowError, DataType, Field};

/// The key of field metadata with the type of dates or times, which the integers of the field are.
pub const TIME: &str = "nyssa:time";

/// Makes the field of the integers that stand for dates or times.
pub fn time_field(name: &str, time: &DataType, nullable: bool) -> Field {
    let number = match time {
        DataType::Date32 | DataType::Time32(_) => DataType::Int32,
        _ => DataType::Int64,
    };
    Field::new(name, number, nullable).with_metadata([(TIME.to_owned(), time.to_string())])
}

/// Returns the type of dates or times that the integers of a field are, if its metadata name one that fits them.
pub fn time_of(field: &Field) -> Option<DataType> {
    if !matches!(field.data_type(), DataType::Int32 | DataType::Int64) {
        return None;
    }
    let time = DataType::from_str(field.metadata().get(TIME)?).ok()?;
    let width = time.is_temporal().then(|| time.primitive_width()).flatten();
    (width.is_some() && width == field.data_type().primitive_width()).then_some(time)
}

/// Returns integers as dates or times of a type of their width. The buffer is shared.
pub(super) fn as_time(array: &ArrayRef, time: &DataType) -> Result<ArrayRef, ArrowError> {
    array.to_data().into_builder().data_type(time.clone()).build().map(make_array)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::TimeUnit;

    #[test]
    fn a_type_comes_back_where_it_fits() {
        for time in [
            DataType::Date32,
            DataType::Date64,
            DataType::Time32(TimeUnit::Second),
            DataType::Time64(TimeUnit::Nanosecond),
            DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
            DataType::Duration(TimeUnit::Microsecond),
        ] {
            assert_eq!(time_of(&time_field("x", &time, true)), Some(time));
        }
        let named = |number, text: &str| {
            Field::new("x", number, true).with_metadata([(TIME.to_owned(), text.to_owned())])
        };
        assert_eq!(time_of(&named(DataType::Int64, "Date32")), None);
        assert_eq!(time_of(&named(DataType::Int64, "Int64")), None);
        assert_eq!(time_of(&named(DataType::Int64, "no type")), None);
    }
}
