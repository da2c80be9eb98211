//! Finds the C++ types of columns of classes. The metadata `nyssa:type` of a column or of its items name them.

use std::collections::HashMap;

use arrow_schema::{DataType, Field};
use nyssa_root::arrow::STRING;
use nyssa_root::definitions::Definitions;
use nyssa_root::error::Result;
use nyssa_root::streamer::{Declarations, Layouts};
use nyssa_root::type_name::{Argument, TypeName};

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
    let layout = layout_of(&mut Layouts::new(&declared.infos()), &spelt)?;
    let metadata = HashMap::from([(STRING.0.to_owned(), type_name.to_owned())]);
    Ok(Some(Field::new(name, layout.data_type(), false).with_metadata(metadata)))
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
