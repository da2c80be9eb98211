//! Lists the column types that each C++ type can have (specification, "Fundamental Types").

use nyssa_root::arrow::Number;

use crate::encoding::ColumnType;

const INTEGERS: &[ColumnType] = &[
    ColumnType::Bit,
    ColumnType::Char,
    ColumnType::Int8,
    ColumnType::UInt8,
    ColumnType::Int16,
    ColumnType::UInt16,
    ColumnType::Int32,
    ColumnType::UInt32,
    ColumnType::Int64,
    ColumnType::UInt64,
    ColumnType::SplitInt16,
    ColumnType::SplitUInt16,
    ColumnType::SplitInt32,
    ColumnType::SplitUInt32,
    ColumnType::SplitInt64,
    ColumnType::SplitUInt64,
];

const REALS: &[ColumnType] = &[
    ColumnType::Real16,
    ColumnType::SplitReal16,
    ColumnType::Real32,
    ColumnType::SplitReal32,
    ColumnType::Real64,
    ColumnType::SplitReal64,
    ColumnType::Real32Trunc,
    ColumnType::Real32Quant,
];

const INDEXES: &[ColumnType] =
    &[ColumnType::Index32, ColumnType::Index64, ColumnType::SplitIndex32, ColumnType::SplitIndex64];

/// The allowed types of each column of one representation, in order.
pub(super) type Rule = &'static [&'static [ColumnType]];

pub(super) const INDEX: Rule = &[INDEXES];
pub(super) const STRING: Rule = &[INDEXES, &[ColumnType::Char]];
pub(super) const STREAMER: Rule = &[INDEXES, &[ColumnType::Byte]];
pub(super) const SWITCH: Rule = &[&[ColumnType::Switch]];
pub(super) const BITS: Rule = &[&[ColumnType::Bit]];
pub(super) const NONE: Rule = &[];

/// Returns the columns that a fundamental type, a string or a cardinality can have. Returns `None` for other
/// types. `Real16` has a split form that the table of the specification does not list.
pub(super) fn of_leaf(type_name: &str) -> Option<Rule> {
    Some(match type_name {
        "std::byte" => &[&[ColumnType::Byte]],
        "std::string" => STRING,
        name if is_cardinality(name) => INDEX,
        name if Number::of_type_name(name)?.is_float() => &[REALS],
        _ => &[INTEGERS],
    })
}

/// Returns whether a type is the type of a field that shows the sizes of a collection.
pub fn is_cardinality(type_name: &str) -> bool {
    matches!(
        type_name,
        "ROOT::RNTupleCardinality<std::uint32_t>" | "ROOT::RNTupleCardinality<std::uint64_t>"
    )
}

/// Returns the range of bits on storage of a column type.
pub(super) fn bits(column_type: ColumnType) -> std::ops::RangeInclusive<u16> {
    match column_type {
        ColumnType::Real32Trunc => 10..=31,
        ColumnType::Real32Quant => 1..=32,
        other => other.bits()..=other.bits(),
    }
}
