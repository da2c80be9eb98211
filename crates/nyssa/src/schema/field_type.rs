//! C++ types as nyssa writes them: names, structure, columns (specification, "Mapping of C++ Types
//! to Fields and Columns"). The names and default columns are those of ROOT.

use crate::encoding::ColumnType;
use crate::error::{Error, Result};

/// A fundamental type: one field, one column.
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

    /// The name the user wrote where it differs from the normalised one, or empty.
    pub fn type_alias(self) -> &'static str {
        if self == Self::Double32 { "Double32_t" } else { "" }
    }

    /// ROOT's default column: the split form when pages are compressed. `Double32_t` is split
    /// either way, as ROOT does it.
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
            // ROOT has no split default for half precision: `Real16` is always asked for by name.
            (Self::Half, _) => ColumnType::Real16,
            (Self::Float, true) | (Self::Double32, _) => ColumnType::SplitReal32,
            (Self::Float, false) => ColumnType::Real32,
            (Self::Double, true) => ColumnType::SplitReal64,
            (Self::Double, false) => ColumnType::Real64,
        }
    }
}

/// ROOT's default column for offsets.
pub fn index_column(compressed: bool) -> ColumnType {
    if compressed { ColumnType::SplitIndex64 } else { ColumnType::Index64 }
}

/// A type that [`super::SchemaBuilder`] turns into fields and columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FieldType {
    /// A fundamental type.
    Leaf(Leaf),
    /// `std::string`.
    String,
    /// `std::vector<T>`; an untyped collection when its items are untyped.
    Vector(Box<FieldType>),
    /// `ROOT::VecOps::RVec<T>`.
    RVec(Box<FieldType>),
    /// `std::array<T,N>`.
    Array(Box<FieldType>, u64),
    /// An untyped record: names and types of its members.
    Record(Vec<(String, FieldType)>),
    /// `ROOT::RNTupleCardinality<std::uint32_t>`; only as a projection of a collection.
    Cardinality32,
    /// `ROOT::RNTupleCardinality<std::uint64_t>`; only as a projection of a collection.
    Cardinality64,
}

impl FieldType {
    /// `std::vector<item>`, untyped when the item is.
    pub fn vector(item: Self) -> Self {
        Self::Vector(Box::new(item))
    }

    /// `ROOT::VecOps::RVec<item>`.
    pub fn rvec(item: Self) -> Self {
        Self::RVec(Box::new(item))
    }

    /// `std::array<item,size>`.
    pub fn array(item: Self, size: u64) -> Self {
        Self::Array(Box::new(item), size)
    }

    /// The normalised type name; empty for untyped records and collections.
    ///
    /// # Errors
    /// `Unsupported` for an array or `RVec` of untyped items, which the specification does not have,
    /// `InvalidArgument` for an array of size zero.
    pub fn type_name(&self) -> Result<String> {
        let typed = |item: &Self, outer: &str| {
            let name = item.type_name()?;
            if name.is_empty() {
                return Err(Error::unsupported(format!(
                    "{outer} of records is not a type that RNTuple knows: use lists of variable \
                     size, or one field per member"
                )));
            }
            Ok(name)
        };
        Ok(match self {
            Self::Leaf(leaf) => leaf.type_name().to_owned(),
            Self::String => "std::string".to_owned(),
            Self::Vector(item) => match item.type_name()? {
                name if name.is_empty() => name,
                name => format!("std::vector<{name}>"),
            },
            Self::RVec(item) => format!("ROOT::VecOps::RVec<{}>", typed(item, "an RVec")?),
            Self::Array(_, 0) => {
                return Err(Error::invalid_argument("an array type needs at least one element"));
            }
            Self::Array(item, size) => {
                format!("std::array<{},{size}>", typed(item, "a fixed-size array")?)
            }
            Self::Record(_) => String::new(),
            Self::Cardinality32 => "ROOT::RNTupleCardinality<std::uint32_t>".to_owned(),
            Self::Cardinality64 => "ROOT::RNTupleCardinality<std::uint64_t>".to_owned(),
        })
    }
}
