//! Fields and columns for element types, as ROOT's importer makes them.

use crate::encoding::ColumnType;
use crate::schema::{AliasColumn, Column, Field, FieldId, Schema, Structure};
use crate::ttree::Element;

/// The C++ type of an element in RNTuple's spelling.
pub(super) fn element_type(element: Element) -> &'static str {
    match element {
        Element::Bool => "bool",
        Element::Int8 => "char",
        Element::UInt8 => "std::uint8_t",
        Element::Int16 => "std::int16_t",
        Element::UInt16 => "std::uint16_t",
        Element::Int32 => "std::int32_t",
        Element::UInt32 => "std::uint32_t",
        Element::Int64 => "std::int64_t",
        Element::UInt64 => "std::uint64_t",
        Element::Float32 => "float",
        Element::Float64 => "double",
        Element::CString => "std::string",
    }
}

/// The C++ type of fixed arrays of an element, `dimensions` outermost first.
pub(super) fn array_type(element: Element, dimensions: &[u64]) -> String {
    dimensions
        .iter()
        .rev()
        .fold(element_type(element).to_owned(), |inner, size| format!("std::array<{inner},{size}>"))
}

/// The column of an element; ROOT splits bytes when the page is compressed.
fn element_column(element: Element, split: bool) -> ColumnType {
    match (element, split) {
        (Element::Bool, _) => ColumnType::Bit,
        (Element::Int8 | Element::CString, _) => ColumnType::Char,
        (Element::UInt8, _) => ColumnType::UInt8,
        (Element::Int16, true) => ColumnType::SplitInt16,
        (Element::Int16, false) => ColumnType::Int16,
        (Element::UInt16, true) => ColumnType::SplitUInt16,
        (Element::UInt16, false) => ColumnType::UInt16,
        (Element::Int32, true) => ColumnType::SplitInt32,
        (Element::Int32, false) => ColumnType::Int32,
        (Element::UInt32, true) => ColumnType::SplitUInt32,
        (Element::UInt32, false) => ColumnType::UInt32,
        (Element::Int64, true) => ColumnType::SplitInt64,
        (Element::Int64, false) => ColumnType::Int64,
        (Element::UInt64, true) => ColumnType::SplitUInt64,
        (Element::UInt64, false) => ColumnType::UInt64,
        (Element::Float32, true) => ColumnType::SplitReal32,
        (Element::Float32, false) => ColumnType::Real32,
        (Element::Float64, true) => ColumnType::SplitReal64,
        (Element::Float64, false) => ColumnType::Real64,
    }
}

/// Appends fields and columns to a schema, depth first: the order in which ROOT numbers them.
#[derive(Default)]
pub(super) struct Builder {
    pub schema: Schema,
    /// Multi-byte columns store bytes of equal significance together.
    pub split: bool,
}

impl Builder {
    /// A field without columns.
    pub fn field(
        &mut self,
        parent: Option<FieldId>,
        name: &str,
        type_name: String,
        structure: Structure,
        source: Option<FieldId>,
    ) -> FieldId {
        self.schema.add_field(Field {
            parent,
            name: name.to_owned(),
            type_name,
            type_alias: String::new(),
            description: String::new(),
            field_version: 0,
            type_version: 0,
            structure,
            array_size: None,
            source,
            type_checksum: None,
            children: Vec::new(),
            columns: Vec::new(),
        })
    }

    fn column(&mut self, field: FieldId, column_type: ColumnType) {
        self.schema.add_column(Column {
            field,
            column_type: Some(column_type),
            type_code: column_type.code(),
            bits: column_type.bits(),
            representation: 0,
            first_element: None,
            value_range: None,
        });
    }

    /// The index column of a collection or string.
    pub fn index(&mut self, field: FieldId) {
        let index = if self.split { ColumnType::SplitIndex64 } else { ColumnType::Index64 };
        self.column(field, index);
    }

    /// Fixed arrays of an element, with columns.
    pub fn value(
        &mut self,
        parent: Option<FieldId>,
        name: &str,
        element: Element,
        dimensions: &[u64],
    ) -> FieldId {
        let type_name = array_type(element, dimensions);
        let field = self.field(parent, name, type_name, Structure::Leaf, None);
        if let Some((&size, inner)) = dimensions.split_first() {
            self.schema.fields[field.0 as usize].array_size = Some(size);
            self.value(Some(field), "_0", element, inner);
            return field;
        }
        if element == Element::CString {
            self.index(field);
        }
        let column = element_column(element, self.split);
        self.column(field, column);
        field
    }

    /// A projected view of `source` and its subfields. Only the first column of collections, which
    /// is their index, and all columns of leaves are aliased.
    pub fn project(
        &mut self,
        parent: Option<FieldId>,
        name: &str,
        type_name: String,
        structure: Structure,
        source: FieldId,
    ) -> FieldId {
        let field = self.field(parent, name, type_name, structure, Some(source));
        let original = self.schema.field(source);
        let columns = original.columns.clone();
        self.schema.fields[field.0 as usize].array_size =
            if structure == Structure::Leaf { original.array_size } else { None };
        for physical in columns {
            self.schema.add_alias(AliasColumn { physical, field });
        }
        field
    }

    /// A projected view of `source` and everything below it, with the same types.
    pub fn project_tree(&mut self, parent: FieldId, name: &str, source: FieldId) {
        let original = self.schema.field(source);
        let (type_name, structure) = (original.type_name.clone(), original.structure);
        let children = original.children.clone();
        let field = self.project(Some(parent), name, type_name, structure, source);
        for child in children {
            let name = self.schema.field(child).name.clone();
            self.project_tree(field, &name, child);
        }
    }
}
