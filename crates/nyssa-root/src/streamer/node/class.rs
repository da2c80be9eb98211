//! Gives all versions of a class the shape of one record.

use super::{Class, Node, Step, Version};
use crate::streamer::info::known;
use crate::streamer::shape::Shape;

impl Class {
    /// Returns the record as which the class is read.
    pub(crate) fn shape(&self) -> Shape {
        let steps = self.versions.first().map_or(&[][..], |version| &version.steps);
        let shape = |step: &Step| step.widened.clone().unwrap_or_else(|| step.node.shape());
        Shape::Record(steps.iter().map(|step| (step.name.clone(), shape(step))).collect())
    }

    /// Makes a class that has these members in all versions.
    pub(crate) fn fixed(name: &str, steps: Vec<Step>) -> Self {
        let missing = Vec::new();
        let version = Version { version: 0, checksum: 0, steps, missing, conflict: None };
        let mut class = Self { name: name.into(), versions: vec![version], fixed: true };
        class.align();
        class
    }

    /// Returns the nodes of the members of all versions.
    pub(crate) fn nodes(&self) -> Vec<&Node> {
        let steps = self.versions.iter().flat_map(|version| &version.steps);
        steps.map(|step| &step.node).collect()
    }

    /// Returns the version with this number, or the only version if the layout is fixed.
    pub(crate) fn version(&self, version: i32) -> Option<&Version> {
        self.find(|known| known.version == version)
    }

    /// Returns the version with this checksum.
    pub(crate) fn checksum(&self, checksum: u32) -> Option<&Version> {
        self.find(|known| known.checksum == checksum)
    }

    fn find(&self, is: impl Fn(&&Version) -> bool) -> Option<&Version> {
        self.versions.iter().find(is).or_else(|| self.versions.first().filter(|_| self.fixed))
    }

    /// Finds the place of the members of each version in the shape. The first version gives the shape. Of a class that
    /// is not of ROOT, numbers of the shape hold the numbers of all versions: layouts of a class without `ClassDef` have
    /// versions in no order (`TStreamerInfo::BuildCheck`).
    pub(crate) fn align(&mut self) {
        self.versions.iter_mut().flat_map(|it| &mut it.steps).for_each(|step| step.widened = None);
        let Shape::Record(mut members) = self.shape() else { return };
        let members = &mut members;
        let others = if known::is_known(&self.name) { &[][..] } else { &self.versions[..] };
        for step in others.iter().skip(1).flat_map(|version| &version.steps) {
            if let Some((_, shape)) = members.iter_mut().find(|(name, _)| *name == step.name)
                && let Some(common) = shape.common(&step.node.shape())
            {
                *shape = common;
            }
        }
        let members = &*members;
        for version in &mut self.versions {
            let mut missing: Vec<usize> = (0..members.len()).collect();
            for step in &mut version.steps {
                step.target = members.iter().position(|(name, _)| *name == step.name);
                if let Some(wanted) = step.target.map(|index| &members[index].1) {
                    let own = step.node.shape();
                    let holds = own.common(wanted).is_some_and(|common| common == *wanted);
                    if own != *wanted && holds {
                        step.widened = Some(wanted.clone());
                    } else if own != *wanted {
                        version.conflict.get_or_insert_with(|| step.place.clone());
                    }
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

impl Step {
    /// Returns the numbers of a base class that is an array of numbers (`TArrayD` and its like). ROOT streams such a base
    /// class itself, but not in objects that are streamed member by member.
    pub(crate) fn base_array(&self) -> Option<&Node> {
        match &self.node {
            Node::Sequence(item) if self.base => Some(item),
            _ => None,
        }
    }

    /// Returns whether it is another base class that ROOT streams itself, but not in objects that are streamed member by
    /// member.
    pub(crate) fn is_own_base(&self) -> bool {
        use Node::{Collection, Symmetric, TRef, TRefArray};
        self.base && matches!(self.node, Collection(..) | Symmetric(_) | TRef | TRefArray)
    }

    /// Makes a member that is no base class.
    pub(crate) fn member(class: &str, name: &str, node: Node) -> Self {
        let (place, name) = (format!("{class}::{name}"), name.to_owned());
        Self { place, name, node, base: false, base_version: 0, target: None, widened: None }
    }
}

impl Version {
    /// Returns whether the class and its base classes have no members. If they are streamed member by member,
    /// such objects take no bytes.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.iter().all(|step| {
            let empty = |class: &Class| class.versions.iter().all(Self::is_empty);
            step.base && matches!(&step.node, Node::Object(class) if empty(class))
        })
    }
}

/// Returns the path of a member of the class or of a base class.
pub(in crate::streamer) fn find(members: &[(String, Shape)], name: &str) -> Option<Vec<usize>> {
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
