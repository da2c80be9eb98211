//! What Arrow does not tell of a C++ type: which lists are maps, which structs are tuples.

use arrow_schema::{DataType, Field};
use nyssa::arrow::{Date, STREAMER};
use nyssa::dataset::ColumnInfo;
use nyssa::rntuple::schema::{FieldId, Schema, Structure};

/// How a list or struct is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Lists as arrays, structs as objects.
    #[default]
    Plain,
    /// A list of pairs as an object.
    Map,
    /// A struct as an array.
    Tuple,
    /// A list of no or one item as `null` or the item.
    Optional,
    /// A list of booleans as a string of digits.
    Bitset,
    /// Bytes that are no text.
    Bytes,
    /// A number as a date.
    Date,
}

/// The notation of a value and of what it holds.
#[derive(Clone, Debug, Default)]
pub struct Notation {
    /// Its own.
    pub kind: Kind,
    /// Of list items (one), or of struct members or alternatives in order; missing ones are plain.
    parts: Vec<Notation>,
}

/// Fields are not nested deeper in any file that can be read.
const MAX_DEPTH: usize = 200;
const MAPS: [&str; 4] =
    ["std::map<", "std::unordered_map<", "std::multimap<", "std::unordered_multimap<"];
const TUPLES: [&str; 2] = ["std::pair<", "std::tuple<"];
/// Collections of no or one item.
const OPTIONALS: [&str; 2] = ["std::optional<", "std::unique_ptr<"];

static PLAIN: Notation = Notation { kind: Kind::Plain, parts: Vec::new() };

impl Notation {
    /// Returns the notation of a column of a dataset, which is a field of `schema` if this has its name.
    pub fn of_column(schema: Option<&Schema>, column: &ColumnInfo) -> Self {
        let Ok(arrow) = &column.field else { return Self::default() };
        let Some(schema) = schema else { return Self::of_arrow(arrow) };
        let field = schema.find(&column.name);
        field.map(|id| Self::of_field(schema, id, arrow)).unwrap_or_default()
    }

    /// The notation of a field that reads as `arrow`, from its C++ types.
    fn of_field(schema: &Schema, id: FieldId, arrow: &Field) -> Self {
        Self::build(schema, id, arrow, 0)
    }

    /// The notation of what Arrow alone tells: objects that are not taken apart, and dates.
    pub fn of_arrow(arrow: &Field) -> Self {
        Self::plain(arrow, 0)
    }

    fn plain(arrow: &Field, depth: usize) -> Self {
        if depth > MAX_DEPTH {
            return Self::default();
        }
        let kind = match () {
            () if Date::is_in(arrow) => Kind::Date,
            () if arrow.metadata().contains_key(STREAMER) => Kind::Bytes,
            () => Kind::Plain,
        };
        let parts = parts(arrow.data_type()).into_iter();
        Self { kind, parts: parts.map(|arrow| Self::plain(arrow, depth + 1)).collect() }
    }

    fn build(schema: &Schema, id: FieldId, arrow: &Field, depth: usize) -> Self {
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
            return Self::build(schema, only, &arrow.clone().with_nullable(false), depth + 1);
        }
        let kind = match field.structure {
            _ if optional => Kind::Optional,
            _ if is(&MAPS) => Kind::Map,
            _ if is(&TUPLES) => Kind::Tuple,
            Structure::Leaf if is(&["std::bitset<"]) => Kind::Bitset,
            _ if arrow.metadata().contains_key(STREAMER) => Kind::Bytes,
            _ => Kind::Plain,
        };
        let pairs = field.children.iter().zip(parts(arrow.data_type()));
        let parts = pairs.map(|(&child, arrow)| Self::build(schema, child, arrow, depth + 1));
        Self { kind, parts: parts.collect() }
    }

    /// Of the items of a list.
    pub fn item(&self) -> &Self {
        self.member(0)
    }

    /// Of a member of a struct.
    pub fn member(&self, index: usize) -> &Self {
        self.parts.get(index).unwrap_or(&PLAIN)
    }
}

/// The Arrow fields of list items, members or alternatives.
fn parts(data_type: &DataType) -> Vec<&Field> {
    match data_type {
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => vec![item],
        DataType::Struct(members) => members.iter().map(AsRef::as_ref).collect(),
        DataType::Union(members, _) => members.iter().skip(1).map(|(_, it)| it.as_ref()).collect(),
        _ => Vec::new(),
    }
}
