//! Classes: their members in each version that the file describes.

use std::sync::Arc;

use super::node::Node;
use super::shape::Shape;

/// A class that is streamed by streamer info.
#[derive(Debug)]
pub(super) struct Class {
    /// Class name.
    pub name: Arc<str>,
    /// The version that gives the shape comes first.
    pub versions: Vec<Version>,
    /// Whether its layout follows from its name (pairs), so that no version has to match.
    pub fixed: bool,
}

/// One version of a class.
#[derive(Debug)]
pub(super) struct Version {
    /// Class version.
    pub version: i32,
    /// Checksum of the layout.
    pub checksum: u32,
    /// Members in the order they are streamed.
    pub steps: Vec<Step>,
    /// Members of the shape that this version lacks; they read as zero or empty.
    pub missing: Vec<usize>,
    /// A member whose type differs from that of the shape, so that the version cannot be read.
    pub conflict: Option<String>,
}

/// One member.
#[derive(Debug)]
pub(super) struct Step {
    /// `Class::member`, for messages.
    pub place: String,
    /// Name in the record.
    pub name: String,
    /// How it is streamed.
    pub node: Node,
    /// Whether it is a base class.
    pub base: bool,
    /// Version of the base class, by which it is streamed where it has no version header.
    pub base_version: i32,
    /// Its place in the record; `None` for a member that the shape lacks.
    pub target: Option<usize>,
}

impl Class {
    /// The record it reads as.
    pub fn shape(&self) -> Shape {
        let steps = self.versions.first().map_or(&[][..], |version| &version.steps);
        Shape::Record(steps.iter().map(|step| (step.name.clone(), step.node.shape())).collect())
    }

    /// Its members in all versions.
    pub fn nodes(&self) -> Vec<&Node> {
        let steps = self.versions.iter().flat_map(|version| &version.steps);
        steps.map(|step| &step.node).collect()
    }

    /// The version of a number; the only one when the layout is fixed.
    pub fn version(&self, version: i32) -> Option<&Version> {
        let found = self.versions.iter().find(|known| known.version == version);
        found.or_else(|| self.versions.first().filter(|_| self.fixed))
    }

    /// The version of a checksum.
    pub fn checksum(&self, checksum: u32) -> Option<&Version> {
        let found = self.versions.iter().find(|known| known.checksum == checksum);
        found.or_else(|| self.versions.first().filter(|_| self.fixed))
    }

    /// Orders the versions' members by the shape, which the first version gives.
    pub fn align(&mut self) {
        let shape = self.shape();
        let Shape::Record(members) = &shape else { return };
        for version in &mut self.versions {
            let mut missing: Vec<usize> = (0..members.len()).collect();
            for step in &mut version.steps {
                step.target = members.iter().position(|(name, _)| *name == step.name);
                let same = |index: usize| members[index].1 == step.node.shape();
                if step.target.is_some_and(|index| !same(index)) {
                    version.conflict.get_or_insert_with(|| step.place.clone());
                }
                missing.retain(|&index| Some(index) != step.target);
                if let Node::Counted(counted) = &mut step.node {
                    match find(members, &counted.name) {
                        Some(path) => counted.counter = path,
                        None => {
                            version.conflict.get_or_insert_with(|| step.place.clone());
                        }
                    }
                }
            }
            version.missing = missing;
        }
    }
}

impl Version {
    /// Whether it has no members, and none in base classes: streamed member by member it takes no bytes.
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(|step| {
            let empty = |class: &Class| class.versions.iter().all(Self::is_empty);
            step.base && matches!(&step.node, Node::Object(class) if empty(class))
        })
    }
}

/// Path of a member, or of one of a base class.
pub(super) fn find(members: &[(String, Shape)], name: &str) -> Option<Vec<usize>> {
    let own = members.iter().position(|(member, _)| member == name);
    own.map(|index| vec![index]).or_else(|| {
        members.iter().enumerate().find_map(|(index, (member, shape))| match shape {
            Shape::Record(below) if member.starts_with(":_") => {
                let path = find(below, name)?;
                Some([index].into_iter().chain(path).collect())
            }
            _ => None,
        })
    })
}
