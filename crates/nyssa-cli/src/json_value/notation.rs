//! What Arrow does not tell of a C++ type: which lists are maps and which structs are tuples.

use nyssa::schema::{FieldId, Schema};

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
}

/// The notation of a value and of what it holds.
#[derive(Clone, Debug, Default)]
pub struct Notation {
    /// Its own.
    pub kind: Kind,
    /// Of list items (one), or of struct members in order; missing ones are plain.
    parts: Vec<Notation>,
}

/// Fields are not nested deeper in any file that can be read.
const MAX_DEPTH: usize = 200;
const MAPS: [&str; 4] =
    ["std::map<", "std::unordered_map<", "std::multimap<", "std::unordered_multimap<"];
const TUPLES: [&str; 2] = ["std::pair<", "std::tuple<"];
/// Types that read as the type of their only subfield.
const TRANSPARENT: [&str; 3] = ["std::optional<", "std::unique_ptr<", "std::atomic<"];

static PLAIN: Notation = Notation { kind: Kind::Plain, parts: Vec::new() };

impl Notation {
    /// The notation of a field, from its C++ types.
    pub fn of_field(schema: &Schema, id: FieldId) -> Self {
        Self::build(schema, id, 0)
    }

    fn build(schema: &Schema, id: FieldId, depth: usize) -> Self {
        let field = schema.field(id);
        let is = |names: &[&str]| names.iter().any(|name| field.type_name.starts_with(name));
        if depth > MAX_DEPTH {
            return Self::default();
        }
        if let ([only], true) = (field.children.as_slice(), is(&TRANSPARENT)) {
            return Self::build(schema, *only, depth + 1);
        }
        let kind = if is(&MAPS) {
            Kind::Map
        } else if is(&TUPLES) {
            Kind::Tuple
        } else {
            Kind::Plain
        };
        let parts = field.children.iter().map(|&child| Self::build(schema, child, depth + 1));
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
