//! The leaves of numbers.

use std::ops::Range;

use arrow_array::Array;
use nyssa_root::arrow::Number;

use super::numbers;
use super::packed::PackedLeaf;
use crate::model::leaf_class::{self, LeafClass};

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
    /// Whether its numbers say how many items other branches have.
    pub counts: bool,
}

impl LeafForm {
    /// Makes a leaf of plain numbers.
    pub(super) fn new(name: &str, number: Number, dimensions: Vec<usize>) -> Self {
        Self {
            name: name.to_owned(),
            number,
            dimensions,
            packed: None,
            is_long: false,
            counts: false,
        }
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
