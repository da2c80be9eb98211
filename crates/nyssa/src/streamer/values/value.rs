//! What an object is made of once it is read: values in members, objects in a pool.

use std::sync::Arc;

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

/// An array of numbers in host byte order.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Numbers {
    Bool(Box<[bool]>),
    I8(Box<[i8]>),
    U8(Box<[u8]>),
    I16(Box<[i16]>),
    U16(Box<[u16]>),
    I32(Box<[i32]>),
    U32(Box<[u32]>),
    I64(Box<[i64]>),
    U64(Box<[u64]>),
    F32(Box<[f32]>),
    F64(Box<[f64]>),
}

impl Numbers {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Bool(values) => values.len(),
            Self::I8(values) => values.len(),
            Self::U8(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::U16(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Integers as `i64`; `None` when these are floating-point numbers or one does not fit.
    pub fn to_i64(&self) -> Option<Vec<i64>> {
        match self {
            Self::Bool(values) => Some(values.iter().map(|&value| value.into()).collect()),
            Self::I8(values) => Some(values.iter().map(|&value| value.into()).collect()),
            Self::U8(values) => Some(values.iter().map(|&value| value.into()).collect()),
            Self::I16(values) => Some(values.iter().map(|&value| value.into()).collect()),
            Self::U16(values) => Some(values.iter().map(|&value| value.into()).collect()),
            Self::I32(values) => Some(values.iter().map(|&value| value.into()).collect()),
            Self::U32(values) => Some(values.iter().map(|&value| value.into()).collect()),
            Self::I64(values) => Some(values.to_vec()),
            Self::U64(values) => values.iter().map(|&value| value.try_into().ok()).collect(),
            Self::F32(_) | Self::F64(_) => None,
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
