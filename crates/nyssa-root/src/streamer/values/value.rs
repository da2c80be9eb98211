//! Defines the values that the members of an object have.

use std::sync::Arc;

use crate::arrow::{Native, each_number, numbers_enum};

/// The number of an object in its [`Object`](super::Object).
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
    /// `TString`, `std::string` or `char*`. Bytes that are not UTF-8 are replaced.
    Text(Box<str>),
    /// An array of numbers: a C array, a pointer with a counter, a `TArray`, or a container of numbers.
    Numbers(Numbers),
    /// An embedded object, a base class, or the object that a pointer points to.
    Object(ObjectId),
    /// Several values: items of a collection, an array of objects, or keys and values of a map in turn.
    List(Box<[Value]>),
    /// A value that was skipped, and the reason why it cannot be read.
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
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        each_number!(Self, self, values => values.len(), bits => bits.len())
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns integers as `i64`. Returns `None` for floating-point numbers, and if one integer does not fit.
    pub fn to_i64(&self) -> Option<Vec<i64>> {
        match self {
            // This is so even without elements.
            Self::Float32(_) | Self::Float64(_) => None,
            numbers => each_number!(Self, numbers,
                values => values.iter().map(|value| value.to_i64()).collect(),
                bits => Some(bits.iter().map(|&bit| bit.into()).collect())),
        }
    }
}

impl Value {
    /// Returns the kind of the value for error messages.
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

    /// Returns the integer if the value is an integer and fits.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::Bool(value) => Some(value.into()),
            Self::Int(value) => Some(value),
            Self::UInt(value) => value.try_into().ok(),
            _ => None,
        }
    }
}
