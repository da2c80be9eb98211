//! Contains the table of column types (specification, "Column Description").

use nyssa_root::arrow::Number;

/// The form of elements in memory after decoding, for little-endian machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// Bits, least significant first, like Arrow's booleans.
    Bit,
    /// Integers and floats of this many bytes.
    Bytes(usize),
    /// 64-bit offsets relative to the cluster. Both index widths are widened to them.
    Index,
    /// The switch of a variant: index and tag, 96 bits.
    Switch,
}

macro_rules! column_types {
    ($($(#[$meta:meta])* $name:ident = $code:literal, $bits:literal, $native:expr, $number:expr;)*) => {
        /// A column type on disk.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum ColumnType { $($(#[$meta])* $name,)* }

        impl ColumnType {
            /// Every column type of the specification.
            pub const ALL: &[ColumnType] = &[$(ColumnType::$name,)*];

            /// Returns the code on disk.
            pub fn code(self) -> u16 {
                match self { $(Self::$name => $code,)* }
            }

            /// Finds the column type of a code on disk. Returns `None` for codes of later specifications.
            pub fn from_code(code: u16) -> Option<Self> {
                match code { $($code => Some(Self::$name),)* _ => None }
            }

            /// Returns the name in the specification.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }

            /// Returns the default bits on storage. Types of variable size can have others.
            pub fn bits(self) -> u16 {
                match self { $(Self::$name => $bits,)* }
            }

            /// Returns the form in memory.
            pub fn native(self) -> Native {
                match self { $(Self::$name => $native,)* }
            }

            /// Returns the type of the numbers in a column. Half precision has no type in C++, and indexes and
            /// switches are not numbers.
            pub fn number(self) -> Option<Number> {
                match self { $(Self::$name => $number,)* }
            }
        }
    };
}

/// Pairs of a plain type and its split type. A page of the split type stores the values as byte planes: all first
/// bytes, then all second bytes, and so on (specification, "Column Description").
const SPLIT: [(ColumnType, ColumnType); 11] = {
    use ColumnType as T;
    [
        (T::Int16, T::SplitInt16),
        (T::UInt16, T::SplitUInt16),
        (T::Int32, T::SplitInt32),
        (T::UInt32, T::SplitUInt32),
        (T::Int64, T::SplitInt64),
        (T::UInt64, T::SplitUInt64),
        (T::Real16, T::SplitReal16),
        (T::Real32, T::SplitReal32),
        (T::Real64, T::SplitReal64),
        (T::Index32, T::SplitIndex32),
        (T::Index64, T::SplitIndex64),
    ]
};

impl ColumnType {
    /// Returns whether pages of this type hold byte planes.
    pub fn is_split(self) -> bool {
        SPLIT.iter().any(|(_, split)| *split == self)
    }

    /// Returns whether nyssa writes this type. ROOT does not know `SplitReal16`, and does not open an RNTuple with
    /// it.
    pub fn is_written(self) -> bool {
        self != Self::SplitReal16
    }

    /// Returns the split type for these values, or the type itself if nyssa writes no split type.
    pub fn split_form(self) -> Self {
        SPLIT
            .iter()
            .find(|(unsplit, split)| *unsplit == self && split.is_written())
            .map_or(self, |(_, split)| *split)
    }

    /// Returns the plain type for these values, or the type itself if there is no other.
    pub fn unsplit_form(self) -> Self {
        SPLIT.iter().find(|(_, split)| *split == self).map_or(self, |(unsplit, _)| *unsplit)
    }
}

column_types! {
    Bit = 0x00, 1, Native::Bit, Some(Number::Bool);
    Byte = 0x01, 8, Native::Bytes(1), Some(Number::UInt8);
    Char = 0x02, 8, Native::Bytes(1), Some(Number::Int8);
    Int8 = 0x03, 8, Native::Bytes(1), Some(Number::Int8);
    UInt8 = 0x04, 8, Native::Bytes(1), Some(Number::UInt8);
    Int16 = 0x05, 16, Native::Bytes(2), Some(Number::Int16);
    UInt16 = 0x06, 16, Native::Bytes(2), Some(Number::UInt16);
    Int32 = 0x07, 32, Native::Bytes(4), Some(Number::Int32);
    UInt32 = 0x08, 32, Native::Bytes(4), Some(Number::UInt32);
    Int64 = 0x09, 64, Native::Bytes(8), Some(Number::Int64);
    UInt64 = 0x0A, 64, Native::Bytes(8), Some(Number::UInt64);
    Real16 = 0x0B, 16, Native::Bytes(2), None;
    Real32 = 0x0C, 32, Native::Bytes(4), Some(Number::Float32);
    Real64 = 0x0D, 64, Native::Bytes(8), Some(Number::Float64);
    Index32 = 0x0E, 32, Native::Index, None;
    Index64 = 0x0F, 64, Native::Index, None;
    Switch = 0x10, 96, Native::Switch, None;
    SplitInt16 = 0x11, 16, Native::Bytes(2), Some(Number::Int16);
    SplitUInt16 = 0x12, 16, Native::Bytes(2), Some(Number::UInt16);
    SplitInt32 = 0x13, 32, Native::Bytes(4), Some(Number::Int32);
    SplitUInt32 = 0x14, 32, Native::Bytes(4), Some(Number::UInt32);
    SplitInt64 = 0x15, 64, Native::Bytes(8), Some(Number::Int64);
    SplitUInt64 = 0x16, 64, Native::Bytes(8), Some(Number::UInt64);
    SplitReal16 = 0x17, 16, Native::Bytes(2), None;
    SplitReal32 = 0x18, 32, Native::Bytes(4), Some(Number::Float32);
    SplitReal64 = 0x19, 64, Native::Bytes(8), Some(Number::Float64);
    SplitIndex32 = 0x1A, 32, Native::Index, None;
    SplitIndex64 = 0x1B, 64, Native::Index, None;
    Real32Trunc = 0x1C, 31, Native::Bytes(4), Some(Number::Float32);
    Real32Quant = 0x1D, 32, Native::Bytes(4), Some(Number::Float32);
}
