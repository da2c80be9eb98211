//! Defines a field of the schema tree (specification, "Field Description").

use super::{ColumnId, FieldId};

/// The structural role of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// A leaf. Arrays and bitsets are leaves, too ("repetitive" when [`Field::array_size`] is set).
    Leaf,
    /// A collection. It has an index column and one subfield.
    Collection,
    /// A record. It has only subfields.
    Record,
    /// A variant. It has a switch column and one subfield for each alternative.
    Variant,
    /// Objects serialised with ROOT's streamer.
    Streamer,
    /// A role of a later specification, with its code. Such a top-level field is refused by name.
    Unknown(u16),
}

impl Structure {
    /// Finds the role of a code on disk.
    pub fn from_code(code: u16) -> Self {
        match code {
            0 => Self::Leaf,
            1 => Self::Collection,
            2 => Self::Record,
            3 => Self::Variant,
            4 => Self::Streamer,
            code => Self::Unknown(code),
        }
    }

    /// Returns the code on disk.
    pub fn code(self) -> u16 {
        match self {
            Self::Leaf => 0,
            Self::Collection => 1,
            Self::Record => 2,
            Self::Variant => 3,
            Self::Streamer => 4,
            Self::Unknown(code) => code,
        }
    }
}

/// The record of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The parent field. `None` for top-level fields.
    pub parent: Option<FieldId>,
    /// The name of the field, without the path.
    pub name: String,
    /// The normalised C++ type name. It is empty for untyped collections and records.
    pub type_name: String,
    /// The type name as the user wrote it. It is empty if it equals the type name.
    pub type_alias: String,
    /// The description of the field in free text.
    pub description: String,
    /// The version of the field for schema evolution.
    pub field_version: u32,
    /// The version of the type for schema evolution.
    pub type_version: u32,
    /// The structural role.
    pub structure: Structure,
    /// The number of items of a fixed-size array or bitset (flag 0x01).
    pub array_size: Option<u64>,
    /// The source of a projected field (flag 0x02).
    pub source: Option<FieldId>,
    /// ROOT's class checksum (flag 0x04).
    pub type_checksum: Option<u32>,
    /// The flags that add nothing to the record, such as the flag for structures of arrays (0x08), and flags of a
    /// later specification.
    pub other_flags: u16,
    /// The subfields in order of their ids. The list is computed, not stored.
    pub children: Vec<FieldId>,
    /// The physical columns of all representations, in order of their ids. For a projected field, they are the
    /// physical columns of its alias columns. The list is computed, not stored.
    pub columns: Vec<ColumnId>,
}

impl Field {
    /// Returns whether the subfields are the members of a class, which is no `std::pair` or `std::tuple`.
    pub fn is_class(&self) -> bool {
        let is_named = !self.type_name.is_empty() && !self.type_name.starts_with("std::");
        self.structure == Structure::Record && is_named
    }

    /// Makes a field without subfields and columns, whose versions are 0.
    pub fn new(parent: Option<FieldId>, name: &str, type_name: &str, structure: Structure) -> Self {
        Self {
            parent,
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            type_alias: String::new(),
            description: String::new(),
            field_version: 0,
            type_version: 0,
            structure,
            array_size: None,
            source: None,
            type_checksum: None,
            other_flags: 0,
            children: Vec::new(),
            columns: Vec::new(),
        }
    }
}
