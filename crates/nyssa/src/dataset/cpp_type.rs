//! Finds what a C++ type tells and its Arrow type does not: which lists are maps, and which structs are tuples.

use arrow_schema::{DataType, Field};

use super::ColumnInfo;
use crate::arrow::{Date, STREAMER, is_link};
use crate::rntuple::schema::{FieldId, Schema, Structure};

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
    /// An optional value or a pointer. Arrow has a list of no item or one item.
    Optional,
    /// A bitset. Arrow has a list of booleans.
    Bitset,
    /// Bytes that are not text.
    Bytes,
    /// A date (`TDatime`). Arrow has a number.
    Date,
    /// A pointer to an object of an [`crate::streamer::ObjectGraph`]. Arrow has its number.
    Link,
}

/// The C++ type of a value and of its parts.
#[derive(Clone, Debug, Default)]
pub struct CppType {
    /// The kind of the value.
    pub kind: CppKind,
    /// The types of list items (one), of struct members, or of alternatives, in order. Missing ones are plain.
    parts: Vec<CppType>,
}

/// The largest depth. Fields of files that nyssa reads are not nested deeper.
const MAX_DEPTH: usize = 200;
/// The start of the names of maps.
const MAPS: [&str; 4] =
    ["std::map<", "std::unordered_map<", "std::multimap<", "std::unordered_multimap<"];
/// The start of the names of pairs and tuples.
const TUPLES: [&str; 2] = ["std::pair<", "std::tuple<"];
/// The start of the names of collections of no item or one item.
const OPTIONALS: [&str; 2] = ["std::optional<", "std::unique_ptr<"];

static PLAIN: CppType = CppType { kind: CppKind::Plain, parts: Vec::new() };

impl CppType {
    /// Returns the type of a column of a dataset. `schema` has a field of this name if the dataset is an
    /// RNTuple.
    pub fn of_column(schema: Option<&Schema>, column: &ColumnInfo) -> Self {
        let Ok(arrow) = &column.field else { return Self::default() };
        let Some(schema) = schema else { return Self::of_arrow(arrow) };
        let field = schema.find(&column.name);
        field.map(|id| Self::of_field(schema, id, arrow, 0)).unwrap_or_default()
    }

    /// Returns the type that the Arrow field alone tells. It can tell objects that are kept as bytes, and
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
        Self { kind, parts: parts.map(|arrow| Self::marked(arrow, depth + 1)).collect() }
    }

    /// Returns the type of a field that reads as `arrow`.
    fn of_field(schema: &Schema, id: FieldId, arrow: &Field, depth: usize) -> Self {
        let field = schema.field(id);
        let is = |names: &[&str]| names.iter().any(|name| field.type_name.starts_with(name));
        if depth > MAX_DEPTH {
            return Self::default();
        }
        if field.structure == Structure::Streamer {
            return Self::of_arrow(arrow);
        }
        let optional = field.structure == Structure::Collection && is(&OPTIONALS);
        let atom = field.structure == Structure::Leaf && field.array_size.is_none();
        if let (&[only], true) =
            (field.children.as_slice(), atom || optional && arrow.is_nullable())
        {
            // Enums, atomics and nullable values read as the type of their only subfield.
            return Self::of_field(schema, only, &arrow.clone().with_nullable(false), depth + 1);
        }
        let kind = match field.structure {
            _ if optional => CppKind::Optional,
            _ if is(&MAPS) => CppKind::Map,
            _ if is(&TUPLES) => CppKind::Tuple,
            Structure::Leaf if is(&["std::bitset<"]) => CppKind::Bitset,
            _ if arrow.metadata().contains_key(STREAMER) => CppKind::Bytes,
            _ => CppKind::Plain,
        };
        let pairs = field.children.iter().zip(parts(arrow.data_type()));
        let parts = pairs.map(|(&child, arrow)| Self::of_field(schema, child, arrow, depth + 1));
        Self { kind, parts: parts.collect() }
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
fn parts(data_type: &DataType) -> Vec<&Field> {
    match data_type {
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => vec![item],
        DataType::Struct(members) => members.iter().map(AsRef::as_ref).collect(),
        DataType::Union(members, _) => members.iter().skip(1).map(|(_, it)| it.as_ref()).collect(),
        _ => Vec::new(),
    }
}
