//! The branches of a tree: their leaves, and their names in ROOT.

use std::sync::Arc;

use nyssa_root::arrow::Number;
use nyssa_root::streamer::ObjectLayout;

use super::element::ElementForm;
use super::leaf_form::LeafForm;
use super::leaf_list::LeafList;
use super::vector::VectorForm;

/// A branch.
#[derive(Clone, Debug)]
pub(super) struct BranchForm {
    /// The name.
    pub name: String,
    /// The content of an entry.
    pub content: Content,
    /// The branch with the number of items of each entry, for a jagged branch.
    pub counter: Option<usize>,
    /// The leaf of this branch with the number, if the branch has several.
    pub counter_leaf: usize,
    /// The class of strings that are objects. They are stored like the strings of a leaf.
    pub string_class: Option<&'static str>,
    /// The name of its only leaf, for a string, if it differs from the name of the branch.
    pub leaf: Option<String>,
    /// The members of ROOT's `TBranchElement`, for a branch of a class.
    pub element: Option<Box<ElementForm>>,
    /// Whether baskets have the offsets of their entries, for a branch of a class of a tree that exists.
    pub offsets: Option<bool>,
    /// The number of the process (`TProcessID`) of the objects that others refer to.
    pub process: Option<u16>,
}

/// The content of an entry of a branch.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// The elements of some leaves, one leaf after the other. A jagged branch has one leaf.
    Leaves(Vec<LeafForm>),
    /// Leaves of which some are strings or arrays of varying size.
    LeafList(LeafList),
    /// The number of items of the jagged branches of a group.
    Counter(LeafForm),
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

impl BranchForm {
    /// Returns whether entries may differ in size, so that baskets need offsets.
    pub(super) fn is_variable(&self) -> bool {
        match (self.offsets, &self.element) {
            (Some(offsets), _) => offsets,
            (None, Some(element)) => element.has_offsets,
            (None, None) => {
                let varies = matches!(
                    self.content,
                    Content::Text | Content::Vector(_) | Content::LeafList(_)
                );
                self.counter.is_some() || varies
            }
        }
    }

    /// Returns the bytes before the object of each entry: the length of the name of its class, the name, and a zero, if entries
    /// have them (`TLeafObject::FillBasket`).
    pub(super) fn class_name(&self) -> Vec<u8> {
        match self.element.as_deref() {
            Some(ElementForm { names_class: Some(true), class, .. }) => {
                [&[class.len() as u8], class.as_bytes(), &[0]].concat()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the layout of entries that ROOT's streamer writes.
    pub(super) fn layout(&self) -> Option<&Arc<ObjectLayout>> {
        match &self.content {
            Content::Objects(layout) => Some(layout),
            Content::LeafList(list) => Some(&list.layout),
            _ => None,
        }
    }

    /// Returns the type of a branch with one number for each entry, which may count the items of others.
    pub(super) fn counts(&self) -> Option<Number> {
        match &self.content {
            Content::Counter(leaf) => Some(leaf.number),
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

    /// Returns the name of a leaf of numbers, or of the only leaf of a string.
    pub(super) fn leaf_name(&self, at: usize) -> &str {
        match &self.content {
            Content::Leaves(leaves) => leaves.get(at).map_or(&self.name, |leaf| &leaf.name),
            Content::Counter(leaf) => &leaf.name,
            _ => self.leaf.as_ref().unwrap_or(&self.name),
        }
    }

    /// Returns whether the leaf stores the largest count or the length of the longest string.
    pub(super) fn has_maximum(&self) -> bool {
        matches!(self.content, Content::Counter(_) | Content::Text | Content::Items)
    }

    /// Returns the size of an entry in bytes, or of one item of a jagged branch.
    pub(super) fn item_size(&self) -> usize {
        match &self.content {
            Content::Leaves(leaves) => leaves.iter().map(LeafForm::stored_size).sum(),
            Content::Counter(leaf) => leaf.stored_size(),
            Content::Items => size_of::<i32>(),
            Content::Objects(layout) => layout.fixed_size().unwrap_or(1),
            Content::Text | Content::Vector(_) | Content::LeafList(_) | Content::Nothing => 1,
        }
    }

    /// Returns the title that ROOT gives a branch, which lists its leaves with their types.
    pub(super) fn title(&self, counter: Option<&str>) -> String {
        if let Some(element) = &self.element {
            return element.title.clone();
        }
        match &self.content {
            Content::Text if self.string_class.is_none() => format!("{}/C", self.leaf_name(0)),
            Content::Text
            | Content::Vector(_)
            | Content::Objects(_)
            | Content::Items
            | Content::Nothing => self.name.clone(),
            Content::LeafList(list) => list.title(),
            Content::Counter(leaf) => format!("{}/{}", leaf.name, leaf.names().letter),
            Content::Leaves(leaves) => {
                let leaf =
                    |leaf: &LeafForm| format!("{}/{}", leaf.title(counter), leaf.names().letter);
                leaves.iter().map(leaf).collect::<Vec<_>>().join(":")
            }
        }
    }
}
