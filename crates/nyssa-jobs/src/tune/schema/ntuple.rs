//! The fields of an RNTuple and their columns.

use nyssa_data::dataset::Dataset;
use nyssa_rntuple::read::Reader;
use nyssa_rntuple::schema::{Column, ColumnId, FieldId, Structure};
use serde::Serialize;

/// The fields and attribute sets of an RNTuple.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fields {
    /// The fields. Each comes before its subfields.
    pub fields: Vec<FieldEntry>,
    /// The attribute sets.
    pub attribute_sets: Vec<AttributeSet>,
}

/// An attribute set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttributeSet {
    /// The name.
    pub name: String,
    /// The major and minor version of the schema of attribute sets.
    pub version: (u16, u16),
}

/// A field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldEntry {
    /// The id of the field.
    pub id: u32,
    /// The path from the top-level field on.
    pub path: String,
    /// The name.
    pub name: String,
    /// The C++ type, or `(collection)` or `(record)` if the field has none.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The alias of the type.
    pub type_alias: String,
    /// The structural role.
    pub structure: String,
    /// The number of fields above this field.
    #[serde(skip)]
    pub depth: usize,
    /// The id of the parent field.
    pub parent: Option<u32>,
    /// The description.
    pub description: String,
    /// The path of the source field of a projected field.
    pub source: Option<String>,
    /// The number of items of a fixed-size array.
    pub array_size: Option<u64>,
    /// The physical columns. A projected field has the columns of its source field.
    pub columns: Vec<ColumnEntry>,
    /// The reason why nyssa cannot read the field. Only a top-level field can have a reason.
    pub unreadable: Option<String>,
}

/// A physical column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnEntry {
    /// The id of the column.
    pub id: u32,
    /// The column type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The number of bits of an element on storage.
    pub bits: u16,
    /// The index of the column representation.
    pub representation: u16,
    /// The smallest and largest value of a quantised column.
    pub value_range: Option<(f64, f64)>,
}

/// Returns the fields and attribute sets of an RNTuple.
pub(super) fn fields(reader: &Reader) -> Fields {
    let mut rows = Vec::new();
    for &id in reader.top_level() {
        let first = rows.len();
        add(reader, id, 0, &mut rows);
        let column = reader.find_column(&reader.schema().field(id).name);
        if let (Some(row), Some(Err(reason))) =
            (rows.get_mut(first), column.map(|item| &item.field))
        {
            row.unreadable = Some(reason.clone());
        }
    }
    let sets = reader.attribute_links().iter().map(|link| AttributeSet {
        name: link.name.clone(),
        version: (link.schema_major, link.schema_minor),
    });
    Fields { fields: rows, attribute_sets: sets.collect() }
}

/// Adds a field and its subfields.
fn add(reader: &Reader, id: FieldId, depth: usize, rows: &mut Vec<FieldEntry>) {
    let schema = reader.schema();
    let field = schema.field(id);
    let column = |&id: &ColumnId| column_entry(id, schema.column(id));
    rows.push(FieldEntry {
        id: id.0,
        path: schema.path(id),
        name: field.name.clone(),
        type_name: match field.structure {
            Structure::Collection if field.type_name.is_empty() => "(collection)".to_owned(),
            Structure::Record if field.type_name.is_empty() => "(record)".to_owned(),
            _ => field.type_name.clone(),
        },
        type_alias: field.type_alias.clone(),
        structure: format!("{:?}", field.structure).to_lowercase(),
        depth,
        parent: field.parent.map(|parent| parent.0),
        description: field.description.clone(),
        source: field.source.map(|source| schema.path(source)),
        array_size: field.array_size,
        columns: field.columns.iter().map(column).collect(),
        unreadable: None,
    });
    for &child in &field.children {
        add(reader, child, depth + 1, rows);
    }
}

fn column_entry(id: ColumnId, column: &Column) -> ColumnEntry {
    ColumnEntry {
        id: id.0,
        type_name: column
            .column_type
            .map_or_else(|| format!("unknown {:#x}", column.type_code), |it| it.name().to_owned()),
        bits: column.bits,
        representation: column.representation,
        value_range: column.value_range,
    }
}
