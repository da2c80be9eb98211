//! What is known of the bytes of an object that is kept as bytes.

use std::ops::Range;

/// Where things are in the bytes of an object.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// References to objects and classes.
    pub references: Vec<usize>,
    /// The beginnings of objects behind pointers.
    pub objects: Vec<usize>,
    /// Bytes that were not looked into.
    pub unknown: Vec<Range<usize>>,
    /// Objects that are still to be looked into: class, and where they are.
    pub pending: Vec<(String, Range<usize>)>,
}

impl Marks {
    /// Takes note of an object that is not taken apart where it is.
    pub fn later(&mut self, class: String, bytes: Range<usize>) {
        self.pending.push((class, bytes));
    }
}
