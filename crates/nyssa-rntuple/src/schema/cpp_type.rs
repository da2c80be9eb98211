//! Finds the properties that C++ types of fields have and Arrow types lack.

use arrow_schema::Field;
use nyssa_data::dataset::{ColumnInfo, CppKind, CppType, parts};
use nyssa_root::arrow::STREAMER;

use super::{FieldId, MAX_FIELD_DEPTH, Schema, Structure};

/// The start of the names of maps.
const MAPS: [&str; 4] =
    ["std::map<", "std::unordered_map<", "std::multimap<", "std::unordered_multimap<"];
/// The start of the names of pairs and tuples.
const TUPLES: [&str; 2] = ["std::pair<", "std::tuple<"];
/// The start of the names of collections of at most one item.
const OPTIONALS: [&str; 2] = ["std::optional<", "std::unique_ptr<"];

impl Schema {
    /// Returns the C++ type of a column: a top-level field. It is plain if there is no such field.
    pub fn cpp_type(&self, column: &ColumnInfo) -> CppType {
        let Ok(arrow) = &column.field else { return CppType::default() };
        let field = self.find(&column.name);
        field.map(|id| self.cpp_type_of(id, arrow, 0)).unwrap_or_default()
    }

    /// Returns the C++ type of a field that reads as `arrow`.
    fn cpp_type_of(&self, id: FieldId, arrow: &Field, depth: usize) -> CppType {
        let field = self.field(id);
        let is = |names: &[&str]| names.iter().any(|name| field.type_name.starts_with(name));
        if depth > MAX_FIELD_DEPTH {
            return CppType::default();
        }
        if field.structure == Structure::Streamer {
            return CppType::of_arrow(arrow);
        }
        let optional = field.structure == Structure::Collection && is(&OPTIONALS);
        let atom = field.structure == Structure::Leaf && field.array_size.is_none();
        if let (&[only], true) =
            (field.children.as_slice(), atom || optional && arrow.is_nullable())
        {
            // Enums, atomics and nullable values read as the type of their only subfield.
            return self.cpp_type_of(only, &arrow.clone().with_nullable(false), depth + 1);
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
        let parts = pairs.map(|(&child, arrow)| self.cpp_type_of(child, arrow, depth + 1));
        let class = (field.structure == Structure::Record)
            .then(|| (field.type_name.clone(), field.type_version));
        CppType { kind, parts: parts.collect(), class }
    }
}
