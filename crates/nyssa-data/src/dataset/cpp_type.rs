//! Finds the properties that a C++ type has and its Arrow type lacks: which lists are maps, and which structs are
//! tuples.

use arrow_schema::{DataType, Field};
use nyssa_root::arrow::{Date, STREAMER, is_link};

/// The kind of a C++ type, where several kinds have the same Arrow type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CppKind {
    /// The default kind of the Arrow type: a number, string, collection or class.
    #[default]
    Plain,
    /// A map. Arrow has a list of pairs.
    Map,
    /// A pair or a tuple. Arrow has a struct.
    Tuple,
    /// An optional value or a pointer. Arrow has a list of at most one item.
    Optional,
    /// A bitset. Arrow has a list of booleans.
    Bitset,
    /// Bytes that are not text.
    Bytes,
    /// A date (`TDatime`). Arrow has a number.
    Date,
    /// A pointer to an object of an [`nyssa_root::streamer::ObjectGraph`]. Arrow has its number.
    Link,
}

/// The C++ type of a value and of its parts.
#[derive(Clone, Debug, Default)]
pub struct CppType {
    /// The kind of the value.
    pub kind: CppKind,
    /// The types of list items (a single type), of struct members, or of alternatives, in order. Missing types are
    /// plain.
    pub parts: Vec<CppType>,
    /// The name and the version of a class. `None` if the value is no object, or if its class is not known.
    pub class: Option<(String, u32)>,
}

/// The largest depth. Fields of files that nyssa reads are not nested deeper.
const MAX_DEPTH: usize = 200;
static PLAIN: CppType = CppType { kind: CppKind::Plain, parts: Vec::new(), class: None };

impl CppType {
    /// Returns the type that follows from the Arrow field alone. It recognises objects that are stored as bytes, and
    /// dates.
    pub fn of_arrow(arrow: &Field) -> Self {
        Self::marked(arrow, 0)
    }

    fn marked(arrow: &Field, depth: usize) -> Self {
        if depth > MAX_DEPTH {
            return Self::default();
        }
        let kind = match () {
            () if Date::is_in(arrow) => CppKind::Date,
            () if is_link(arrow) => CppKind::Link,
            () if arrow.metadata().contains_key(STREAMER) => CppKind::Bytes,
            () => CppKind::Plain,
        };
        let parts = parts(arrow.data_type()).into_iter();
        let parts = parts.map(|arrow| Self::marked(arrow, depth + 1)).collect();
        Self { kind, parts, class: None }
    }

    /// Returns the type of the items of a list.
    pub fn item(&self) -> &Self {
        self.member(0)
    }

    /// Returns the type of a member of a struct, or of an alternative.
    pub fn member(&self, index: usize) -> &Self {
        self.parts.get(index).unwrap_or(&PLAIN)
    }
}

/// Returns the Arrow fields of list items, members or alternatives.
pub fn parts(data_type: &DataType) -> Vec<&Field> {
    match data_type {
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => vec![item],
        DataType::Struct(members) => members.iter().map(AsRef::as_ref).collect(),
        DataType::Union(members, _) => members.iter().skip(1).map(|(_, it)| it.as_ref()).collect(),
        _ => Vec::new(),
    }
}
