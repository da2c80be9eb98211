//! Defines physical and alias columns (specification, "Column Description", "Alias columns").

use super::column_rules::of_leaf;
use super::{ColumnId, FieldId};
use crate::encoding::ColumnType;

/// The record of a physical column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The field of the column.
    pub field: FieldId,
    /// The column type. `None` for a code of a later specification; such a field is refused by name.
    pub column_type: Option<ColumnType>,
    /// The code of the column type on disk.
    pub type_code: u16,
    /// The number of bits per element on storage.
    pub bits: u16,
    /// The number of the representation of the field that contains the column.
    pub representation: u16,
    /// The index of the first stored element of a deferred column (flag 0x01). It is negative when the column
    /// is also suppressed.
    pub first_element: Option<i64>,
    /// The inclusive range of values (flag 0x02).
    pub value_range: Option<(f64, f64)>,
}

impl Column {
    /// Returns whether a fundamental type can have this column.
    pub fn fits(&self, type_name: &str) -> bool {
        let rule = of_leaf(type_name).and_then(|slots| slots.first());
        rule.zip(self.column_type).is_some_and(|(types, own)| types.contains(&own))
    }
}

/// The record of an alias column. It gives a projected field the data of a physical column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AliasColumn {
    /// The physical column with the data.
    pub physical: ColumnId,
    /// The projected field.
    pub field: FieldId,
}
