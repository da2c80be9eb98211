//! Defines the schema of an RNTuple: fields, columns, projections, clusters.

mod backing;
mod builder;
mod classes;
mod cluster;
mod column;
mod column_rules;
mod cpp_type;
mod descriptor;
mod field;
mod field_names;
mod field_type;
mod from_arrow;
mod ids;
mod leaf;
mod locator;
mod name;
mod projection;
mod representation;
mod to_arrow;
mod validate;
#[cfg(test)]
mod validate_tests;

pub use backing::align;
pub use builder::{MAX_FIELD_DEPTH, SchemaBuilder};
pub use cluster::{Cluster, ColumnRange, PageInfo};
pub use column::{AliasColumn, Column};
pub use column_rules::is_cardinality;
pub use descriptor::Schema;
pub use field::{Field, Structure};
pub use field_names::FieldNames;
pub use field_type::{Class, FieldType, SetKind};
pub use from_arrow::Nullable;
pub use ids::{ColumnId, FieldId};
pub use leaf::{Leaf, index_column};
pub use locator::{EnvelopeLink, Locator};
pub use name::check_name;
pub use nyssa_data::dataset::BACKING_PREFIX;
pub use nyssa_root::definitions::{Definition, Definitions as Classes};
pub use validate::MAX_ALTERNATIVES;
