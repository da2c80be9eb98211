//! Split and unsplit forms of column types that hold the same values.

use crate::rntuple::encoding::ColumnType;

/// A form in which the elements of a sample can be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// `split` or `unsplit`; empty for types that have no such forms.
    pub(crate) name: &'static str,
    /// The elements are byte planes, which compressors are faster with.
    pub(crate) split: bool,
}

impl Form {
    /// The form of a column type.
    pub(crate) fn of(column_type: ColumnType) -> Self {
        let split = column_type.is_split();
        let name = match (counterpart(column_type).is_some(), split) {
            (false, _) => "",
            (_, true) => "split",
            (_, false) => "unsplit",
        };
        Self { name, split }
    }
}

/// Whether split or unsplit is chosen by looking. Offsets stay split: their differences are always smaller.
fn is_chosen(column_type: ColumnType) -> bool {
    use ColumnType as T;
    let numbers = !matches!(column_type.unsplit_form(), T::Index32 | T::Index64 | T::Real16);
    numbers && column_type.split_form() != column_type.unsplit_form()
}

/// The type with the same values, split if this one is not and the other way round.
pub(crate) fn counterpart(column_type: ColumnType) -> Option<ColumnType> {
    let (split, unsplit) = (column_type.split_form(), column_type.unsplit_form());
    is_chosen(column_type).then_some(if column_type == split { unsplit } else { split })
}

/// ROOT's type where pages are compressed, of those with the same values.
pub(crate) fn default_type(column_type: ColumnType) -> ColumnType {
    if is_chosen(column_type) { column_type.split_form() } else { column_type }
}

/// The unsplit type with the same values; offsets keep theirs.
pub(crate) fn unsplit_type(column_type: ColumnType) -> ColumnType {
    if is_chosen(column_type) { column_type.unsplit_form() } else { column_type }
}
