//! Finds the split and unsplit forms of column types for the same values.

use nyssa_root::effort::SplitForm;

use crate::encoding::ColumnType;

/// Returns the form of a column type.
pub(crate) fn form_of(column_type: ColumnType) -> SplitForm {
    let split = column_type.is_split();
    let name = match (counterpart(column_type).is_some(), split) {
        (false, _) => "",
        (_, true) => "split",
        (_, false) => "unsplit",
    };
    SplitForm { name, split }
}

/// Returns whether a sample decides between split and unsplit. Offsets always stay split, since their
/// differences are always smaller.
fn is_chosen(column_type: ColumnType) -> bool {
    use ColumnType as T;
    let numbers = !matches!(column_type.unsplit_form(), T::Index32 | T::Index64 | T::Real16);
    numbers && column_type.split_form() != column_type.unsplit_form()
}

/// Returns the counterpart of a type: the split type of an unsplit type, or the reverse.
pub(crate) fn counterpart(column_type: ColumnType) -> Option<ColumnType> {
    let (split, unsplit) = (column_type.split_form(), column_type.unsplit_form());
    is_chosen(column_type).then_some(if column_type == split { unsplit } else { split })
}

/// Returns the type that ROOT uses for compressed pages with these values.
pub(crate) fn default_type(column_type: ColumnType) -> ColumnType {
    if is_chosen(column_type) { column_type.split_form() } else { column_type }
}

/// Returns the unsplit type for these values. Offsets keep their type.
pub(crate) fn unsplit_type(column_type: ColumnType) -> ColumnType {
    if is_chosen(column_type) { column_type.unsplit_form() } else { column_type }
}
