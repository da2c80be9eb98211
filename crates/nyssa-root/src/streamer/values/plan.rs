//! Defines plans, by which the values of one version of a class are read. A plan is compiled once from streamer
//! info.

use std::sync::Arc;

use crate::streamer::node::{Node, Step, Version};

/// The number of a class in the table of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassId(pub u32);

/// The plan for reading one version of a class.
#[derive(Debug)]
pub(in crate::streamer) struct Plan {
    /// The class name.
    pub class: Arc<str>,
    /// The members of the class, base classes first.
    pub layout: Version,
}

impl Plan {
    /// Makes the plan of a builtin class, which has only the names of the members.
    pub(crate) fn builtin(class: &str, members: &[&str]) -> Self {
        let step = |name: &&str| Step {
            place: format!("{class}::{name}"),
            name: (*name).to_owned(),
            node: Node::Unreadable("builtin".into()),
            base: false,
            base_version: 0,
            target: None,
            widened: None,
        };
        let steps = members.iter().map(step).collect();
        let layout =
            Version { version: 0, checksum: 0, steps, missing: Vec::new(), conflict: None };
        Self { class: class.into(), layout }
    }
}
