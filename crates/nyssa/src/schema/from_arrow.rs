//! RNTuple types for Arrow types: what [`crate::write::TableWriter`] writes.
//!
//! | Arrow | C++ |
//! |---|---|
//! | `Boolean` | `bool` |
//! | integers | `std::int32_t`, … of the same width and sign |
//! | `Float16`, `Float32`, `Float64` | `float` (stored as `Real16`), `float`, `double` |
//! | `Utf8`, `LargeUtf8`, binaries marked [`crate::arrow::STRING`] | `std::string` |
//! | other `Binary`, `LargeBinary` | `std::vector<std::byte>` |
//! | `List`, `LargeList` | `std::vector<T>`; an untyped collection of records when `T` is a struct |
//! | `FixedSizeList` | `std::array<T,N>` |
//! | `Struct` | untyped record |

use arrow_schema::{DataType, Field as ArrowField, Schema as ArrowSchema};

use super::{FieldType, Leaf, Schema, SchemaBuilder};
use crate::arrow::STRING;
use crate::compression::Compression;
use crate::error::{Error, Result, ResultExt};

impl FieldType {
    /// The type that an Arrow field is written as. Nullable fields are accepted; nulls themselves are
    /// refused when the data comes.
    ///
    /// # Errors
    /// `Unsupported` for Arrow types that have no C++ counterpart, with what to cast them to.
    pub fn from_arrow(field: &ArrowField) -> Result<Self> {
        let string = field.metadata().get(STRING.0).is_some_and(|value| value == STRING.1);
        let item = |item: &ArrowField| Self::from_arrow(item).in_field(field.name());
        Ok(match field.data_type() {
            DataType::Boolean => Self::Leaf(Leaf::Bool),
            DataType::Int8 => Self::Leaf(Leaf::Int8),
            DataType::UInt8 => Self::Leaf(Leaf::UInt8),
            DataType::Int16 => Self::Leaf(Leaf::Int16),
            DataType::UInt16 => Self::Leaf(Leaf::UInt16),
            DataType::Int32 => Self::Leaf(Leaf::Int32),
            DataType::UInt32 => Self::Leaf(Leaf::UInt32),
            DataType::Int64 => Self::Leaf(Leaf::Int64),
            DataType::UInt64 => Self::Leaf(Leaf::UInt64),
            DataType::Float16 => Self::Leaf(Leaf::Half),
            DataType::Float32 => Self::Leaf(Leaf::Float),
            DataType::Float64 => Self::Leaf(Leaf::Double),
            DataType::Utf8 | DataType::LargeUtf8 => Self::String,
            DataType::Binary | DataType::LargeBinary if string => Self::String,
            DataType::Binary | DataType::LargeBinary => Self::vector(Self::Leaf(Leaf::Byte)),
            DataType::List(inner) | DataType::LargeList(inner) => Self::vector(item(inner)?),
            DataType::FixedSizeList(inner, size) => {
                let size = u64::try_from(*size).map_err(|_| {
                    Error::invalid_argument(format!("a fixed-size list has size {size}"))
                })?;
                Self::array(item(inner)?, size)
            }
            DataType::Struct(members) => Self::Record(
                members
                    .iter()
                    .map(|member| Ok((member.name().clone(), item(member)?)))
                    .collect::<Result<_>>()?,
            ),
            other => {
                return Err(Error::unsupported(format!(
                    "Arrow type {other} cannot be written: {}",
                    advice(other)
                )))
                .in_field(field.name());
            }
        })
    }
}

fn advice(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Utf8View | DataType::BinaryView => "cast it to large_string or large_binary",
        DataType::ListView(_) | DataType::LargeListView(_) => "cast it to large_list",
        DataType::Dictionary(..) | DataType::RunEndEncoded(..) => "decode it to its value type",
        DataType::Null => "a column of nothing but nulls has no C++ type",
        DataType::Map(..) => "cast it to a list of structs",
        DataType::FixedSizeBinary(_) => "cast it to binary or to a fixed-size list of uint8",
        _ => "cast it to an integer, float, string, list or struct",
    }
}

impl Schema {
    /// The RNTuple schema of an Arrow schema, with default columns for `compression`.
    ///
    /// # Errors
    /// As [`FieldType::from_arrow`] and [`SchemaBuilder::field`].
    pub fn from_arrow(arrow: &ArrowSchema, compression: Compression) -> Result<Self> {
        let mut builder = SchemaBuilder::new(compression);
        for field in arrow.fields() {
            builder.field(None, field.name(), &FieldType::from_arrow(field)?)?;
        }
        Ok(builder.finish())
    }
}
