//! Element types of branches → C++ types of fields, as ROOT's importer chooses them.

use crate::schema::{FieldType, Leaf};
use crate::ttree::{Element, Shape};

/// The field type of one element. `TLeafB` is `char` for ROOT.
pub(super) fn element(element: Element) -> FieldType {
    FieldType::Leaf(match element {
        Element::Bool => Leaf::Bool,
        Element::Int8 => Leaf::Char,
        Element::UInt8 => Leaf::UInt8,
        Element::Int16 => Leaf::Int16,
        Element::UInt16 => Leaf::UInt16,
        Element::Int32 => Leaf::Int32,
        Element::UInt32 => Leaf::UInt32,
        Element::Int64 => Leaf::Int64,
        Element::UInt64 => Leaf::UInt64,
        Element::Float32 => Leaf::Float,
        Element::Float64 => Leaf::Double,
        Element::CString => return FieldType::String,
    })
}

/// The field type of what a branch yields per entry, or per item when it is jagged.
pub(super) fn item(shape: &Shape) -> FieldType {
    let inner = element(shape.element);
    shape.dimensions.iter().rev().fold(inner, |inner, &size| FieldType::array(inner, size))
}
