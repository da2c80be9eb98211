//! Finds subfields by path, with the names of ROOT's `RDataFrame` and uproot: `s.x` is a member of a record,
//! `jets.pt` is the member of each item of a collection.

use nyssa_data::dataset::ColumnInfo;

use super::shape::Node;
use super::streamers::Streamers;
use crate::schema::{Field, FieldId, Schema, Structure};

/// The maximum depth of nested fields. Real data have less than 20 levels.
pub(super) const MAX_DEPTH: usize = 200;

/// The fields from a top-level field down to one of its subfields.
pub(super) type FieldPath = Vec<FieldId>;

/// Lists the subfields of the fields `top`. Parents come first.
pub(super) fn field_paths(schema: &Schema, top: &[FieldId]) -> Vec<FieldPath> {
    let mut paths = Vec::new();
    for &id in top {
        walk(schema, &mut vec![id], &mut paths);
    }
    paths
}

fn walk(schema: &Schema, field_path: &mut FieldPath, paths: &mut Vec<FieldPath>) {
    let Some(field) = field_path.last().map(|&id| schema.field(id)) else { return };
    if field_path.len() > MAX_DEPTH {
        return;
    }
    for &child in parts(field) {
        field_path.push(child);
        if !is_list(field) {
            paths.push(field_path.clone());
        }
        walk(schema, field_path, paths);
        field_path.pop();
    }
}

/// Returns the subfields that can be read without their parent.
pub(super) fn parts(field: &Field) -> &[FieldId] {
    if field.structure == Structure::Record || is_list(field) { &field.children } else { &[] }
}

/// Returns whether the only subfield is the type of several items.
fn is_list(field: &Field) -> bool {
    field.structure == Structure::Collection || field.array_size.is_some()
}

/// Returns the subfield of the fields `top` at `path`. The path may leave out the items of collections, which
/// are `_0` in the full path of ROOT (`jets._0.pt`), and the underscore of members of tuples.
pub(super) fn find(schema: &Schema, top: &[FieldId], path: &str) -> Option<FieldPath> {
    let names: Vec<&str> = path.split(['.', '/']).collect();
    let (first, rest) = names.split_first()?;
    let &id = top.iter().find(|&&id| schema.field(id).name == *first)?;
    let mut field_path = vec![id];
    (!rest.is_empty() && descend(schema, &mut field_path, rest)).then_some(field_path)
}

fn descend(schema: &Schema, field_path: &mut FieldPath, names: &[&str]) -> bool {
    let Some((name, rest)) = names.split_first() else { return true };
    let Some(field) =
        field_path.last().map(|&id| schema.field(id)).filter(|_| field_path.len() <= MAX_DEPTH)
    else {
        return false;
    };
    let list = is_list(field);
    for &child in parts(field) {
        field_path.push(child);
        let own = schema.field(child).name.as_str();
        let named = own == *name || own.strip_prefix('_') == Some(name);
        if list && descend(schema, field_path, names) || named && descend(schema, field_path, rest)
        {
            return true;
        }
        field_path.pop();
    }
    false
}

/// Returns the path of a subfield, without the items of collections.
pub(super) fn path(schema: &Schema, field_path: &[FieldId]) -> String {
    let mut path = String::new();
    let mut item = false;
    for &id in field_path {
        let field = schema.field(id);
        if !item {
            path.push_str(if path.is_empty() { "" } else { "." });
            path.push_str(&field.name);
        }
        item = is_list(field);
    }
    path
}

/// Returns the column as which a subfield is read.
pub fn item(schema: &Schema, field_path: &[FieldId], streamers: Option<&Streamers>) -> ColumnInfo {
    let name = path(schema, field_path);
    let node = node(schema, field_path, streamers);
    ColumnInfo {
        type_name: type_name(schema, field_path),
        field: node.map(|node| node.arrow_field(&name)),
        name,
    }
}

/// Makes the node of a subfield. Its streamer fields are decoded if there are layouts for them.
pub(super) fn node(
    schema: &Schema,
    field_path: &[FieldId],
    streamers: Option<&Streamers>,
) -> std::result::Result<Node, String> {
    let mut node = Node::part(schema, field_path)?;
    match streamers.filter(|streamers| streamers.decodes(field_path)) {
        Some(streamers) => node.decode_objects(schema, streamers).map(|()| node),
        None => Ok(node),
    }
}

/// Returns the C++ type as which a subfield is read, with the surrounding collections.
fn type_name(schema: &Schema, field_path: &[FieldId]) -> String {
    let Some((&last, above)) = field_path.split_last() else { return String::new() };
    above.iter().rev().map(|&id| schema.field(id)).fold(
        own_type(schema.field(last)),
        |inner, field| match (field.structure, field.array_size) {
            (_, Some(size)) => format!("std::array<{inner},{size}>"),
            (Structure::Collection, _) if field.type_name.starts_with("std::optional<") => {
                format!("std::optional<{inner}>")
            }
            (Structure::Collection, _) => format!("std::vector<{inner}>"),
            _ => inner,
        },
    )
}

/// Returns the C++ type of a field, or a description if it has no C++ type.
pub(super) fn own_type(field: &Field) -> String {
    match field.structure {
        Structure::Collection if field.type_name.is_empty() => "(untyped collection)".to_owned(),
        Structure::Record if field.type_name.is_empty() => "(untyped record)".to_owned(),
        _ => field.type_name.clone(),
    }
}
