//! Makes the branches of a class, with the names, the order and the split levels that ROOT gives them.
//!
//! ```text
//! level 0              jets                     whole objects or collections
//! split object         jet. ─► jet.pt, jet.p ─► jet.p.x, …          (fType 0 ─► 0, 2 ─► 0)
//! split collection     jets ─► jets.pt, jets.p.x, …                 (fType 4 ─► 41)
//! ```
//!
//! Each level of splitting opens one more level of member objects. A base class does not take a level in the items of a
//! collection. Source: `TTree::BronchExec`, `TBranchElement::Unroll`.

use std::sync::Arc;

use nyssa_root::error::{Result, ResultExt};
use nyssa_root::streamer::info::{ClassInfo, Element};
use nyssa_root::streamer::{Basic, Layouts, Member, ObjectLayout, StreamerInfos};

use super::class_members::{Members, full_name, is_container, item_class, leaf, member, top};
use super::element::{ElementForm, ElementKind, LeafElement, OBJECTS};
use super::form::{BranchForm, Content};
use super::leaf_form::LeafForm;
use crate::stored::NO_REFERENCES;

/// The number of a top branch that is not split, or that is a split collection.
const TOP: i64 = -1;
/// The number of a top branch of a split object.
const SPLIT_TOP: i64 = -2;

/// The values that the branches of a class take from a column.
#[derive(Clone, Debug)]
pub(super) enum ClassShape {
    /// They are the values of a branch.
    Value(usize),
    /// Members of the record, by name.
    Record(Vec<(String, Self)>),
    /// Items of lists, whose numbers fill a branch.
    Items(usize, Box<Self>),
}

impl ClassShape {
    /// Returns the shape for branches whose numbers are higher by `by`.
    pub(super) fn moved(self, by: usize) -> Self {
        match self {
            Self::Value(at) => Self::Value(at + by),
            Self::Record(members) => {
                let moved = |(name, shape): (String, Self)| (name, shape.moved(by));
                Self::Record(members.into_iter().map(moved).collect())
            }
            Self::Items(at, item) => Self::Items(at + by, Box::new(item.moved(by))),
        }
    }
}

/// The branches of a column, and how they are filled.
pub(super) struct Unrolled {
    pub branches: Vec<BranchForm>,
    pub shape: ClassShape,
    /// The layout of the whole values, which gives the type of the column.
    pub layout: Arc<ObjectLayout>,
}

/// Returns the branches of a column `name` of the type `type_name`, as ROOT spells it. They are numbered from `first`.
///
/// # Errors
/// `Unsupported` for types that cannot be streamed.
pub(super) fn unroll(
    infos: &StreamerInfos,
    (name, type_name): (&str, &str),
    level: u32,
    first: usize,
) -> Result<Unrolled> {
    let mut layouts = Layouts::new(infos);
    let info = infos.class(type_name, None).filter(|_| !is_container(type_name));
    let layout = Arc::new(layout_of(&mut layouts, type_name)?);
    let mut unroller = Unroller { infos, layouts, first, branches: Vec::new() };
    let shape = match (info, item_class(infos, type_name)) {
        (Some(info), _) if level > 0 => unroller.split_object(name, info, level)?,
        (None, Some(item)) if level > 0 => {
            unroller.split_collection(name, type_name, item, level)?
        }
        _ => unroller.whole(name, type_name, info, &layout, level),
    };
    Ok(Unrolled { branches: unroller.branches, shape, layout })
}

/// Returns the layout of the values of a type, as ROOT spells it.
///
/// # Errors
/// `Unsupported` for types that cannot be streamed.
pub(super) fn layout_of(layouts: &mut Layouts<'_>, type_name: &str) -> Result<ObjectLayout> {
    let info =
        if is_container(type_name) { None } else { layouts.versions(type_name).first().copied() };
    layouts.whole(type_name, info.map(|info| (info.version, info.checksum)))
}

/// The place of a branch of a member.
#[derive(Clone, Copy)]
struct Place<'p> {
    mother: usize,
    /// The class of the objects around the member.
    parent: &'p str,
    level: u32,
    /// The rule for the names of the members of a base class.
    bases: Bases,
}

impl<'p> Place<'p> {
    /// Returns the branch above, the class around it, and the level.
    fn around(self) -> (usize, &'p str, u32) {
        (self.mother, self.parent, self.level)
    }
}

/// The names of the members of a base class.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bases {
    /// A top branch without a dot, and its base classes: `b`.
    Bare,
    /// A top branch with a dot: `jet.Base.b`.
    Dotted,
    /// An object inside another: `p.b` for the branch `p.Base`.
    Inner,
}

struct Unroller<'i> {
    infos: &'i StreamerInfos,
    layouts: Layouts<'i>,
    first: usize,
    branches: Vec<BranchForm>,
}

impl<'i> Unroller<'i> {
    /// Adds a branch. Returns its number.
    fn add(
        &mut self,
        name: &str,
        content: Content,
        counter: Option<usize>,
        element: ElementForm,
    ) -> usize {
        let element = Some(Box::new(element));
        self.branches.push(BranchForm {
            name: name.to_owned(),
            content,
            counter,
            counter_leaf: 0,
            string_class: None,
            leaf: None,
            element,
            offsets: None,
            process: None,
        });
        self.first + self.branches.len() - 1
    }

    /// Adds a branch of whole values.
    fn whole(
        &mut self,
        name: &str,
        type_name: &str,
        info: Option<&ClassInfo>,
        layout: &Arc<ObjectLayout>,
        level: u32,
    ) -> ClassShape {
        let element = ElementForm {
            // A container states the level although nothing in it is split.
            split_level: if info.is_none() { level } else { 0 },
            bits: OBJECTS,
            leaf: Some(leaf(name, name)),
            ..top(name, type_name, info, TOP)
        };
        ClassShape::Value(self.add(name, Content::Objects(Arc::clone(layout)), None, element))
    }

    /// Adds a branch of objects with a branch for each member.
    fn split_object(&mut self, name: &str, info: &'i ClassInfo, level: u32) -> Result<ClassShape> {
        let element = ElementForm {
            split_level: level,
            bits: OBJECTS | NO_REFERENCES,
            leaf: Some(leaf(name, name)),
            ..top(name, &info.name, Some(info), SPLIT_TOP)
        };
        let mother = self.add(name, Content::Nothing, None, element);
        let dotted = name.ends_with('.');
        let bases = if dotted { Bases::Dotted } else { Bases::Bare };
        let place = Place { mother, parent: &info.name, level: level - 1, bases };
        let prefix = if dotted { name } else { "" };
        self.members(info, |unroller, index, element| {
            let own = format!("{prefix}{}", full_name(element));
            unroller.first_level(&own, info, index, place)
        })
    }

    /// Adds a branch of the numbers of items, with a branch for each member of the items.
    fn split_collection(
        &mut self,
        name: &str,
        type_name: &str,
        item: &'i ClassInfo,
        level: u32,
    ) -> Result<ClassShape> {
        let top = top(name, type_name, None, TOP);
        let element = ElementForm { bits: OBJECTS | NO_REFERENCES, ..top };
        self.collection(name, element, item, level)
    }

    /// Adds the branches of a collection. `element` describes its top branch.
    fn collection(
        &mut self,
        name: &str,
        element: ElementForm,
        item: &'i ClassInfo,
        level: u32,
    ) -> Result<ClassShape> {
        let counter_name = format!("{name}_");
        let is_range = element.mother.is_some();
        let element = ElementForm {
            kind: ElementKind::Collection,
            title: counter_name.clone(),
            clones: item.name.clone(),
            split_level: level,
            leaf: Some(LeafElement { is_range, ..leaf(&counter_name, &counter_name) }),
            ..element
        };
        let counter = self.add(name, Content::Items, None, element);
        let shape = self.items(name, item, level, (&item.name, counter, &counter_name))?;
        Ok(ClassShape::Items(counter, Box::new(shape)))
    }

    /// Returns the shape of an object, whose members `each` adds.
    fn members(
        &mut self,
        info: &'i ClassInfo,
        mut each: impl FnMut(&mut Self, usize, &'i Element) -> Result<ClassShape>,
    ) -> Result<ClassShape> {
        let (mut members, mut bases) = (Vec::new(), 0);
        let pair = info.name.starts_with("pair<");
        for (index, element) in info.elements.iter().enumerate() {
            let name = match (element.class.as_str(), element.name.as_str()) {
                ("TStreamerBase", _) => {
                    bases += 1;
                    format!(":_{}", bases - 1)
                }
                (_, "first") if pair => "_0".to_owned(),
                (_, "second") if pair => "_1".to_owned(),
                (_, name) => name.to_owned(),
            };
            let shape = each(self, index, element);
            members.push((name, shape.in_field(&element.name)?));
        }
        Ok(ClassShape::Record(members))
    }

    /// Adds the branch of a member of a top branch, or of a base class.
    fn first_level(
        &mut self,
        name: &str,
        info: &'i ClassInfo,
        index: usize,
        place: Place<'_>,
    ) -> Result<ClassShape> {
        let element = &info.elements[index];
        let form = member(self.infos, name, (info, index), place.around());
        let inner = |mother, parent, bases| Place { mother, parent, level: place.level, bases };
        match Members::of(self.infos, element) {
            Members::Base(base) if place.level > 0 => {
                let form =
                    ElementForm { kind: ElementKind::Base, has_offsets: true, leaf: None, ..form };
                let mother = self.add(name, Content::Nothing, None, form);
                let (prefix, parent) = match place.bases {
                    Bases::Bare => ("", info.name.as_str()),
                    Bases::Dotted => (name, base.name.as_str()),
                    Bases::Inner => {
                        (name.rsplit_once('.').map_or("", |(outer, _)| outer), base.name.as_str())
                    }
                };
                let bases = if prefix.is_empty() { Bases::Bare } else { Bases::Inner };
                self.nested(prefix, base, inner(mother, parent, bases))
            }
            Members::Object(class) if place.level > 0 => {
                let form = ElementForm {
                    kind: ElementKind::Object,
                    has_offsets: true,
                    leaf: None,
                    ..form
                };
                let mother = self.add(name, Content::Nothing, None, form);
                self.nested(name, class, inner(mother, &class.name, Bases::Inner))
            }
            Members::Collection(item) if place.level > 0 => {
                self.collection(name, form, item, place.level)
            }
            _ => self.value(name, form, info, index, None),
        }
    }

    /// Adds the branches of the members of an object inside another.
    fn nested(
        &mut self,
        prefix: &str,
        info: &'i ClassInfo,
        place: Place<'_>,
    ) -> Result<ClassShape> {
        self.members(info, |unroller, index, element| {
            let name = join(prefix, &full_name(element));
            match Members::of(unroller.infos, element) {
                Members::Base(_) => unroller.first_level(&name, info, index, place),
                Members::Object(class) if place.level > 1 => {
                    let (level, bases) = (place.level - 1, Bases::Inner);
                    unroller.nested(&name, class, Place { level, bases, ..place })
                }
                Members::Collection(_) if place.level > 1 => {
                    let place = Place { level: place.level - 1, ..place };
                    unroller.first_level(&name, info, index, place)
                }
                _ => unroller.first_level(&name, info, index, Place { level: 0, ..place }),
            }
        })
    }

    /// Adds the branches of the members of the items of a collection, which the branch `counter` counts by its leaf.
    fn items(
        &mut self,
        prefix: &str,
        info: &'i ClassInfo,
        level: u32,
        owner: (&str, usize, &str),
    ) -> Result<ClassShape> {
        let (parent, counter, counter_leaf) = owner;
        self.members(info, |unroller, index, element| {
            let name = join(prefix, &full_name(element));
            match Members::of(unroller.infos, element) {
                Members::Base(base) => unroller.items(prefix, base, level, owner),
                Members::Object(class) if level > 1 => {
                    unroller.items(&name, class, level - 1, owner)
                }
                _ => {
                    let form = member(unroller.infos, &name, (info, index), (counter, parent, 0));
                    let title = format!("{}[{counter_leaf}]", element.name);
                    let leaf = form.leaf.map(|leaf| LeafElement {
                        name: join(prefix, &element.name),
                        title: title.clone(),
                        ..leaf
                    });
                    let form = ElementForm {
                        kind: ElementKind::Items,
                        title,
                        bits: form.bits | NO_REFERENCES,
                        has_offsets: true,
                        leaf,
                        ..form
                    };
                    unroller.value(&name, form, info, index, Some(counter))
                }
            }
        })
    }

    /// Adds the branch of one member, which is not split.
    fn value(
        &mut self,
        name: &str,
        form: ElementForm,
        info: &ClassInfo,
        index: usize,
        counter: Option<usize>,
    ) -> Result<ClassShape> {
        let (class, version, checksum) = (info.name.as_str(), info.version, info.checksum);
        let layout = self.layouts.member(Member { class, version, checksum, index })?;
        let plain = match layout.numbers() {
            Some((Basic::Plain(number), dimensions))
                if counter.is_some() || dimensions.is_empty() =>
            {
                Some(LeafForm::new(name, number, dimensions.to_vec()))
            }
            _ => None,
        };
        let content = match plain {
            Some(leaf) => Content::Leaves(vec![leaf]),
            None => Content::Objects(Arc::new(layout)),
        };
        Ok(ClassShape::Value(self.add(name, content, counter, form)))
    }
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}
