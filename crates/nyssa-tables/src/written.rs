//! Finds the types of tables for the types of nyssa, and brings arrays into them.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, make_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use nyssa_data::dataset::Format;
use nyssa_root::arrow::{brief, export, export_field};
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::guard::to_usize;

use crate::metadata::{CPP_TYPE, TIME_TITLE, TITLE};
use crate::shown::TIME;

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
    fields: Vec<Field>,
    pub(crate) schema: SchemaRef,
}

/// Returns the field of a table for a column.
///
/// # Errors
/// `Unsupported` for types that the format does not have.
pub fn written_field(column: &Column, format: Format) -> Result<Field> {
    let Column { field, title, type_name } = column;
    let mut written = export_field(field);
    if let Some(time) = time_of(field, title) {
        written = Field::new(field.name(), time, field.is_nullable());
    } else if *written.data_type() == DataType::Timestamp(TimeUnit::Second, None) {
        // Parquet has no seconds.
        written = written.with_data_type(DataType::Timestamp(TimeUnit::Millisecond, None));
    }
    if format == Format::Parquet {
        check(&written).in_field(field.name())?;
    }
    let mut metadata = written.metadata().clone();
    metadata.remove(TIME);
    if !title.is_empty() && !title.starts_with(TIME_TITLE) {
        metadata.insert(TITLE.to_owned(), title.clone());
    }
    metadata.insert(CPP_TYPE.to_owned(), type_name.clone());
    Ok(written.with_metadata(metadata))
}

/// Returns the type of dates or times that integers were in another table.
fn time_of(field: &Field, title: &str) -> Option<DataType> {
    let own = field.metadata().get(TIME).map(String::as_str);
    let time = DataType::from_str(own.or_else(|| title.strip_prefix(TIME_TITLE))?).ok()?;
    let width = time.is_temporal().then(|| time.primitive_width()).flatten();
    (width.is_some() && width == field.data_type().primitive_width()).then_some(time)
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
        let fields = columns.iter().map(|column| column.field.clone()).collect();
        let written = columns.iter().map(|column| written_field(column, format));
        let schema = Schema::new(written.collect::<Result<Vec<_>>>()?);
        let schema =
            Arc::new(schema.with_metadata(metadata.into_iter().collect::<HashMap<_, _>>()));
        Ok(Self { fields, schema })
    }

    /// Returns the arrays in the types of the table.
    ///
    /// # Errors
    /// `InvalidArgument` with the field whose strings are not UTF-8.
    pub(crate) fn arrays(&self, arrays: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        let all = arrays.iter().zip(&self.fields).zip(self.schema.fields());
        all.map(|((array, field), to)| converted(array, field, to)).collect()
    }
}

fn converted(array: &ArrayRef, field: &Field, to: &Field) -> Result<ArrayRef> {
    let exported = export(array, field)?;
    if exported.data_type() == to.data_type() || !to.data_type().is_temporal() {
        return Ok(exported);
    }
    let misfit = |error| Error::invalid_argument("dates do not fit").with_source(error);
    let data = match exported.data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => {
            let seconds = exported.to_data();
            let [values] = seconds.buffers() else {
                return Err(Error::invalid_argument("dates without values"));
            };
            let (from, count) = (seconds.offset(), to_usize(seconds.len() as u64, "entries")?);
            let values = &values.typed_data::<i64>()[from..from + count];
            let values: Vec<i64> = values.iter().map(|value| value.saturating_mul(1000)).collect();
            let builder = arrow_array::Int64Array::new(values.into(), seconds.nulls().cloned());
            builder.to_data().into_builder().data_type(to.data_type().clone()).build()
        }
        _ => exported.to_data().into_builder().data_type(to.data_type().clone()).build(),
    };
    data.map(make_array).map_err(misfit)
}
