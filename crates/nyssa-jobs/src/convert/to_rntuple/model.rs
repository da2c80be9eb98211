//! Defines the branches that a conversion reads, and the fields that it makes from them.

use nyssa_rntuple::schema::FieldId;
use nyssa_ttree::{Branch, CountSource};

/// A branch of the tree with its path.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// The path in the tree. The branch is read by this name.
    pub path: String,
    /// The branch.
    pub branch: &'a Branch,
}

/// The data that fill a field of the output. Branches are given by index of the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A whole branch.
    Branch(usize),
    /// The items of a jagged branch, without their offsets.
    Items(usize),
    /// The offsets of a counter.
    Offsets(CountSource),
    /// The objects of a branch, as streamed bytes.
    Streamed(usize),
}

/// One field, with the data that fill its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputField {
    /// The physical field.
    pub field: FieldId,
    /// The data that fill it.
    pub source: Source,
}

impl OutputField {
    /// Returns the index of the branch whose values fill the field.
    pub fn input(&self) -> Option<usize> {
        match self.source {
            Source::Branch(index) | Source::Items(index) | Source::Streamed(index) => Some(index),
            Source::Offsets(_) => None,
        }
    }
}

/// One top-level field, and the branch from which it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldMap {
    /// The path of the branch, with the name of the leaf for a counter in a leaf list.
    pub branch: String,
    /// The top-level field name, physical or projected.
    pub field: String,
    /// The C++ type of the field.
    pub type_name: String,
    /// The physical field with the data.
    pub physical: FieldId,
    /// Whether the branch can be read on its own, so that its values can be compared.
    pub readable: bool,
}
