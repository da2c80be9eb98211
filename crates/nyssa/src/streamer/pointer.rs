//! Pointers to objects, by the classes they may point to.

use super::node::Node;
use super::shape::Shape;

/// Where a pointer may lead.
#[derive(Debug)]
pub(super) struct Pointer {
    /// Class of the pointer.
    pub declared: String,
    /// Classes that objects are taken apart for.
    pub classes: Vec<(String, Node)>,
    /// Whether objects may be of a class that is not among them.
    pub open: bool,
    /// Whether there may be an object of its own class instead of a tag: in arrays of pointers that a
    /// member counts, ROOT up to 5.15/08 streamed them so.
    pub bare: bool,
}

/// Name of the union's child for objects of other classes.
const OTHER: &str = "other";

/// How the values of a pointer are laid out.
pub(super) enum Form {
    /// Bytes or null.
    Raw,
    /// An object of the only class, or null.
    Nullable,
    /// A union.
    Union,
}

impl Pointer {
    /// The layout.
    pub fn form(&self) -> Form {
        match (self.classes.len(), self.open) {
            (0, _) => Form::Raw,
            (1, false) => Form::Nullable,
            _ => Form::Union,
        }
    }

    /// What it reads as.
    pub fn shape(&self) -> Shape {
        match (self.form(), self.classes.first()) {
            (Form::Nullable, Some((_, node))) => Shape::Optional(Box::new(node.shape())),
            (Form::Union, _) => {
                let named = self.classes.iter().map(|(name, node)| (name.clone(), node.shape()));
                let other = self.open.then(|| (OTHER.to_owned(), Shape::Raw));
                Shape::Union(named.chain(other).collect())
            }
            _ => Shape::Raw,
        }
    }
}
