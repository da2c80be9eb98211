//! The columns of a table.

use arrow_schema::{DataType, Field};
use nyssa_data::dataset::ColumnInfo;
use nyssa_tables::{Reader, may_be_null};
use serde::Serialize;

/// The columns of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableColumns {
    /// The columns, in the order of the table.
    pub columns: Vec<TableColumn>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableColumn {
    /// The name.
    pub name: String,
    /// The C++ type if the table states one, or the Arrow type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The Arrow type of the values that nyssa reads. `None` if it cannot read the column.
    pub arrow_type: Option<String>,
    /// Whether values, or parts of them, may be missing. `false` if the metadata of the file say that none are.
    pub nullable: bool,
    /// The description.
    pub description: String,
    /// The number of stored bytes, if the format knows them.
    pub stored_bytes: Option<u64>,
    /// The reason why nyssa cannot read the column.
    pub unreadable: Option<String>,
}

/// Returns the columns of a table.
pub(super) fn columns(reader: &Reader) -> TableColumns {
    let dataset = &**reader.dataset();
    let column = |item: &ColumnInfo| TableColumn {
        name: item.name.clone(),
        type_name: item.type_name.clone(),
        arrow_type: item.field.as_ref().ok().map(Field::data_type).map(DataType::to_string),
        nullable: item.field.as_ref().map_or(true, may_be_null),
        description: dataset.title(&item.name),
        stored_bytes: dataset.column_bytes(&item.name).ok().flatten().map(|it| it.compressed),
        unreadable: item.field.as_ref().err().cloned(),
    };
    TableColumns { columns: dataset.columns().iter().map(column).collect() }
}
