//! Physical and alias columns (specification, "Column Description", "Alias columns").

use super::column_rules::of_leaf;
use super::{ColumnId, FieldId};
use crate::rntuple::encoding::ColumnType;

/// A physical column record.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The field it belongs to.
    pub field: FieldId,
    /// On-disk type; `None` for codes of a later specification (that field is refused by name).
    pub column_type: Option<ColumnType>,
    /// On-disk type code.
    pub type_code: u16,
    /// Bits per element on storage.
    pub bits: u16,
    /// Which of the field's alternative representations it belongs to.
    pub representation: u16,
    /// Flag 0x01: index of the first stored element of a deferred column; negative when also suppressed.
    pub first_element: Option<i64>,
    /// Flag 0x02: inclusive range of values.
    pub value_range: Option<(f64, f64)>,
}

impl Column {
    /// Whether values of a fundamental type can be read from it.
    pub fn fits(&self, type_name: &str) -> bool {
        let rule = of_leaf(type_name).and_then(|slots| slots.first());
        rule.zip(self.column_type).is_some_and(|(types, own)| types.contains(&own))
    }
}

/// An alias column record: a projected field's view of a physical column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AliasColumn {
    /// The column with the data.
    pub physical: ColumnId,
    /// The projected field.
    pub field: FieldId,
}
