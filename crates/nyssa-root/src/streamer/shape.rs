//! Defines the shapes of the values that streamed members are read as.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, UnionFields};

use super::basic::Quantization;
use crate::arrow::{self, NONE, Number};

/// The shape of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// A number.
    Number(Number),
    /// A number that is stored as an integer.
    Quantized(Quantization, Number),
    /// A `TDatime` as a number of 32 bits.
    Date,
    /// The number of an object, counted from 1, or 0 for none.
    Link,
    /// A string.
    Text,
    /// Bytes that are not decoded, or null for a null pointer.
    Raw,
    /// A list of any length.
    List(Box<Shape>),
    /// A list of this length.
    Fixed(usize, Box<Shape>),
    /// A record with named members.
    Record(Vec<(String, Shape)>),
    /// A value or null.
    Optional(Box<Shape>),
    /// A value of one of several shapes, or null. Null comes first and is not in this list.
    Union(Vec<(String, Shape)>),
}

impl Shape {
    /// Returns the Arrow type.
    pub(super) fn data_type(&self) -> DataType {
        match self {
            Self::Number(number) | Self::Quantized(_, number) => number.data_type(),
            Self::Date | Self::Link => DataType::UInt32,
            Self::Text | Self::Raw => DataType::LargeBinary,
            Self::List(item) => DataType::LargeList(item.item()),
            Self::Fixed(size, item) => DataType::FixedSizeList(item.item(), fixed_size(*size)),
            Self::Record(members) => {
                DataType::Struct(members.iter().map(|(name, shape)| shape.field(name)).collect())
            }
            Self::Optional(value) => value.data_type(),
            Self::Union(_) => DataType::Union(self.union_fields(), arrow_schema::UnionMode::Dense),
        }
    }

    /// Returns the shape that holds the values of both shapes, if they differ only in their numbers.
    pub(super) fn common(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (own, other) if own == other => Some(own.clone()),
            (Self::Number(own), Self::Number(other)) => own.common(*other).map(Self::Number),
            (Self::List(own), Self::List(other)) => Some(Self::List(Box::new(own.common(other)?))),
            (Self::Fixed(own, item), Self::Fixed(size, other)) if own == size => {
                Some(Self::Fixed(*own, Box::new(item.common(other)?)))
            }
            _ => None,
        }
    }

    /// Appends how each number is quantized, in the order of the Arrow type. Strings and bytes count as numbers.
    pub(super) fn quantizations(&self, all: &mut Vec<Option<Quantization>>) {
        match self {
            Self::Number(_) | Self::Date | Self::Link | Self::Text | Self::Raw => all.push(None),
            Self::Quantized(quantization, _) => all.push(Some(*quantization)),
            Self::List(item) | Self::Fixed(_, item) | Self::Optional(item) => {
                item.quantizations(all);
            }
            Self::Record(members) | Self::Union(members) => {
                members.iter().for_each(|(_, member)| member.quantizations(all));
            }
        }
    }

    /// Returns the Arrow field with this name.
    pub(super) fn field(&self, name: &str) -> Field {
        match self {
            Self::Text => arrow::field(name, DataType::LargeBinary),
            Self::Date => arrow::Date::field(name),
            Self::Link => arrow::link_field(name),
            Self::Raw => arrow::streamer_field(name, "").with_nullable(true),
            Self::Optional(value) => value.field(name).with_nullable(true),
            _ => Field::new(name, self.data_type(), matches!(self, Self::Union(_))),
        }
    }

    /// Returns the Arrow field of list items.
    pub(super) fn item(&self) -> Arc<Field> {
        Arc::new(self.field("item"))
    }

    /// Returns the fields of a record.
    pub(super) fn record_fields(&self) -> Fields {
        match self {
            Self::Record(members) => {
                members.iter().map(|(name, shape)| shape.field(name)).collect()
            }
            _ => Fields::empty(),
        }
    }

    /// Returns the children of a union with their type ids, which count from 0.
    pub(super) fn union_fields(&self) -> UnionFields {
        let Self::Union(alternatives) = self else { return UnionFields::empty() };
        let none = Field::new(NONE, DataType::Null, true);
        let named = alternatives.iter().map(|(name, shape)| shape.field(name));
        (0_i8..).zip([none].into_iter().chain(named).map(Arc::new)).collect()
    }
}

/// Converts the size of a fixed-size list for Arrow. The compiler of layouts refuses sizes that are too large.
pub(super) fn fixed_size(size: usize) -> i32 {
    i32::try_from(size).unwrap_or(i32::MAX)
}
