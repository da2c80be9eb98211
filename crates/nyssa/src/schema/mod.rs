//! Schema of an RNTuple: fields, columns, projections, clusters.

mod cluster;
mod column;
mod descriptor;
mod field;

pub use cluster::{Cluster, ColumnRange, PageInfo};
pub use column::{AliasColumn, Column, ColumnId};
pub use descriptor::Schema;
pub use field::{Field, FieldId, Structure};
