//! Finds the layout of the values of pointers.

use super::{Node, Pointer};
use crate::streamer::shape::Shape;

/// The name of the union's child for objects of other classes.
const OTHER: &str = "other";

/// The layout of the values of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::streamer) enum PointerForm {
    /// Bytes or null.
    Raw,
    /// An object of the only class, or null.
    Nullable,
    /// A union of the objects of several classes.
    Union,
    /// The number of an object that is read afterwards.
    Link,
}

impl Pointer {
    /// Makes a pointer that may lead to `classes`, and to other classes if it is `open`.
    pub(crate) fn of(declared: &str, classes: Vec<(String, Node)>, open: bool) -> Self {
        let form = match (classes.len(), open) {
            (0, _) => PointerForm::Raw,
            (1, false) => PointerForm::Nullable,
            _ => PointerForm::Union,
        };
        Self { declared: declared.to_owned(), classes, open, bare: false, form }
    }

    /// Makes a pointer whose objects are looked up by the class that is met.
    pub(crate) fn open(declared: &str, form: PointerForm) -> Self {
        Self { form, ..Self::of(declared, Vec::new(), true) }
    }

    /// Returns the shape of the values.
    pub(crate) fn shape(&self) -> Shape {
        match (self.form, self.classes.first()) {
            (PointerForm::Nullable, Some((_, node))) => Shape::Optional(Box::new(node.shape())),
            (PointerForm::Union, _) => {
                let named = self.classes.iter().map(|(name, node)| (name.clone(), node.shape()));
                let other = self.open.then(|| (OTHER.to_owned(), Shape::Raw));
                Shape::Union(named.chain(other).collect())
            }
            (PointerForm::Link, _) => Shape::Link,
            _ => Shape::Raw,
        }
    }
}
