//! Fundamental types with their names and columns (specification, "Fundamental Types"). The default columns
//! are those of ROOT.

use crate::rntuple::encoding::ColumnType;

/// A fundamental type. It has one field with one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leaf {
    /// `bool`.
    Bool,
    /// `char`.
    Char,
    /// `std::byte`.
    Byte,
    /// `std::int8_t`.
    Int8,
    /// `std::uint8_t`.
    UInt8,
    /// `std::int16_t`.
    Int16,
    /// `std::uint16_t`.
    UInt16,
    /// `std::int32_t`.
    Int32,
    /// `std::uint32_t`.
    UInt32,
    /// `std::int64_t`.
    Int64,
    /// `std::uint64_t`.
    UInt64,
    /// `float` kept in half precision on storage.
    Half,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// `double` kept in single precision on storage, ROOT's `Double32_t`.
    Double32,
}

impl Leaf {
    /// All fundamental types.
    pub const ALL: [Self; 15] = [
        Self::Bool,
        Self::Char,
        Self::Byte,
        Self::Int8,
        Self::UInt8,
        Self::Int16,
        Self::UInt16,
        Self::Int32,
        Self::UInt32,
        Self::Int64,
        Self::UInt64,
        Self::Half,
        Self::Float,
        Self::Double,
        Self::Double32,
    ];

    /// Finds the type of a normalised name or of `Double32_t`.
    pub fn of_name(name: &str) -> Option<Self> {
        let named = |leaf: &&Self| match leaf.type_alias() {
            // The name `float` means the single precision type.
            "" => leaf.type_name() == name && **leaf != Self::Half,
            alias => alias == name,
        };
        Self::ALL.iter().find(named).copied()
    }

    /// Whether it is an integer. Characters and bytes are integers.
    pub fn is_integer(self) -> bool {
        !matches!(self, Self::Bool | Self::Half | Self::Float | Self::Double | Self::Double32)
    }

    /// The normalised C++ type name.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Char => "char",
            Self::Byte => "std::byte",
            Self::Int8 => "std::int8_t",
            Self::UInt8 => "std::uint8_t",
            Self::Int16 => "std::int16_t",
            Self::UInt16 => "std::uint16_t",
            Self::Int32 => "std::int32_t",
            Self::UInt32 => "std::uint32_t",
            Self::Int64 => "std::int64_t",
            Self::UInt64 => "std::uint64_t",
            Self::Half | Self::Float => "float",
            Self::Double | Self::Double32 => "double",
        }
    }

    /// The name of the typedef where it differs from the normalised name, or else empty.
    pub fn type_alias(self) -> &'static str {
        if self == Self::Double32 { "Double32_t" } else { "" }
    }

    /// Default column of ROOT: the split type when pages are compressed. `Double32_t` is split in both cases,
    /// as in ROOT.
    pub fn column_type(self, compressed: bool) -> ColumnType {
        match (self, compressed) {
            (Self::Bool, _) => ColumnType::Bit,
            (Self::Char, _) => ColumnType::Char,
            (Self::Byte, _) => ColumnType::Byte,
            (Self::Int8, _) => ColumnType::Int8,
            (Self::UInt8, _) => ColumnType::UInt8,
            (Self::Int16, true) => ColumnType::SplitInt16,
            (Self::Int16, false) => ColumnType::Int16,
            (Self::UInt16, true) => ColumnType::SplitUInt16,
            (Self::UInt16, false) => ColumnType::UInt16,
            (Self::Int32, true) => ColumnType::SplitInt32,
            (Self::Int32, false) => ColumnType::Int32,
            (Self::UInt32, true) => ColumnType::SplitUInt32,
            (Self::UInt32, false) => ColumnType::UInt32,
            (Self::Int64, true) => ColumnType::SplitInt64,
            (Self::Int64, false) => ColumnType::Int64,
            (Self::UInt64, true) => ColumnType::SplitUInt64,
            (Self::UInt64, false) => ColumnType::UInt64,
            // ROOT has no split default for half precision, because `Real16` is always set explicitly.
            (Self::Half, _) => ColumnType::Real16,
            (Self::Float, true) | (Self::Double32, _) => ColumnType::SplitReal32,
            (Self::Float, false) => ColumnType::Real32,
            (Self::Double, true) => ColumnType::SplitReal64,
            (Self::Double, false) => ColumnType::Real64,
        }
    }
}

/// Default offset column of ROOT.
pub fn index_column(compressed: bool) -> ColumnType {
    if compressed { ColumnType::SplitIndex64 } else { ColumnType::Index64 }
}
