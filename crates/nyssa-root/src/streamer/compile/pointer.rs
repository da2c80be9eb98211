//! Finds the classes that pointers may lead to: the class of the pointer and the classes derived from it.

use std::collections::HashSet;

use super::{Compiler, MAX_NODES, T_OBJECT};
use crate::error::Result;
use crate::streamer::node::{Node, Pointer, PointerForm};
use crate::type_name;

/// The largest number of classes in a union. Its type ids have 7 bits, and null and other objects take one id each.
const MAX_CLASSES: usize = 126;
/// The largest depth of unions of all classes in each other, if the file has many classes.
const MAX_ANYS: usize = 1;
/// The largest depth of unions of all classes in each other, if the file has few classes.
const MAX_ANYS_FEW: usize = 2;
/// The first letters of the names of the classes of trees.
const OF_TREES: [&str; 4] = ["TTree", "TBranch", "TLeaf", "TNtuple"];
/// The largest number of classes that counts as few.
const FEW_CLASSES: usize = 12;
/// The number of members of a class above which objects behind pointers are not decoded. The class then has room for
/// its own members.
const MAX_BEHIND: usize = MAX_NODES / 2;
/// The number of compiled nodes above which objects behind pointers are not decoded.
const MAX_EFFORT: usize = 200_000;

impl Compiler<'_> {
    /// Makes the node of a pointer to an object of a class or of a class derived from it.
    pub(super) fn pointer(&mut self, declared: &str) -> Result<Node> {
        let declared = declared.strip_prefix("const ").unwrap_or(declared).trim();
        let declared = type_name::of_typedef(declared);
        if self.by_name {
            return Ok(Node::Pointer(Box::new(Pointer::open(declared, PointerForm::Raw))));
        }
        if self.links {
            return Ok(Node::Pointer(Box::new(Pointer::open(declared, PointerForm::Link))));
        }
        if declared == T_OBJECT {
            return Ok(Node::Pointer(Box::new(self.any())));
        }
        let own = self.find(declared).unwrap_or(declared);
        let derived: Vec<&str> =
            self.order.iter().copied().filter(|name| self.is_derived(name, own)).collect();
        let inside = |name: &str| self.stack.iter().any(|outer| outer == name);
        let mut open = !derived.is_empty() || inside(own);
        let names = [own].into_iter().chain(derived);
        let names: Vec<&str> = names.filter(|name| !inside(name) && may_be(name)).collect();
        let mut classes = Vec::new();
        for name in names.into_iter().take(MAX_CLASSES) {
            // The class of a pointer that is always null has no streamer info.
            if name == own && self.knows(name) {
                classes.push((name.to_owned(), self.class(name)?));
            } else if name != own {
                classes.extend(self.behind(name));
            }
        }
        open |= classes.is_empty();
        Ok(Node::Pointer(Box::new(Pointer::of(declared, classes, open))))
    }

    /// Makes the node of a pointer in an array of pointers with a counter.
    pub(super) fn item_pointer(&mut self, declared: &str) -> Result<Node> {
        let mut node = self.pointer(declared)?;
        if let Node::Pointer(pointer) = &mut node {
            pointer.bare = true;
        }
        Ok(node)
    }

    /// Makes a pointer to an object of any class.
    pub(super) fn any(&mut self) -> Pointer {
        if self.links {
            return Pointer::open(T_OBJECT, PointerForm::Link);
        }
        let mut classes = Vec::new();
        let names: Vec<&str> = self
            .order
            .iter()
            .copied()
            .filter(|name| self.is_derived(name, T_OBJECT))
            .filter(|name| !self.stack.iter().any(|outer| outer == name))
            .filter(|name| may_be(name))
            .collect();
        let deepest = match names.len() {
            ..=FEW_CLASSES => MAX_ANYS_FEW,
            _ => MAX_ANYS,
        };
        if self.anys < deepest {
            self.anys += 1;
            for name in names.into_iter().take(MAX_CLASSES) {
                classes.extend(self.behind(name));
            }
            self.anys -= 1;
        }
        Pointer::of(T_OBJECT, classes, true)
    }

    /// Returns the node of a class that a pointer may lead to. Returns `None` if its objects cannot be part of the
    /// type of the column.
    fn behind(&mut self, name: &str) -> Option<(String, Node)> {
        if self.effort >= MAX_EFFORT {
            return None;
        }
        let before = self.nodes;
        let node = self.class(name).ok().filter(|_| self.nodes <= MAX_BEHIND);
        if node.is_none() {
            self.nodes = before;
        }
        Some((name.to_owned(), node?))
    }

    /// Returns whether the class `name` has `base` as a base class.
    fn is_derived(&self, name: &str, base: &str) -> bool {
        let mut seen = HashSet::new();
        let mut next = vec![name];
        while let Some(name) = next.pop() {
            if !seen.insert(name) {
                continue;
            }
            let infos = self.classes.get(name).map_or(&[][..], Vec::as_slice);
            let elements = infos.iter().flat_map(|info| &info.elements);
            for element in elements.filter(|element| element.class == "TStreamerBase") {
                // ROOT's `TNamed` derives from `TObject` also where the file leaves it out.
                let named = element.name == "TNamed" && base == T_OBJECT;
                if element.name == base || named {
                    return true;
                }
                next.push(&element.name);
            }
        }
        false
    }
}

/// Returns whether pointers in entries may lead to objects of a class. The classes of a tree itself are never in its
/// entries.
fn may_be(class: &str) -> bool {
    !OF_TREES.iter().any(|prefix| class.starts_with(prefix))
}
