//! Makes the nodes of branches whose leaves are not simple numbers or arrays of one type.

use super::Compiler;
use crate::streamer::leaf::LeafNumbers;
use crate::streamer::leaf_list;
use crate::streamer::node::{Class, Counted, Node, Step, Version};

impl Compiler<'_> {
    /// Makes the node of one leaf.
    pub(crate) fn leaf(leaf: &LeafNumbers) -> Node {
        let node = match leaf.basic {
            None => Node::Text,
            Some(basic) => Node::Number(basic),
        };
        match leaf.dimensions.as_slice() {
            [] => node,
            dimensions => Node::Array(dimensions.to_vec(), Box::new(node)),
        }
    }

    /// Makes the node of all leaves of a branch.
    pub(crate) fn leaves(leaves: &[LeafNumbers]) -> Node {
        let step = |leaf: &LeafNumbers| {
            let item = Self::leaf(leaf);
            let node = match &leaf.counter {
                None => item,
                Some(counter) => Node::Counted(Counted {
                    name: counter.clone(),
                    counter: Vec::new(),
                    dimensions: Vec::new(),
                    item: Box::new(item),
                    objects: false,
                    bare: true,
                }),
            };
            Step {
                place: leaf.name.clone(),
                name: leaf.name.clone(),
                node,
                base: false,
                base_version: 0,
                target: None,
                widened: None,
            }
        };
        let steps = leaves.iter().map(step).collect();
        let version =
            Version { version: 0, checksum: 0, steps, missing: Vec::new(), conflict: None };
        let mut class =
            Class { name: leaf_list::NAME.into(), versions: vec![version], fixed: true };
        class.align();
        Node::Members(Box::new(class), 0)
    }
}
