//! Records where references are in an object that is read as bytes.

use std::ops::Range;

/// The places of references and of objects in the bytes of an object.
#[derive(Debug, Default)]
pub(super) struct ReferencePlaces {
    /// The places of references to objects and classes.
    pub references: Vec<usize>,
    /// The places where objects behind pointers begin.
    pub objects: Vec<usize>,
    /// The ranges of bytes that were not decoded.
    pub unknown: Vec<Range<usize>>,
    /// The class and bytes of objects that are still to be decoded.
    pub pending: Vec<(String, Range<usize>)>,
}

impl ReferencePlaces {
    /// Adds an object that will be decoded later.
    pub(super) fn later(&mut self, class: String, bytes: Range<usize>) {
        self.pending.push((class, bytes));
    }
}
