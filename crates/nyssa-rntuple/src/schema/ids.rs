//! Defines the ids of fields and columns.

/// The id of a field on disk, and its index in [`super::Schema::fields`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId(pub u32);

/// The id of a physical column on disk, and its index in [`super::Schema::columns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnId(pub u32);
