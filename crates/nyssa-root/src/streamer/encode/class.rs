//! Finds the properties of classes that the encoder needs.

use std::collections::HashSet;

use super::{REFERS, WIDENED};
use crate::streamer::basic::Basic;
use crate::streamer::node::{Class, Collection, Node, PointerForm, Step};

impl Class {
    fn steps(&self) -> &[Step] {
        self.versions.first().map_or(&[], |version| &version.steps)
    }

    /// Returns whether the class is derived from `TObject`. Such a class has a version of its own.
    pub(super) fn is_t_object(&self) -> bool {
        self.steps().iter().any(|step| match &step.node {
            Node::TObject => step.name.starts_with(":_"),
            Node::Object(base) => step.base && base.is_t_object(),
            _ => false,
        })
    }

    /// Returns whether its objects have, or may have, pointers.
    pub(super) fn has_pointers(&self) -> bool {
        self.points(&self.name)
    }

    fn points(&self, class: &str) -> bool {
        self.steps().iter().any(|step| points(&step.node, class))
    }

    /// Returns whether containers of the class are written member by member. ROOT does so with all classes that
    /// it streams by their streamer info, but some of its own classes have other streamers.
    pub(super) fn splits(&self) -> bool {
        let own = matches!(self.name.as_bytes(), [b'T', b'A'..=b'Z', ..]);
        !own && !self.steps().iter().any(|step| match &step.node {
            Node::Object(base) => step.base && &*base.name != "TNamed" && !base.splits(),
            Node::Opaque(_) => true,
            _ => false,
        })
    }
}

/// Returns whether an object of `class` has pointers in this node.
fn points(node: &Node, class: &str) -> bool {
    match node {
        Node::Number(..)
        | Node::Text
        | Node::CString
        | Node::TObject
        | Node::TRef
        | Node::TRefArray
        | Node::Bitset(_) => false,
        Node::Symmetric(matrix) => matrix.base.points(class),
        Node::Object(inner) | Node::Members(inner, _) => inner.points(class),
        Node::Array(_, item) | Node::Sequence(item) | Node::Container(item, _) => {
            points(item, class)
        }
        Node::Counted(counted) => points(&counted.item, class),
        Node::Map(pair) => points(&pair.key, class) || points(&pair.value, class),
        // The other members of the class decide.
        Node::Opaque(inner) => inner.as_deref() != Some(class),
        Node::Unknown(_)
        | Node::Pointer(_)
        | Node::Collection(..)
        | Node::RawObject(_)
        | Node::Named(_)
        | Node::Unreadable(_)
        | Node::Seeks(_)
        | Node::Embedded(_)
        | Node::Skipped(..)
        | Node::Bytes => true,
    }
}

/// Adds the names of the classes in a node, and of the classes that its pointers may lead to.
pub(super) fn collect<'n>(node: &'n Node, names: &mut HashSet<&'n str>) {
    let class = |class: &'n Class, names: &mut HashSet<&'n str>| {
        if names.insert(&class.name) || class.fixed {
            class.steps().iter().for_each(|step| collect(&step.node, names));
        }
    };
    match node {
        Node::Number(Basic::Date) => {
            names.insert("TDatime");
        }
        Node::Number(..)
        | Node::Text
        | Node::CString
        | Node::TObject
        | Node::TRef
        | Node::TRefArray
        | Node::Bitset(_)
        | Node::Unknown(_)
        | Node::Opaque(None)
        | Node::Bytes
        | Node::Named(_)
        | Node::Unreadable(_)
        | Node::Seeks(_)
        | Node::Embedded(_)
        | Node::Skipped(..)
        | Node::RawObject(_) => {}
        Node::Opaque(Some(class)) => {
            names.insert(class);
        }
        Node::Symmetric(matrix) => class(&matrix.base, names),
        Node::Object(inner) | Node::Members(inner, _) => class(inner, names),
        Node::Array(_, item) | Node::Sequence(item) | Node::Container(item, _) => {
            collect(item, names);
        }
        Node::Counted(counted) => collect(&counted.item, names),
        Node::Map(pair) => class(&pair.class, names),
        Node::Pointer(pointer) | Node::Collection(_, pointer) => {
            if let Node::Collection(Collection::Clones, _) = node {
                names.insert("TClonesArray");
            }
            for (name, node) in &pointer.classes {
                collect(node, names);
                // These include classes that no streamer info describes.
                names.insert(name);
            }
        }
    }
}

/// Returns the reason why values of this node cannot be written into a basket, if there is one. Without a `process`,
/// references (`TRef`) cannot be. A pointer is refused if objects of none of its classes can be written. Only the objects behind
/// other pointers say which classes they have, and the encoder refuses those that may refer to others.
pub(in crate::streamer) fn not_in_baskets(node: &Node, process: Option<u16>) -> Option<String> {
    let not_in_baskets = |node: &Node| not_in_baskets(node, process);
    let class = |class: &Class| {
        let mut steps = class.steps().iter();
        steps.find_map(|step| {
            let widened = step.widened.as_ref().map(|_| WIDENED.to_owned());
            let reason = widened.or_else(|| not_in_baskets(&step.node))?;
            // The innermost member says enough.
            Some(if reason.contains("::") { reason } else { format!("{}: {reason}", step.place) })
        })
    };
    match node {
        Node::Number(..) | Node::Text | Node::CString | Node::TObject | Node::Bitset(_) => None,
        Node::Symmetric(matrix) => class(&matrix.base),
        Node::Object(inner) | Node::Members(inner, _) => class(inner),
        Node::Array(_, item) | Node::Sequence(item) | Node::Container(item, _) => {
            not_in_baskets(item)
        }
        Node::Counted(counted) => not_in_baskets(&counted.item),
        Node::Map(pair) => not_in_baskets(&pair.key).or_else(|| not_in_baskets(&pair.value)),
        Node::TRef | Node::TRefArray => process.is_none().then(|| REFERS.to_owned()),
        Node::Collection(Collection::Plain | Collection::Linked, items) => {
            Some(format!("nyssa does not write a {}", items.declared))
        }
        Node::Pointer(pointer) | Node::Collection(_, pointer) => {
            if pointer.bare || pointer.form == PointerForm::Link {
                return Some("it is a pointer of an old form".to_owned());
            }
            // Objects of the other classes can be written. A pointer without classes may be null.
            let mut classes = pointer.classes.iter().map(|(_, node)| not_in_baskets(node));
            let first = classes.next()??;
            classes.all(|reason| reason.is_some()).then_some(first)
        }
        Node::Unknown(name) => Some(format!("the file has no streamer info of class {name}")),
        Node::Opaque(_)
        | Node::RawObject(_)
        | Node::Named(_)
        | Node::Unreadable(_)
        | Node::Seeks(_)
        | Node::Embedded(_)
        | Node::Skipped(..)
        | Node::Bytes => Some("it is read as bytes only".to_owned()),
    }
}
