//! Finds the types of tables for the types of nyssa, and brings arrays into them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{ArrayRef, Int64Array};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use nyssa_data::dataset::Format;
use nyssa_root::arrow::{
    Date, TIME, brief, children, date_seconds, export, export_field, time_field, time_of,
    with_children,
};
use nyssa_root::error::{Error, Result, ResultExt};

use crate::metadata::{CPP_TYPE, TIME_TITLE, TITLE};

/// The number of milliseconds of a day.
const DAY: i64 = 86_400_000;

/// A column of a table that is written.
#[derive(Clone, Debug)]
pub struct Column {
    /// The type of its arrays.
    pub field: Field,
    /// The title of the branch, or the description of the field.
    pub title: String,
    /// The C++ type, for people.
    pub type_name: String,
}

/// The columns of a table, and their types there.
pub(crate) struct Written {
    /// The columns as they come.
    fields: Vec<Field>,
    /// The columns as the table shows them again.
    pub(crate) kept: Vec<Field>,
    pub(crate) schema: SchemaRef,
}

/// Returns the field of a table for a column.
///
/// # Errors
/// `Unsupported` for types that the format does not have.
pub fn written_field(column: &Column, format: Format) -> Result<Field> {
    let Column { field, title, type_name } = column;
    let written = export_field(&kept(&timed(column), format));
    if format == Format::Parquet {
        check(&written).in_field(field.name())?;
    }
    let mut metadata = written.metadata().clone();
    if !title.is_empty() && !title.starts_with(TIME_TITLE) {
        metadata.insert(TITLE.to_owned(), title.clone());
    }
    metadata.insert(CPP_TYPE.to_owned(), type_name.clone());
    Ok(written.with_metadata(metadata))
}

/// Returns the field of a column, whose integers were dates or times in another table if its title says so.
fn timed(Column { field, title, .. }: &Column) -> Field {
    let mut field = field.clone();
    if let Some(time) = title.strip_prefix(TIME_TITLE)
        && !field.metadata().contains_key(TIME)
    {
        field.metadata_mut().insert(TIME.to_owned(), time.to_owned());
    }
    field
}

/// Returns the field that a table shows again for a field: dates and times are integers in the units of the format. Parquet
/// has no seconds, and counts dates in days.
fn kept(field: &Field, format: Format) -> Field {
    let in_format = |time| match time {
        time if format != Format::Parquet => time,
        DataType::Timestamp(TimeUnit::Second, zone) => {
            DataType::Timestamp(TimeUnit::Millisecond, zone)
        }
        DataType::Time32(_) => DataType::Time32(TimeUnit::Millisecond),
        DataType::Date64 => DataType::Date32,
        other => other,
    };
    if Date::is_in(field) {
        let time = in_format(DataType::Timestamp(TimeUnit::Second, None));
        return time_field(field.name(), &time, true);
    }
    if let Some(time) = time_of(field) {
        return time_field(field.name(), &in_format(time), field.is_nullable());
    }
    let child = |child: &FieldRef| Arc::new(kept(child, format));
    let data_type = match field.data_type() {
        DataType::LargeList(item) => DataType::LargeList(child(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(child(item), *size),
        DataType::Struct(members) => DataType::Struct(members.iter().map(child).collect()),
        _ => return field.clone(),
    };
    field.clone().with_data_type(data_type)
}

/// Refuses types that Parquet does not have.
fn check(field: &Field) -> Result<()> {
    match field.data_type() {
        DataType::Union(..) => Err(Error::unsupported(format!(
            "Parquet has no variants, such as {}: leave the column out, or write an .arrow file",
            brief(field.data_type())
        ))),
        DataType::Struct(members) if members.is_empty() => {
            Err(Error::unsupported("Parquet has no records without members: leave the column out"))
        }
        DataType::Struct(members) => members.iter().try_for_each(|member| check(member)),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            check(item)
        }
        _ => Ok(()),
    }
}

impl Written {
    /// Finds the types of columns.
    ///
    /// # Errors
    /// `Unsupported` for types that the format does not have.
    pub(crate) fn new(
        columns: &[Column],
        format: Format,
        metadata: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self> {
        let fields: Vec<Field> = columns.iter().map(timed).collect();
        let kept = fields.iter().map(|field| kept(field, format)).collect();
        let written = columns.iter().map(|column| written_field(column, format));
        let schema = Schema::new(written.collect::<Result<Vec<_>>>()?);
        let schema =
            Arc::new(schema.with_metadata(metadata.into_iter().collect::<HashMap<_, _>>()));
        Ok(Self { fields, kept, schema })
    }

    /// Returns the arrays as the table shows them again.
    ///
    /// # Errors
    /// `InvalidArgument` with the field whose dates or times Parquet cannot hold.
    pub(crate) fn keep(&self, arrays: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        let all = arrays.iter().zip(self.fields.iter().zip(&self.kept));
        all.map(|(array, (from, to))| keep(array, from, to).in_field(from.name())).collect()
    }

    /// Returns the arrays that [`Written::keep`] returned in the types of the table.
    ///
    /// # Errors
    /// `InvalidArgument` with the field whose strings are not UTF-8.
    pub(crate) fn arrays(&self, arrays: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        arrays.iter().zip(&self.kept).map(|(array, field)| export(array, field)).collect()
    }
}

/// Returns an array in the units of [`kept`].
fn keep(array: &ArrayRef, from: &Field, to: &Field) -> Result<ArrayRef> {
    if from == to {
        return Ok(Arc::clone(array));
    }
    let too_large = || {
        let message = "a time in seconds is too large for milliseconds, and Parquet has no seconds";
        Error::invalid_argument(message)
    };
    let no_day = || {
        let message = "a date is not a whole number of days, and Parquet has no other dates: cast it to a timestamp";
        Error::invalid_argument(message)
    };
    let days = |value: i64| i32::try_from(value / DAY).ok().filter(|_| value % DAY == 0);
    Ok(match (time_of(from), time_of(to)) {
        (None, Some(DataType::Timestamp(unit, _))) if Date::is_in(from) => {
            let each = if unit == TimeUnit::Second { 1 } else { 1000 };
            let times = date_seconds(array).map(|seconds| seconds.map(|seconds| seconds * each));
            Arc::new(times.collect::<Int64Array>())
        }
        (
            Some(DataType::Timestamp(TimeUnit::Second, _)),
            Some(DataType::Timestamp(TimeUnit::Millisecond, _)),
        ) => {
            let times = array.as_primitive::<Int64Type>();
            let longer = |value: i64| value.checked_mul(1000).ok_or_else(too_large);
            Arc::new(times.try_unary::<_, Int64Type, _>(longer)?)
        }
        (
            Some(DataType::Time32(TimeUnit::Second)),
            Some(DataType::Time32(TimeUnit::Millisecond)),
        ) => {
            let times = array.as_primitive::<Int32Type>();
            let longer = |value: i32| value.checked_mul(1000).ok_or_else(too_large);
            Arc::new(times.try_unary::<_, Int32Type, _>(longer)?)
        }
        (Some(DataType::Date64), Some(DataType::Date32)) => {
            let dates = array.as_primitive::<Int64Type>();
            let whole = |value: i64| days(value).ok_or_else(no_day);
            Arc::new(dates.try_unary::<_, Int32Type, _>(whole)?)
        }
        (Some(_), _) => Arc::clone(array),
        _ => inside(array, from, to)?,
    })
}

/// Returns a list or record whose parts are in the units of [`kept`].
fn inside(array: &ArrayRef, from: &Field, to: &Field) -> Result<ArrayRef> {
    let parts = children(array);
    let kept: Vec<ArrayRef> = match (from.data_type(), to.data_type(), &parts[..]) {
        (
            DataType::LargeList(from) | DataType::FixedSizeList(from, _),
            DataType::LargeList(to) | DataType::FixedSizeList(to, _),
            [items],
        ) => vec![keep(items, from, to)?],
        (DataType::Struct(from), DataType::Struct(to), parts) => {
            let members = parts.iter().zip(from.iter().zip(to));
            members.map(|(part, (from, to))| keep(part, from, to)).collect::<Result<_>>()?
        }
        _ => return Ok(Arc::clone(array)),
    };
    with_children(array, to.data_type(), &kept).map_err(|error| {
        Error::invalid_argument("the array is not of the type that its field says")
            .with_source(error)
    })
}
