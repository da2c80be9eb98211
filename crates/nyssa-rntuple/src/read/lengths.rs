//! Reads the lengths of the lists of a field, without their items.

use std::ops::Range;

use arrow_array::ArrayRef;
use nyssa_root::Context;
use nyssa_root::error::Result;

use super::Reader;
use super::shape::{Node, NodeKind};
use crate::schema::FieldId;

impl Reader {
    /// Returns the outermost lists, strings and optional values of a top-level field: each field with its length in
    /// each of `entries`, an array of 64-bit integers.
    ///
    /// # Errors
    /// `NotFound`, `Unsupported`, `Cancelled`; an error if the file is damaged or cannot be read.
    pub fn lengths(
        &self,
        name: &str,
        entries: &Range<u64>,
        context: &Context,
    ) -> Result<Vec<(FieldId, ArrayRef)>> {
        let mut lists = Vec::new();
        self.nodes(&[name])?.into_iter().for_each(|node| outermost(node, &mut lists));
        let fields: Vec<_> = lists.iter().map(|node| node.field).collect();
        let names = vec![name; lists.len()];
        let arrays = self.read_all(lists, &names, entries, context)?;
        Ok(fields.into_iter().zip(arrays).collect())
    }
}

/// Adds the outermost collections of a node as nodes that read as their lengths.
fn outermost(node: Node, nodes: &mut Vec<Node>) {
    match node.kind {
        NodeKind::List { offsets, .. } => {
            nodes.push(Node { kind: NodeKind::Cardinality { offsets, wide: true }, ..node });
        }
        NodeKind::Record(members) => {
            members.into_iter().for_each(|(_, member)| outermost(member, nodes));
        }
        _ => {}
    }
}
