//! Finds the C++ types of columns of classes. The metadata `nyssa:type` of a column or of its items name them.

use arrow_schema::{DataType, Field};
use nyssa_root::arrow::STRING;
use nyssa_root::definitions::Definitions;
use nyssa_root::error::Result;
use nyssa_root::type_name::{Argument, TypeName};

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
    classes.get(&name.to_string()).is_some() || arguments.iter().any(inside)
}
