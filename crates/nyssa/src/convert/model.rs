//! What a conversion reads, and what it makes of it.

use crate::rntuple::schema::FieldId;
use crate::ttree::{Branch, CountSource};

/// A branch of the tree with its path.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// Path in the tree, the name it is read by.
    pub path: String,
    /// The branch.
    pub branch: &'a Branch,
}

/// What fills a field of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// All of a branch, by index of the inputs.
    Branch(usize),
    /// The items of a jagged branch, without their offsets.
    Items(usize),
    /// The offsets of a counter.
    Offsets(CountSource),
    /// The objects of a branch, streamed.
    Streamed(usize),
}

/// One field and what fills its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputField {
    /// The physical field.
    pub field: FieldId,
    /// Its data.
    pub source: Source,
}

/// One top-level field and the branch it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldMap {
    /// Branch path; with that of the leaf for a counter in a leaf list.
    pub branch: String,
    /// Top-level field name, physical or projected.
    pub field: String,
    /// C++ type of the field.
    pub type_name: String,
    /// The physical field with the data.
    pub physical: FieldId,
    /// The branch can be read on its own, so its values can be compared.
    pub readable: bool,
}
