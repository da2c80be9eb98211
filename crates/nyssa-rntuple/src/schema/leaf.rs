//! Lists fundamental types with their names and columns (specification, "Fundamental Types"). The default columns are
//! ROOT's.

use nyssa_root::arrow::Number;

use crate::encoding::ColumnType;

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
    /// A `float` that has half precision on storage.
    Half,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// `double` with single precision on storage, which is ROOT's `Double32_t`.
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

    /// Returns the type with a normalised name, or for `Double32_t`.
    pub fn of_name(name: &str) -> Option<Self> {
        let named = |leaf: &&Self| match leaf.type_alias() {
            // The name `float` means the single precision type.
            "" => leaf.type_name() == name && **leaf != Self::Half,
            alias => alias == name,
        };
        Self::ALL.iter().find(named).copied()
    }

    /// Returns whether the type is an integer. Characters and bytes are integers.
    pub fn is_integer(self) -> bool {
        !matches!(self, Self::Bool | Self::Half | Self::Float | Self::Double | Self::Double32)
    }

    /// Returns the normalised C++ type name.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Char => "char",
            Self::Byte => "std::byte",
            other => other.number().type_name(),
        }
    }

    /// Returns the type in memory.
    pub fn number(self) -> Number {
        match self {
            Self::Bool => Number::Bool,
            Self::Char | Self::Int8 => Number::Int8,
            Self::Byte | Self::UInt8 => Number::UInt8,
            Self::Int16 => Number::Int16,
            Self::UInt16 => Number::UInt16,
            Self::Int32 => Number::Int32,
            Self::UInt32 => Number::UInt32,
            Self::Int64 => Number::Int64,
            Self::UInt64 => Number::UInt64,
            Self::Half | Self::Float => Number::Float32,
            Self::Double | Self::Double32 => Number::Float64,
        }
    }

    /// Returns the name of the typedef if it differs from the normalised name, or else an empty text.
    pub fn type_alias(self) -> &'static str {
        if self == Self::Double32 { "Double32_t" } else { "" }
    }

    /// Returns the default column of ROOT: the split type when pages are compressed. `Double32_t` is split in
    /// both cases, as in ROOT.
    pub fn column_type(self, compressed: bool) -> ColumnType {
        let plain = match self {
            Self::Bool => ColumnType::Bit,
            Self::Char => ColumnType::Char,
            Self::Byte => ColumnType::Byte,
            Self::Int8 => ColumnType::Int8,
            Self::UInt8 => ColumnType::UInt8,
            Self::Int16 => ColumnType::Int16,
            Self::UInt16 => ColumnType::UInt16,
            Self::Int32 => ColumnType::Int32,
            Self::UInt32 => ColumnType::UInt32,
            Self::Int64 => ColumnType::Int64,
            Self::UInt64 => ColumnType::UInt64,
            // ROOT has no split default for half precision, because `Real16` is always set explicitly.
            Self::Half => return ColumnType::Real16,
            Self::Double32 => return ColumnType::SplitReal32,
            Self::Float => ColumnType::Real32,
            Self::Double => ColumnType::Real64,
        };
        if compressed { plain.split_form() } else { plain }
    }
}

/// Makes the fundamental type with the C++ name of a number.
impl From<Number> for Leaf {
    fn from(number: Number) -> Self {
        match number {
            Number::Bool => Self::Bool,
            Number::Int8 => Self::Int8,
            Number::UInt8 => Self::UInt8,
            Number::Int16 => Self::Int16,
            Number::UInt16 => Self::UInt16,
            Number::Int32 => Self::Int32,
            Number::UInt32 => Self::UInt32,
            Number::Int64 => Self::Int64,
            Number::UInt64 => Self::UInt64,
            Number::Float32 => Self::Float,
            Number::Float64 => Self::Double,
        }
    }
}

/// Returns the default offset column of ROOT.
pub fn index_column(compressed: bool) -> ColumnType {
    if compressed { ColumnType::SplitIndex64 } else { ColumnType::Index64 }
}
