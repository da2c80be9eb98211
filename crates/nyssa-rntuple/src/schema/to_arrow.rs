//! Makes the Arrow type of a C++ type, with metadata from which [`FieldType::from_arrow`] restores the C++
//! type.

use std::sync::Arc;

use arrow_schema::{DataType, Field as ArrowField, UnionFields, UnionMode};
use nyssa_root::arrow::{self, NONE, STRING, streamer_field};
use nyssa_root::error::{Error, Result};

use super::{Class, FieldType, Leaf};

/// The metadata key of the version of a class. The key of the checksum follows. The values are decimal numbers.
pub(super) const VERSION: &str = "nyssa:version";
pub(super) const CHECKSUM: &str = "nyssa:checksum";

impl FieldType {
    /// Returns the Arrow field of this type.
    ///
    /// # Errors
    /// `Unsupported` for untyped records where the specification does not allow them, and for sizes that Arrow does
    /// not have; `InvalidArgument` for an array or bitset of size zero and for a variant without alternatives.
    pub fn to_arrow(&self, name: &str) -> Result<ArrowField> {
        let item = |item: &Self| Ok::<_, Error>(Arc::new(item.to_arrow("item")?));
        let members = |members: Vec<(String, Self)>| {
            members.iter().map(|(name, member)| member.to_arrow(name)).collect::<Result<Vec<_>>>()
        };
        let data_type = match self {
            Self::Leaf(leaf) | Self::Enum(_, leaf) => number(*leaf),
            Self::String => return Ok(arrow::field(name, DataType::LargeBinary)),
            Self::Streamed(class) => return Ok(streamer_field(name, class)),
            Self::Cardinality32 => DataType::UInt32,
            Self::Cardinality64 => DataType::UInt64,
            Self::Vector(of) | Self::RVec(of) | Self::Set(_, of) | Self::Collection(_, of) => {
                DataType::LargeList(item(of)?)
            }
            Self::Map(_, pair) => DataType::LargeList(item(&Self::Pair(pair.clone()))?),
            Self::Array(of, size) => DataType::FixedSizeList(item(of)?, fixed_size(*size)?),
            Self::Bitset(size) => {
                let bit = Arc::new(arrow::field("item", DataType::Boolean));
                DataType::FixedSizeList(bit, fixed_size(*size)?)
            }
            Self::Pair(_) | Self::Tuple(_) | Self::Record(_) | Self::Class(_) => {
                DataType::Struct(members(self.subfields())?.into())
            }
            Self::Variant(_) => {
                let none = arrow::field(NONE, DataType::Null).with_nullable(true);
                let all = std::iter::once(none).chain(members(self.subfields())?);
                let children: UnionFields =
                    all.enumerate().map(|(tag, child)| (tag as i8, Arc::new(child))).collect();
                DataType::Union(children, UnionMode::Dense)
            }
            // Arrow cannot distinguish a null inside a null, and unions have no nulls.
            Self::Optional(of) | Self::UniquePtr(of) if self.hides_nulls() => {
                DataType::LargeList(item(of)?)
            }
            Self::Atomic(of) | Self::Optional(of) | Self::UniquePtr(of) => {
                of.to_arrow(name)?.data_type().clone()
            }
        };
        let optional = matches!(self, Self::Optional(_) | Self::UniquePtr(_));
        let nullable = optional && !self.hides_nulls();
        let mut metadata: std::collections::HashMap<String, String> = Default::default();
        if !matches!(self, Self::Record(_) | Self::Cardinality32 | Self::Cardinality64) {
            let alias = self.type_alias()?;
            let full = if alias.is_empty() { self.type_name()? } else { alias };
            if !full.is_empty() {
                metadata.insert(STRING.0.to_owned(), full);
            }
        }
        if let Some(Class { version, checksum, .. }) = self.class() {
            metadata.insert(VERSION.to_owned(), version.to_string());
            if let Some(checksum) = checksum {
                metadata.insert(CHECKSUM.to_owned(), checksum.to_string());
            }
        }
        Ok(ArrowField::new(name, data_type, nullable).with_metadata(metadata))
    }

    /// Returns whether the items of an optional value are nullable themselves, or unions.
    fn hides_nulls(&self) -> bool {
        match self {
            Self::Optional(of) | Self::UniquePtr(of) => {
                matches!(**of, Self::Optional(_) | Self::UniquePtr(_) | Self::Variant(_))
            }
            _ => false,
        }
    }

    /// Returns the class whose members are the members of the struct.
    fn class(&self) -> Option<&Class> {
        match self {
            Self::Class(class) => Some(class),
            Self::Optional(of) | Self::UniquePtr(of) if !self.hides_nulls() => of.class(),
            _ => None,
        }
    }
}

fn fixed_size(size: u64) -> Result<i32> {
    i32::try_from(size).map_err(|_| {
        Error::unsupported(format!("arrays of {size} elements are too large for Arrow"))
    })
}

fn number(leaf: Leaf) -> DataType {
    match leaf {
        Leaf::Half => DataType::Float16,
        leaf => leaf.number().data_type(),
    }
}
