//! A field of the schema tree (specification, "Field Description").

use super::{ColumnId, FieldId};

/// The structural role of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// A leaf, also arrays and bitsets ("repetitive" when [`Field::array_size`] is set).
    Leaf,
    /// A collection: one index column, one subfield.
    Collection,
    /// A record: subfields only.
    Record,
    /// A variant: a switch column and one subfield per alternative.
    Variant,
    /// Objects serialised with ROOT's streamer.
    Streamer,
    /// A role of a later specification, by its code; that top-level field is refused by name.
    Unknown(u16),
}

impl Structure {
    /// The role of an on-disk code.
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

    /// The on-disk code.
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

/// A field record.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// `None` for top-level fields.
    pub parent: Option<FieldId>,
    /// Field name, without the path.
    pub name: String,
    /// Normalised C++ type name; empty for untyped collections and records.
    pub type_name: String,
    /// Type name as the user wrote it, or empty.
    pub type_alias: String,
    /// Free text.
    pub description: String,
    /// Version of the field for schema evolution.
    pub field_version: u32,
    /// Version of the type for schema evolution.
    pub type_version: u32,
    /// The structural role.
    pub structure: Structure,
    /// Flag 0x01: number of repetitions of fixed-size arrays and bitsets.
    pub array_size: Option<u64>,
    /// Flag 0x02: the source of a projected field.
    pub source: Option<FieldId>,
    /// Flag 0x04: ROOT's class checksum.
    pub type_checksum: Option<u32>,
    /// Subfields in order of their ids. Derived, not stored.
    pub children: Vec<FieldId>,
    /// Physical columns of all representations, in order of their ids; for projected fields the
    /// physical columns that its alias columns point to. Derived, not stored.
    pub columns: Vec<ColumnId>,
}
