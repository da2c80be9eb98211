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

/// The type with the same values, split if this one is not and the other way round (specification,
/// "Fundamental Types"). Offsets stay split: their differences are always smaller.
pub(crate) fn counterpart(column_type: ColumnType) -> Option<ColumnType> {
    PAIRS.iter().find_map(|&(split, unsplit)| match column_type {
        known if known == split => Some(unsplit),
        known if known == unsplit => Some(split),
        _ => None,
    })
}

/// ROOT's type where pages are compressed, of those with the same values.
pub(crate) fn default_type(column_type: ColumnType) -> ColumnType {
    let pair = PAIRS.iter().find(|(_, unsplit)| *unsplit == column_type);
    pair.map_or(column_type, |(split, _)| *split)
}

/// The unsplit type with the same values; offsets keep theirs.
pub(crate) fn unsplit_type(column_type: ColumnType) -> ColumnType {
    let pair = PAIRS.iter().find(|(split, _)| *split == column_type);
    pair.map_or(column_type, |(_, unsplit)| *unsplit)
}

/// Split types, and the unsplit ones with the same values.
const PAIRS: [(ColumnType, ColumnType); 8] = {
    use ColumnType as T;
    [
        (T::SplitInt16, T::Int16),
        (T::SplitUInt16, T::UInt16),
        (T::SplitInt32, T::Int32),
        (T::SplitUInt32, T::UInt32),
        (T::SplitInt64, T::Int64),
        (T::SplitUInt64, T::UInt64),
        (T::SplitReal32, T::Real32),
        (T::SplitReal64, T::Real64),
    ]
};
