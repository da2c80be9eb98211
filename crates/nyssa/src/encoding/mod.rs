//! Column encodings: elements in memory ⇄ packed bytes of an uncompressed page.
//!
//! Specification: "Column Description".

mod column_type;

pub use column_type::{ColumnType, Native};
