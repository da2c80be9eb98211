//! The fields of an RNTuple.

use nyssa::dataset::{Dataset, Filter};
use nyssa::rntuple::read::Reader;
use nyssa::rntuple::schema::{Column, ColumnId, FieldId, Structure};
use serde::Serialize;

use super::{Document, indented, remark};
use crate::app::App;
use crate::data::check_filter;
use crate::failure::Result;
use crate::output::{Columns, printable};

#[derive(Serialize)]
struct Fields {
    fields: Vec<Row>,
    attribute_sets: Vec<Attributes>,
}

/// An attribute set.
#[derive(Serialize)]
struct Attributes {
    name: String,
    /// Major and minor version of the form of attribute sets.
    version: (u16, u16),
}

/// One field.
#[derive(Serialize)]
struct Row {
    id: u32,
    path: String,
    name: String,
    #[serde(rename = "type")]
    type_name: String,
    type_alias: String,
    structure: String,
    #[serde(skip)]
    depth: usize,
    parent: Option<u32>,
    description: String,
    /// Path of the field that a projected field shows.
    source: Option<String>,
    array_size: Option<u64>,
    /// The physical columns; those of the source for projected fields.
    columns: Vec<ColumnRow>,
    /// Why nyssa cannot read it (top-level fields).
    unreadable: Option<String>,
}

#[derive(Serialize)]
struct ColumnRow {
    id: u32,
    #[serde(rename = "type")]
    type_name: String,
    bits: u16,
    representation: u16,
    value_range: Option<(f64, f64)>,
}

/// Prints the fields below the top-level fields that the filter takes.
pub fn show(reader: &Reader, filter: &Filter, verbose: bool, app: &mut App<'_>) -> Result<()> {
    let mut rows = Vec::new();
    let names: Vec<_> =
        reader.top_level().iter().map(|&id| &*reader.schema().field(id).name).collect();
    check_filter(filter, &names, reader.file())?;
    for &id in reader.top_level() {
        let name = &reader.schema().field(id).name;
        if filter.takes(name) {
            let first = rows.len();
            add(reader, id, 0, &mut rows);
            if let (Some(row), Some(Err(reason))) =
                (rows.get_mut(first), reader.find_column(name).map(|item| &item.field))
            {
                row.unreadable = Some(reason.clone());
            }
        }
    }
    if app.json {
        return app.print_json(&Document {
            file: reader.file().to_owned(),
            name: reader.name().to_owned(),
            format: "RNTuple",
            entries: reader.num_entries(),
            title: reader.header().description.clone(),
            content: Fields { fields: rows, attribute_sets: attribute_sets(reader) },
        });
    }
    let mut table = if verbose {
        Columns::new(&["field", "type", "columns", "remarks", "description"])
    } else {
        Columns::new(&["field", "type", "columns", "remarks"])
    };
    for row in rows {
        let field = indented(row.depth, &row.name);
        let columns: Vec<_> = match row.source {
            Some(_) => Vec::new(),
            None => row.columns.iter().map(show_column).collect(),
        };
        let source = row.source.map(|source| format!("shows {source}")).unwrap_or_default();
        let remarks = [source, remark(row.unreadable.as_ref())];
        let remarks: Vec<_> = remarks.into_iter().filter(|it| !it.is_empty()).collect();
        let (columns, remarks) = (columns.join(", "), remarks.join("; "));
        if verbose {
            table.row([field, row.type_name, columns, remarks, row.description]);
        } else {
            table.row([field, row.type_name, columns, remarks]);
        }
    }
    table.print(app)?;
    for set in attribute_sets(reader) {
        let (major, minor) = set.version;
        writeln!(app.out, "attribute set {}, version {major}.{minor}", printable(&set.name))?;
    }
    Ok(())
}

fn attribute_sets(reader: &Reader) -> Vec<Attributes> {
    let links = reader.attribute_links().iter();
    links
        .map(|link| Attributes {
            name: link.name.clone(),
            version: (link.schema_major, link.schema_minor),
        })
        .collect()
}

fn add(reader: &Reader, id: FieldId, depth: usize, rows: &mut Vec<Row>) {
    let schema = reader.schema();
    let field = schema.field(id);
    let column = |&id: &ColumnId| column_row(id, schema.column(id));
    rows.push(Row {
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

fn column_row(id: ColumnId, column: &Column) -> ColumnRow {
    ColumnRow {
        id: id.0,
        type_name: column
            .column_type
            .map_or_else(|| format!("unknown {:#x}", column.type_code), |it| it.name().to_owned()),
        bits: column.bits,
        representation: column.representation,
        value_range: column.value_range,
    }
}

/// The type; bits where the type leaves them open.
fn show_column(column: &ColumnRow) -> String {
    let name = &column.type_name;
    match column.value_range {
        Some((low, high)) => format!("{name} ({} bits, {low} to {high})", column.bits),
        None if name == "Real32Trunc" => format!("{name} ({} bits)", column.bits),
        None => name.clone(),
    }
}
