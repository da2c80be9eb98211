//! Numbers of fields and columns.

/// Index of a field in [`super::Schema::fields`]; the on-disk field id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId(pub u32);

/// Index of a column in [`super::Schema::columns`]; the on-disk physical column id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnId(pub u32);
