//! Finds how the sub-branches of a split branch form the objects of its class.
//!
//! ```text
//! split object       one sub-branch for each member; a base class or a member object that is split has
//!                    a branch with sub-branches of its own
//! split collection   one sub-branch for each member of the items, also for members of base classes and of
//!                    member objects, called `collection.object.member`
//! ```
//!
//! Every sub-branch records its member, by class and index in its streamer info. Sub-branches that are not members of
//! a class come last, under their own names. Source: `TBranchElement::Unroll`.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields};
use nyssa_root::distinct::Distinct;
use nyssa_root::streamer::Layouts;
use nyssa_root::streamer::info::{ClassInfo, Element};
use nyssa_root::type_name;

use super::{Branch, ClassName, CountSource, Split, SplitMember};

/// The largest depth of nested objects. A file with deeper objects is damaged.
const MAX_DEPTH: usize = 60;

/// A base class whose streamer writes nothing (`TQObject::Streamer`). Objects have no member for it.
const NOTHING: &str = "TQObject";

/// The member that a sub-branch holds.
pub(super) struct Child {
    /// The class of the member.
    pub class: String,
    /// The index of the member in the streamer info. It is negative if there is none.
    pub index: i64,
    /// Whether the sub-branch has neither leaves nor sub-branches, like the sub-branch of a class without members.
    pub empty: bool,
}

/// The state while sub-branches are assembled to objects.
pub(super) struct Assembly<'a> {
    pub layouts: &'a Layouts<'a>,
    pub branches: &'a [Branch],
    /// The member of each sub-branch.
    pub children: &'a [Child],
    /// Whether each sub-branch has been used.
    pub used: Vec<bool>,
}

impl Assembly<'_> {
    /// Returns the objects of `class`. If they are the items of a collection, `collection` has its type and its
    /// counter.
    pub(super) fn split(
        mut self,
        class: ClassName,
        collection: Option<(String, CountSource)>,
    ) -> Split {
        let mut split = self.object(class, "", 0);
        let members = split.members.iter().map(|(name, _)| name.clone());
        let mut names = Distinct::reserving(members);
        for (index, branch) in self.branches.iter().enumerate() {
            if !self.used[index] && !self.children[index].empty && !self.is_unfilled(index) {
                let own = strip_dimensions(&branch.name);
                let name = own.rsplit('.').find(|part| !part.is_empty()).unwrap_or(own);
                let taken = split.members.iter().any(|(member, _)| member == name);
                let name = names.give(if taken { own } else { name }, false);
                split.members.push((name, self.member(index)));
            }
        }
        split.data_type = data_type(self.branches, &split, collection.is_some());
        split.collection = collection;
        split
    }

    /// Returns whether a sub-branch was never filled although other sub-branches were. A copy of a tree has such
    /// sub-branches if they were not selected.
    fn is_unfilled(&self, index: usize) -> bool {
        let unfilled = |index: usize| is_unfilled(&self.branches[index]);
        let known = |index: usize| !self.children[index].empty;
        known(index) && unfilled(index) && (0..self.branches.len()).any(|other| !unfilled(other))
    }

    fn member(&self, index: usize) -> SplitMember {
        SplitMember::Branch(self.branches[index].path.clone())
    }

    /// Returns an object of a class. The names of its sub-branches are `prefix` and the name of the member.
    fn object(&mut self, class: ClassName, prefix: &str, depth: usize) -> Split {
        let mut members = Vec::new();
        let mut bases = 0;
        let elements = info(self.layouts, &class).map_or(&[][..], |info| &info.elements);
        for (index, element) in elements.iter().enumerate() {
            let base = element.class == "TStreamerBase" || element.is_container_base();
            let name = match (base, element.name.as_str()) {
                (true, _) => {
                    bases += 1;
                    format!(":_{}", bases - 1)
                }
                // The items of maps have the same names everywhere.
                (false, "first") if class.name.starts_with("pair<") => "_0".to_owned(),
                (false, "second") if class.name.starts_with("pair<") => "_1".to_owned(),
                (false, name) => name.to_owned(),
            };
            let path = format!("{prefix}{}", element.name);
            if let Some(place) = self.find(&class.name, index, base, &path) {
                self.used[place] = true;
                if self.is_unfilled(place) {
                    continue;
                }
                let member = if self.children[place].empty {
                    SplitMember::Inside(self.empty(element))
                } else {
                    self.member(place)
                };
                members.push((name, member));
            } else if depth < MAX_DEPTH && (base || is_object(element)) {
                let prefix = if base { prefix.to_owned() } else { format!("{path}.") };
                let class = class_of(self.layouts, element);
                let is_empty = has_no_members(self.layouts, &class, 0);
                let inside = self.object(class, &prefix, depth + 1);
                // A class without members has no sub-branches. Of other classes, none were stored.
                if is_empty || !inside.members.is_empty() {
                    members.push((name, SplitMember::Inside(inside)));
                }
            }
        }
        let mut split = Split { class, members, collection: None, data_type: Err(String::new()) };
        split.data_type = data_type(self.branches, &split, false);
        split
    }

    fn empty(&self, element: &Element) -> Split {
        let class = class_of(self.layouts, element);
        let data_type = Ok(DataType::Struct(Fields::empty()));
        Split { class, members: Vec::new(), collection: None, data_type }
    }

    /// Finds the sub-branch with a member of a class. The name distinguishes several objects of one class.
    fn find(&self, class: &str, index: usize, base: bool, path: &str) -> Option<usize> {
        let mut all = self.children.iter().zip(self.branches).enumerate();
        all.position(|(at, (child, branch))| {
            let name = strip_dimensions(&branch.name);
            let named = name == path || name.strip_suffix(path).is_some_and(|n| n.ends_with('.'));
            !self.used[at]
                && usize::try_from(child.index) == Ok(index)
                && same(&child.class, class)
                && (base || named)
        })
    }
}

/// Returns the Arrow type of the objects of a split branch, or the reason why one of its sub-branches cannot
/// be read.
pub(crate) fn data_type(
    branches: &[Branch],
    split: &Split,
    collection: bool,
) -> Result<DataType, String> {
    let fields =
        split.members.iter().map(|(name, member)| field(branches, name, member, collection));
    let record = DataType::Struct(fields.collect::<Result<Fields, String>>()?);
    Ok(match collection {
        true => DataType::LargeList(Arc::new(Field::new("item", record, false))),
        false => record,
    })
}

/// Returns the Arrow field of a member. In a collection, this is the field of one item.
fn field(
    branches: &[Branch],
    name: &str,
    member: &SplitMember,
    items: bool,
) -> Result<Field, String> {
    let path = match member {
        SplitMember::Inside(split) => {
            // The branches of an object in a collection belong to the same collection.
            let members = split.members.iter();
            let fields = members.map(|(name, member)| field(branches, name, member, items));
            let record = DataType::Struct(fields.collect::<Result<Fields, String>>()?);
            return Ok(Field::new(name, record, false));
        }
        SplitMember::Branch(path) => path,
    };
    let branch = branches.iter().find(|branch| branch.path == *path);
    let branch = branch.ok_or_else(|| format!("sub-branch {path} is missing"))?;
    let field = branch
        .arrow_field(name)
        .map_err(|reason| format!("sub-branch {path} cannot be read: {reason}"))?;
    match (items, field.data_type()) {
        (false, _) => Ok(field),
        (true, DataType::LargeList(item)) => Ok(item.as_ref().clone().with_name(name)),
        (true, _) => Err(format!("sub-branch {path} has one value for each entry")),
    }
}

fn is_unfilled(branch: &Branch) -> bool {
    match branch.branches.as_slice() {
        [] => branch.entries == branch.first_entry,
        // A split branch counts its entries even if it has no baskets.
        branches => branch.baskets.is_empty() && branches.iter().all(is_unfilled),
    }
}

/// Returns the streamer info of a class, by checksum or by version, or else the newest streamer info.
pub(super) fn info<'a>(layouts: &Layouts<'a>, class: &ClassName) -> Option<&'a ClassInfo> {
    let versions = layouts.versions(&class.name);
    let info = versions
        .iter()
        .find(|info| class.checksum != 0 && info.checksum == class.checksum)
        .or_else(|| versions.iter().find(|info| info.version == class.version))
        .or_else(|| versions.iter().max_by_key(|info| info.version));
    info.copied()
}

/// Returns the class of a base class or of a member object.
pub(super) fn class_of(layouts: &Layouts<'_>, element: &Element) -> ClassName {
    let name = match element.class.as_str() {
        "TStreamerBase" => element.name.as_str(),
        _ => element.type_name.trim_end_matches(['*', ' ']),
    };
    newest(layouts, name)
}

/// Returns whether the file describes a class that has no members, not even in its base classes.
fn has_no_members(layouts: &Layouts<'_>, class: &ClassName, depth: usize) -> bool {
    let is_empty = |element: &Element| {
        element.class == "TStreamerBase"
            && depth < MAX_DEPTH
            && has_no_members(layouts, &class_of(layouts, element), depth + 1)
    };
    let info = info(layouts, class).filter(|info| info.name != NOTHING);
    info.is_some_and(|info| info.elements.iter().all(is_empty))
}

/// Returns a class in its newest version.
pub(super) fn newest(layouts: &Layouts<'_>, name: &str) -> ClassName {
    let info = layouts.versions(name).into_iter().max_by_key(|info| info.version);
    ClassName {
        name: name.to_owned(),
        version: info.map_or(0, |info| info.version),
        checksum: info.map_or(0, |info| info.checksum),
    }
}

fn same(name: &str, other: &str) -> bool {
    name == other || type_name::normalize(name) == type_name::normalize(other)
}

/// Returns whether an element is an embedded object or a pointer to an object (`kObject`, `kAny`, `kObjectp`,
/// `kAnyp`, ...).
fn is_object(element: &Element) -> bool {
    matches!(element.code, 61..=64 | 66..=70)
}

/// Removes the dimensions of a name: `x[3][2]` becomes `x`.
fn strip_dimensions(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}
