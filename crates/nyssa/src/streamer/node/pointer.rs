//! Describes how the values of pointers are laid out.

use super::Pointer;
use crate::streamer::shape::Shape;

/// The name of the union's child for objects of other classes.
const OTHER: &str = "other";

/// How the values of a pointer are laid out.
pub(in crate::streamer) enum PointerForm {
    /// It is read as bytes or null.
    Raw,
    /// It is read as an object of the only class, or null.
    Nullable,
    /// It is read as a union.
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

    /// Returns the form of the values.
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
