//! What an object is made of once it is read: values in members, objects in a pool.

use std::sync::Arc;

use crate::arrow::{Native, each_number, numbers_enum};

/// Number of an object in its [`Object`](super::Object)'s pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectId(pub(super) u32);

/// The value of one member.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A null pointer.
    Null,
    /// `bool`.
    Bool(bool),
    /// A signed integer of any width.
    Int(i64),
    /// An unsigned integer of any width.
    UInt(u64),
    /// A floating-point number of any width.
    Float(f64),
    /// `TString`, `std::string`, `char*`; bytes that are not UTF-8 are replaced.
    Text(Box<str>),
    /// An array of numbers: C array, counted pointer, `TArray`, or container of numbers.
    Numbers(Numbers),
    /// An embedded object, a base class, or what a pointer points to.
    Object(ObjectId),
    /// Several values: items of a collection, an array of objects, keys and values of a map in turn.
    List(Box<[Value]>),
    /// Something that could be skipped but not read, and why.
    Unknown(Arc<str>),
}

/// The numbers of an array.
type Boxed<T> = Box<[T]>;

numbers_enum! {
    /// An array of numbers in host byte order.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Numbers { Bool(Box<[bool]>), Boxed }
}

impl Numbers {
    /// Number of elements.
    pub fn len(&self) -> usize {
        each_number!(Self, self, values => values.len(), bits => bits.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Integers as `i64`; `None` when these are floating-point numbers or one does not fit.
    pub fn to_i64(&self) -> Option<Vec<i64>> {
        match self {
            // Also where there are none.
            Self::Float32(_) | Self::Float64(_) => None,
            numbers => each_number!(Self, numbers,
                values => values.iter().map(|value| value.to_i64()).collect(),
                bits => Some(bits.iter().map(|&bit| bit.into()).collect())),
        }
    }
}

impl Value {
    /// What kind of value this is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "a null pointer",
            Self::Bool(_) => "a bool",
            Self::Int(_) | Self::UInt(_) => "an integer",
            Self::Float(_) => "a floating-point number",
            Self::Text(_) => "a string",
            Self::Numbers(_) => "an array of numbers",
            Self::Object(_) => "an object",
            Self::List(_) => "a list",
            Self::Unknown(_) => "not readable",
        }
    }

    /// The integer, if it is one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::Bool(value) => Some(value.into()),
            Self::Int(value) => Some(value),
            Self::UInt(value) => value.try_into().ok(),
            _ => None,
        }
    }
}
