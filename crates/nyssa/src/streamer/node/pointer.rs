//! Finds the layout of the values of pointers.

use super::Pointer;
use crate::streamer::shape::Shape;

/// The name of the union's child for objects of other classes.
const OTHER: &str = "other";

/// The layout of the values of a pointer.
pub(in crate::streamer) enum PointerForm {
    /// Bytes or null.
    Raw,
    /// An object of the only class, or null.
    Nullable,
    /// A union of the objects of several classes.
    Union,
}

impl Pointer {
    /// Returns the layout.
    pub fn form(&self) -> PointerForm {
        match (self.classes.len(), self.open) {
            (0, _) => PointerForm::Raw,
            (1, false) => PointerForm::Nullable,
            _ => PointerForm::Union,
        }
    }

    /// Returns the shape of the values.
    pub fn shape(&self) -> Shape {
        match (self.form(), self.classes.first()) {
            (PointerForm::Nullable, Some((_, node))) => Shape::Optional(Box::new(node.shape())),
            (PointerForm::Union, _) => {
                let named = self.classes.iter().map(|(name, node)| (name.clone(), node.shape()));
                let other = self.open.then(|| (OTHER.to_owned(), Shape::Raw));
                Shape::Union(named.chain(other).collect())
            }
            _ => Shape::Raw,
        }
    }
}
