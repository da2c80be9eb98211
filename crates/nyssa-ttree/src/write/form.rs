//! The branches of a tree: their leaves, and their names in ROOT.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::Array;
use nyssa_root::arrow::Number;
use nyssa_root::streamer::ObjectLayout;

use super::element::ElementForm;
use super::numbers;
use super::packed::PackedLeaf;
use super::vector::VectorForm;
use crate::model::leaf_class::{self, LeafClass};

/// A branch.
#[derive(Clone, Debug)]
pub(super) struct BranchForm {
    /// The name.
    pub name: String,
    /// The content of an entry.
    pub content: Content,
    /// The branch with the number of items of each entry, for a jagged branch.
    pub counter: Option<usize>,
    /// The class of strings that are objects. They are stored like the strings of a leaf.
    pub string_class: Option<&'static str>,
    /// The name of its only leaf, for a counter or a string, if it differs from the name of the branch.
    pub leaf: Option<String>,
    /// The members of ROOT's `TBranchElement`, for a branch of a class.
    pub element: Option<Box<ElementForm>>,
    /// Whether baskets have the offsets of their entries, for a branch of a class of a tree that exists.
    pub offsets: Option<bool>,
}

/// The content of an entry of a branch.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// The elements of some leaves, one leaf after the other. A jagged branch has one leaf.
    Leaves(Vec<LeafForm>),
    /// The number of items of the jagged branches of a group.
    Counter(Number),
    /// One string.
    Text,
    /// One `std::vector`.
    Vector(VectorForm),
    /// Values that ROOT's streamer writes.
    Objects(Arc<ObjectLayout>),
    /// The number of items of a split collection.
    Items,
    /// Nothing: the branches below it have the data.
    Nothing,
}

/// A leaf of numbers.
#[derive(Clone, Debug)]
pub(super) struct LeafForm {
    /// The name.
    pub name: String,
    /// The type of the numbers.
    pub number: Number,
    /// The sizes of a fixed array, outermost first. It is empty for a single number.
    pub dimensions: Vec<usize>,
    /// The form of `Float16_t` and `Double32_t` with fewer bits.
    pub packed: Option<PackedLeaf>,
    /// Whether the leaf is of the type `Long_t` or `ULong_t`, if its numbers have 64 bits.
    pub is_long: bool,
}

impl BranchForm {
    /// Returns whether entries may differ in size, so that baskets need offsets.
    pub(super) fn is_variable(&self) -> bool {
        match (self.offsets, &self.element) {
            (Some(offsets), _) => offsets,
            (None, Some(element)) => element.has_offsets,
            (None, None) => {
                self.counter.is_some() || matches!(self.content, Content::Text | Content::Vector(_))
            }
        }
    }

    /// Returns the type of a branch with one number for each entry, which may count the items of others.
    pub(super) fn counts(&self) -> Option<Number> {
        match &self.content {
            Content::Counter(number) => Some(*number),
            Content::Leaves(leaves) if self.counter.is_none() && self.offsets.is_none() => {
                match &leaves[..] {
                    [leaf] if leaf.dimensions.is_empty() && leaf.packed.is_none() => {
                        Some(leaf.number).filter(|_| self.element.is_none())
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the name of the only leaf of a counter or a string.
    pub(super) fn leaf_name(&self) -> &str {
        self.leaf.as_ref().unwrap_or(&self.name)
    }

    /// Returns whether the leaf stores the largest count or the length of the longest string.
    pub(super) fn has_maximum(&self) -> bool {
        matches!(self.content, Content::Counter(_) | Content::Text | Content::Items)
    }

    /// Returns the size of an entry in bytes, or of one item of a jagged branch.
    pub(super) fn item_size(&self) -> usize {
        match &self.content {
            Content::Leaves(leaves) => leaves.iter().map(LeafForm::stored_size).sum(),
            Content::Counter(number) => number.size(),
            Content::Items => size_of::<i32>(),
            Content::Objects(layout) => layout.fixed_size().unwrap_or(1),
            Content::Text | Content::Vector(_) | Content::Nothing => 1,
        }
    }

    /// Returns the title that ROOT gives a branch, which lists its leaves with their types.
    pub(super) fn title(&self, counter: Option<&str>) -> String {
        if let Some(element) = &self.element {
            return element.title.clone();
        }
        match &self.content {
            Content::Text if self.string_class.is_none() => format!("{}/C", self.leaf_name()),
            Content::Text
            | Content::Vector(_)
            | Content::Objects(_)
            | Content::Items
            | Content::Nothing => self.name.clone(),
            Content::Counter(number) => {
                format!("{}/{}", self.leaf_name(), leaf_class::of_number(*number).letter)
            }
            Content::Leaves(leaves) => {
                let leaf =
                    |leaf: &LeafForm| format!("{}/{}", leaf.title(counter), leaf.names().letter);
                leaves.iter().map(leaf).collect::<Vec<_>>().join(":")
            }
        }
    }
}

impl LeafForm {
    /// Makes a leaf of plain numbers.
    pub(super) fn new(name: &str, number: Number, dimensions: Vec<usize>) -> Self {
        Self { name: name.to_owned(), number, dimensions, packed: None, is_long: false }
    }

    /// Returns ROOT's names for the type of the numbers.
    pub(super) fn names(&self) -> &'static LeafClass {
        let long = if self.is_long { leaf_class::of_long(self.number) } else { None };
        long.unwrap_or_else(|| leaf_class::of_number(self.number))
    }

    /// Returns the number of elements of an entry, or of one item of a jagged branch.
    pub(super) fn elements(&self) -> usize {
        self.dimensions.iter().product()
    }

    /// Returns the size of [`LeafForm::elements`] in memory, in bytes.
    pub(super) fn size(&self) -> usize {
        self.elements() * self.number.size()
    }

    /// Returns the size of [`LeafForm::elements`] in a basket, in bytes.
    pub(super) fn stored_size(&self) -> usize {
        let packed = self.packed.as_ref().map(PackedLeaf::size);
        self.elements() * packed.unwrap_or(self.number.size())
    }

    /// Appends the elements of `items` (each has [`LeafForm::elements`]) of an array to a basket.
    pub(super) fn put(&self, array: &dyn Array, items: Range<usize>, out: &mut Vec<u8>) {
        let elements = self.elements();
        let range = items.start * elements..items.end * elements;
        match &self.packed {
            Some(packed) => packed.put(array, range, out),
            None => numbers::put(array, self.number, range, out),
        }
    }

    /// Returns the title of the leaf: its name with its dimensions.
    pub(super) fn title(&self, counter: Option<&str>) -> String {
        let counter = counter.map(|counter| format!("[{counter}]")).unwrap_or_default();
        let dimensions: String = self.dimensions.iter().map(|size| format!("[{size}]")).collect();
        format!("{}{counter}{dimensions}", self.name)
    }
}
