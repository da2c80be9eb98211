//! Defines the C++ types of fields that are written, as a tree, with the type names of ROOT (specification,
//! "Mapping of C++ Types to Fields and Columns").

use nyssa_root::error::{Error, Result};

use super::Leaf;

/// A type that [`super::SchemaBuilder`] turns into fields and columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FieldType {
    /// A fundamental type.
    Leaf(Leaf),
    /// `std::string`.
    String,
    /// `std::vector<T>`. It is an untyped collection when its items are untyped.
    Vector(Box<FieldType>),
    /// `ROOT::VecOps::RVec<T>`.
    RVec(Box<FieldType>),
    /// `std::set<T>` and the similar types of [`SetKind`].
    Set(SetKind, Box<FieldType>),
    /// `std::map<K,V>` and the similar types of [`SetKind`], with key and value.
    Map(SetKind, Box<[FieldType; 2]>),
    /// `std::optional<T>`.
    Optional(Box<FieldType>),
    /// `std::unique_ptr<T>`.
    UniquePtr(Box<FieldType>),
    /// `std::array<T,N>`.
    Array(Box<FieldType>, u64),
    /// `std::bitset<N>`.
    Bitset(u64),
    /// `std::pair<A,B>`.
    Pair(Box<[FieldType; 2]>),
    /// `std::tuple<…>`.
    Tuple(Vec<FieldType>),
    /// `std::variant<…>`.
    Variant(Vec<FieldType>),
    /// `std::atomic<T>`.
    Atomic(Box<FieldType>),
    /// An enum, with its name and its underlying integer type.
    Enum(String, Leaf),
    /// An untyped record, with the names and types of its members.
    Record(Vec<(String, FieldType)>),
    /// A class of the user.
    Class(Class),
    /// A class of the user that ROOT treats as a collection, with its name and the type of its items.
    Collection(String, Box<FieldType>),
    /// Objects of a class that are stored by ROOT's streamer.
    Streamed(String),
    /// `ROOT::RNTupleCardinality<std::uint32_t>`. It can only be a projection of a collection.
    Cardinality32,
    /// `ROOT::RNTupleCardinality<std::uint64_t>`. It can only be a projection of a collection.
    Cardinality64,
}

/// The kinds of sets and maps. They differ only in their names, and are stored in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SetKind {
    /// `set` and `map`.
    Ordered,
    /// `unordered_set` and `unordered_map`.
    Unordered,
    /// `multiset` and `multimap`.
    Multi,
    /// `unordered_multiset` and `unordered_multimap`.
    UnorderedMulti,
}

impl SetKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Ordered, Self::Unordered, Self::Multi, Self::UnorderedMulti];

    /// Returns the part of the type name before `set` or `map`.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Ordered => "std::",
            Self::Unordered => "std::unordered_",
            Self::Multi => "std::multi",
            Self::UnorderedMulti => "std::unordered_multi",
        }
    }
}

/// A class. Its bases come before its members, as subfields `:_0`, `:_1`, …
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    /// The C++ name.
    pub name: String,
    /// ROOT's class version. It is [`Class::NO_VERSION`] for classes without `ClassDef`.
    pub version: u32,
    /// ROOT's class checksum, if it is known.
    pub checksum: Option<u32>,
    /// The base classes. Each is a [`FieldType::Class`].
    pub bases: Vec<FieldType>,
    /// The names and types of the members.
    pub members: Vec<(String, FieldType)>,
}

impl Class {
    /// The version that ROOT records for classes without `ClassDef`.
    pub const NO_VERSION: u32 = nyssa_root::definitions::NO_VERSION;

    /// Makes a class that has only members.
    pub fn new(name: &str, members: Vec<(String, FieldType)>) -> Self {
        let name = name.to_owned();
        Self { name, version: Self::NO_VERSION, checksum: None, bases: Vec::new(), members }
    }
}

impl FieldType {
    /// Makes `std::vector<item>`. It is untyped when the item is untyped.
    pub fn vector(item: Self) -> Self {
        Self::Vector(Box::new(item))
    }

    /// Makes `ROOT::VecOps::RVec<item>`.
    pub fn rvec(item: Self) -> Self {
        Self::RVec(Box::new(item))
    }

    /// Makes `std::array<item,size>`.
    pub fn array(item: Self, size: u64) -> Self {
        Self::Array(Box::new(item), size)
    }

    /// Makes `std::optional<item>`.
    pub fn optional(item: Self) -> Self {
        Self::Optional(Box::new(item))
    }

    /// Returns the normalised type name. It is empty for untyped records and collections.
    ///
    /// # Errors
    /// `Unsupported` for untyped records where the specification does not allow them, and for arrays that are too large for
    /// Arrow; `InvalidArgument` for an array or bitset of size zero and for a variant without alternatives.
    pub fn type_name(&self) -> Result<String> {
        self.name(Leaf::type_name)
    }

    /// Returns the type name with the typedefs that ROOT stores (`Double32_t`). It is empty if it equals the type
    /// name.
    ///
    /// # Errors
    /// `Unsupported` for untyped records where the specification does not allow them, and for arrays that are too large for
    /// Arrow; `InvalidArgument` for an array or bitset of size zero and for a variant without alternatives.
    pub fn type_alias(&self) -> Result<String> {
        let alias = self.name(|leaf| match leaf.type_alias() {
            "" => leaf.type_name(),
            alias => alias,
        })?;
        Ok(if alias == self.type_name()? { String::new() } else { alias })
    }

    fn name(&self, leaf: fn(Leaf) -> &'static str) -> Result<String> {
        let typed = |item: &Self, outer: &str| match item.name(leaf)? {
            name if name.is_empty() => Err(Error::unsupported(format!(
                "{outer} of records without a class is not a type that RNTuple knows: name the \
                 records as a class, use a list of variable size, or one field per member"
            ))),
            name => Ok(name),
        };
        let several = |items: &[Self], outer: &str| -> Result<String> {
            Ok(items.iter().map(|item| typed(item, outer)).collect::<Result<Vec<_>>>()?.join(","))
        };
        Ok(match self {
            Self::Leaf(column) => leaf(*column).to_owned(),
            Self::String => "std::string".to_owned(),
            Self::Vector(item) => match item.name(leaf)? {
                name if name.is_empty() => name,
                name => format!("std::vector<{name}>"),
            },
            Self::RVec(item) => format!("ROOT::VecOps::RVec<{}>", typed(item, "an RVec")?),
            Self::Set(kind, item) => format!("{}set<{}>", kind.prefix(), typed(item, "a set")?),
            Self::Map(kind, pair) => {
                format!("{}map<{}>", kind.prefix(), several(&pair[..], "a map")?)
            }
            Self::Optional(item) => {
                format!("std::optional<{}>", typed(item, "an optional value")?)
            }
            Self::UniquePtr(item) => format!("std::unique_ptr<{}>", typed(item, "a unique_ptr")?),
            Self::Array(_, 0) | Self::Bitset(0) => {
                return Err(Error::invalid_argument("an array type needs at least one element"));
            }
            Self::Array(_, size) | Self::Bitset(size) if i32::try_from(*size).is_err() => {
                return Err(Error::unsupported(format!(
                    "arrays of {size} elements are too large for Arrow"
                )));
            }
            Self::Array(item, size) => {
                format!("std::array<{},{size}>", typed(item, "a fixed-size array")?)
            }
            Self::Bitset(size) => format!("std::bitset<{size}>"),
            Self::Pair(items) => format!("std::pair<{}>", several(&items[..], "a pair")?),
            Self::Tuple(items) => format!("std::tuple<{}>", several(items, "a tuple")?),
            Self::Variant(items) if items.is_empty() || items.len() > super::MAX_ALTERNATIVES => {
                return Err(Error::invalid_argument(format!(
                    "a variant needs 1 to {} alternatives",
                    super::MAX_ALTERNATIVES
                )));
            }
            Self::Variant(items) => format!("std::variant<{}>", several(items, "a variant")?),
            Self::Atomic(item) => format!("std::atomic<{}>", typed(item, "an atomic")?),
            Self::Enum(name, _)
            | Self::Collection(name, _)
            | Self::Streamed(name)
            | Self::Class(Class { name, .. }) => name.clone(),
            Self::Record(_) => String::new(),
            Self::Cardinality32 => "ROOT::RNTupleCardinality<std::uint32_t>".to_owned(),
            Self::Cardinality64 => "ROOT::RNTupleCardinality<std::uint64_t>".to_owned(),
        })
    }

    /// Returns the names and types of the subfields.
    pub fn subfields(&self) -> Vec<(String, Self)> {
        let numbered = |items: &[Self], prefix: &str| {
            let name = |index: usize| format!("{prefix}{index}");
            items.iter().enumerate().map(|(at, item)| (name(at), item.clone())).collect()
        };
        match self {
            Self::Vector(item)
            | Self::RVec(item)
            | Self::Set(_, item)
            | Self::Optional(item)
            | Self::UniquePtr(item)
            | Self::Array(item, _)
            | Self::Atomic(item)
            | Self::Collection(_, item) => numbered(std::slice::from_ref(item), "_"),
            Self::Map(_, pair) => numbered(&[Self::Pair(pair.clone())], "_"),
            Self::Pair(items) => numbered(&items[..], "_"),
            Self::Tuple(items) | Self::Variant(items) => numbered(items, "_"),
            Self::Enum(_, underlying) => numbered(&[Self::Leaf(*underlying)], "_"),
            Self::Record(members) => members.clone(),
            Self::Class(class) => {
                let mut subfields: Vec<(String, Self)> = numbered(&class.bases, ":_");
                subfields.extend(class.members.iter().cloned());
                subfields
            }
            Self::Leaf(_)
            | Self::String
            | Self::Bitset(_)
            | Self::Streamed(_)
            | Self::Cardinality32
            | Self::Cardinality64 => Vec::new(),
        }
    }
}
