//! C++ type names of branches, for listings.

use super::{Branch, Element, Shape};

/// The C++ type of one entry: `float`, `std::int32_t[3]`, `float[nJet]`, `float[n][3]`, `char*`;
/// an unreadable branch gives its class.
pub(crate) fn of_branch(branch: &Branch) -> String {
    branch.shape.as_ref().map_or_else(|_| branch.class.clone(), of_shape)
}

fn of_shape(shape: &Shape) -> String {
    let mut name = of_element(shape.element).to_owned();
    if let Some(counter) = &shape.counter {
        name.push_str(&format!("[{}]", counter.leaf));
    }
    for size in &shape.dimensions {
        name.push_str(&format!("[{size}]"));
    }
    name
}

fn of_element(element: Element) -> &'static str {
    match element {
        Element::Bool => "bool",
        Element::Int8 => "std::int8_t",
        Element::UInt8 => "std::uint8_t",
        Element::Int16 => "std::int16_t",
        Element::UInt16 => "std::uint16_t",
        Element::Int32 => "std::int32_t",
        Element::UInt32 => "std::uint32_t",
        Element::Int64 => "std::int64_t",
        Element::UInt64 => "std::uint64_t",
        Element::Float32 => "float",
        Element::Float64 => "double",
        Element::CString => "char*",
    }
}
