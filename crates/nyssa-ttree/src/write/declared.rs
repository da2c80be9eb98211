//! Finds the C++ types of columns of classes. The metadata `nyssa:type` of a column or of its items name them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field};
use nyssa_root::arrow::{Number, STRING};
use nyssa_root::definitions::{Definition, Definitions};
use nyssa_root::error::Result;
use nyssa_root::streamer::{Declarations, Layouts, StreamerInfos};
use nyssa_root::type_name::{Argument, TypeName};

use super::class_members::item_class;
use super::described::{arguments, type_of as type_of_member};
use super::unroll::layout_of;

/// Returns the C++ type of a column if it names a class of `classes`.
///
/// # Errors
/// `InvalidArgument` for a type that cannot be read.
pub(super) fn class_of(column: &Field, classes: &Definitions) -> Result<Option<String>> {
    if classes.is_empty() {
        return Ok(None);
    }
    let Some(type_name) = type_of(column) else { return Ok(None) };
    let parsed = TypeName::parse_with_typedefs(&type_name)?;
    Ok(names_class(&parsed, classes).then_some(type_name))
}

/// Returns the column of a tree for a C++ type that names a class of `classes`. Returns `None` for other types.
///
/// # Errors
/// `InvalidArgument` for a text that is not a C++ type, for unknown names, and for a class that contains itself;
/// `Unsupported` for types that a tree cannot hold.
pub fn column_of(name: &str, type_name: &str, classes: &Definitions) -> Result<Option<Field>> {
    if !names_class(&TypeName::parse_with_typedefs(type_name)?, classes) {
        return Ok(None);
    }
    let mut declared = Declarations::new(classes);
    let spelt = declared.declare(type_name)?;
    let infos = declared.infos();
    let layout = layout_of(&mut Layouts::new(&infos), &spelt)?;
    let data_type = narrowed(&layout.data_type(), &spelt, &infos, classes);
    let metadata = HashMap::from([(STRING.0.to_owned(), type_name.to_owned())]);
    Ok(Some(Field::new(name, data_type, false).with_metadata(metadata)))
}

/// Returns the type of the values of a C++ type, in ROOT's spelling, that are streamed as `streamed`. Enums have the numbers
/// of the enum, since ROOT streams them all as `Int_t`, and cuts off the numbers that the enum cannot have.
pub(super) fn narrowed(
    streamed: &DataType,
    type_name: &str,
    infos: &StreamerInfos,
    classes: &Definitions,
) -> DataType {
    let type_name = type_name.trim().trim_end_matches('*').trim_start_matches("const ");
    let inner = |field: &Arc<Field>, type_name: &str| {
        let data_type = narrowed(field.data_type(), type_name, infos, classes);
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    };
    match streamed {
        DataType::Struct(fields) => {
            let elements = infos.class(type_name, None).map_or(&[][..], |info| &info.elements);
            let types = elements.iter().map(type_of_member).chain(std::iter::repeat(""));
            DataType::Struct(fields.iter().zip(types).map(|(own, name)| inner(own, name)).collect())
        }
        DataType::LargeList(item) => {
            let class = item_class(infos, type_name).map(|info| info.name.as_str());
            let name = class.or(arguments(type_name).first().copied()).unwrap_or_default();
            DataType::LargeList(inner(item, name))
        }
        DataType::FixedSizeList(item, size) => {
            DataType::FixedSizeList(inner(item, type_name), *size)
        }
        DataType::Union(fields, mode) => {
            let own = fields.iter().map(|(id, field)| (id, inner(field, field.name())));
            DataType::Union(own.collect(), *mode)
        }
        DataType::Int32 => match classes.get(type_name) {
            Some(Definition::Enum(number)) => match Number::of_type_name(&spelt_number(number)) {
                Some(number) if number.size() < size_of::<i32>() => number.data_type(),
                _ => DataType::Int32,
            },
            _ => DataType::Int32,
        },
        other => other.clone(),
    }
}

/// Returns the name of a type of numbers without typedefs.
fn spelt_number(text: &str) -> String {
    TypeName::parse_with_typedefs(text).map_or_else(|_| text.to_owned(), |name| name.to_string())
}

/// Returns the C++ type of a column, or of lists whose items have a type.
fn type_of(field: &Field) -> Option<String> {
    if let Some(own) = field.metadata().get(STRING.0).filter(|&name| name != STRING.1) {
        return Some(own.clone());
    }
    match field.data_type() {
        DataType::List(item) | DataType::LargeList(item) => {
            type_of(item).map(|item| format!("std::vector<{item}>"))
        }
        _ => None,
    }
}

fn names_class(name: &TypeName, classes: &Definitions) -> bool {
    let (_, arguments) = name.template();
    let inside = |argument: &Argument| match argument {
        Argument::Type(name) => names_class(name, classes),
        Argument::Value(_) => false,
    };
    let pointee = TypeName { indirection: String::new(), constant: false, ..name.clone() };
    classes.get(&pointee.to_string()).is_some() || arguments.iter().any(inside)
}
