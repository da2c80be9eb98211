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

use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::streamer::info::{ClassInfo, Element, ElementForm as Streaming};
use nyssa_root::streamer::{Basic, Declarations, Layouts, Member, ObjectLayout, StreamerInfos};

use super::element::{ElementForm, ElementKind, LeafElement, NO_REFERENCES, OBJECTS};
use super::form::{BranchForm, Content, LeafForm};
use super::vector::CLASS_VERSION;

/// The type code of containers and strings in branches (`ROOT::kSTLany`).
const CONTAINER: i64 = 300;
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
    let info = infos.class(type_name, None);
    let version = info.map(|info| (info.version, info.checksum));
    let layout = Arc::new(layouts.whole(type_name, version)?);
    let mut unroller = Unroller { infos, layouts, first, branches: Vec::new() };
    let shape = match (info, item_class(infos, type_name)) {
        (Some(info), _) if level > 0 => unroller.split_object(name, info, level)?,
        (None, Some(item)) if level > 0 => {
            unroller.split_collection(name, type_name, item, level)?
        }
        _ => unroller.whole(name, type_name, info, &layout),
    };
    Ok(Unrolled { branches: unroller.branches, shape, layout })
}

/// Returns the class of the items of a container, if they are objects or the pairs of a map.
fn item_class<'i>(infos: &'i StreamerInfos, type_name: &str) -> Option<&'i ClassInfo> {
    let (template, rest) = type_name.split_once('<')?;
    let inside = rest.strip_suffix('>')?.trim_end();
    match template.ends_with("map") {
        true => {
            let space = if inside.ends_with('>') { " " } else { "" };
            infos.class(&format!("pair<{inside}{space}>"), None)
        }
        false if template == "pair" => None,
        false => infos.class(inside, None),
    }
}

/// The place of a branch of a member.
#[derive(Clone, Copy)]
struct Place<'p> {
    mother: usize,
    /// The class of the objects around the member.
    parent: &'p str,
    level: u32,
    /// How the members of a base class are called.
    bases: Bases,
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
            string_class: None,
            leaf: None,
            element,
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
    ) -> ClassShape {
        let element = ElementForm {
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
        let form = self.form(name, info, index, place);
        let inner = |mother, parent, bases| Place { mother, parent, level: place.level, bases };
        match self.kind(element) {
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
            match unroller.kind(element) {
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
            match unroller.kind(element) {
                Members::Base(base) => unroller.items(prefix, base, level, owner),
                Members::Object(class) if level > 1 => {
                    unroller.items(&name, class, level - 1, owner)
                }
                _ => {
                    let place = Place { mother: counter, parent, level: 0, bases: Bases::Inner };
                    let form = unroller.form(&name, info, index, place);
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
                let dimensions = dimensions.to_vec();
                Some(LeafForm { name: name.to_owned(), number, dimensions, packed: None })
            }
            _ => None,
        };
        let content = match plain {
            Some(leaf) => Content::Leaves(vec![leaf]),
            None => Content::Objects(Arc::new(layout)),
        };
        Ok(ClassShape::Value(self.add(name, content, counter, form)))
    }

    /// Describes the branch of a member.
    fn form(&self, name: &str, info: &ClassInfo, index: usize, place: Place<'_>) -> ElementForm {
        let element = &info.elements[index];
        let number = match element.form() {
            Streaming::Number(basic) | Streaming::Numbers(basic) => Some(basic),
            _ => None,
        };
        let code = match element.form() {
            Streaming::Container => CONTAINER,
            _ => element.code.into(),
        };
        let (splits, objects) = match self.kind(element) {
            Members::Object(_) | Members::Collection(_) => (place.level > 0, place.level == 0),
            Members::Objects => (false, true),
            Members::None | Members::Base(_) => (false, false),
        };
        // Numbers and base classes state the level of their object, although it has no meaning for numbers.
        let stated = splits || number.is_some() || element.class == "TStreamerBase";
        let plain = element.name.as_str();
        let leaf_name = match name.rsplit_once(plain) {
            Some((before, _)) if element.array_length > 0 => format!("{before}{plain}"),
            _ => name.to_owned(),
        };
        let fixed = number.is_some() && element.array_length == 0;
        ElementForm {
            mother: Some(place.mother),
            kind: ElementKind::Value,
            title: name.to_owned(),
            class: info.name.clone(),
            parent: place.parent.to_owned(),
            clones: String::new(),
            version: info.version,
            checksum: info.checksum,
            id: index as i64,
            code,
            split_level: if stated { place.level } else { 0 },
            bits: if objects { OBJECTS } else { NO_REFERENCES },
            has_offsets: !fixed,
            leaf: Some(LeafElement {
                len: i64::from(element.array_length.max(1)),
                len_type: number.map_or(0, |basic| size(basic, element.code)),
                is_unsigned: element.type_name.starts_with("unsigned")
                    || element.type_name == "ULong64_t",
                ..leaf(&leaf_name, name)
            }),
        }
    }

    /// Returns the members that a branch could be split into.
    fn kind(&self, element: &Element) -> Members<'i> {
        let class = |name: &str| self.infos.class(name, None);
        match (element.class.as_str(), element.array_length) {
            ("TStreamerBase", _) => class(&element.name).map_or(Members::None, Members::Base),
            ("TStreamerObjectAny", 0) => {
                class(&element.type_name).map_or(Members::None, Members::Object)
            }
            ("TStreamerObjectAny", _) => Members::Objects,
            ("TStreamerSTL", _) => match item_class(self.infos, &element.type_name) {
                Some(item) => Members::Collection(item),
                None if has_class(self.infos, &element.type_name) => Members::Objects,
                None => Members::None,
            },
            _ => Members::None,
        }
    }
}

/// The members that a branch could be split into.
enum Members<'i> {
    /// There are none.
    None,
    /// A base class.
    Base(&'i ClassInfo),
    /// A member object.
    Object(&'i ClassInfo),
    /// The items of a collection.
    Collection(&'i ClassInfo),
    /// Objects that are never split: in arrays, or in collections of collections.
    Objects,
}

/// Returns whether a class is somewhere in the name of a type.
fn has_class(infos: &StreamerInfos, type_name: &str) -> bool {
    let words = type_name.split(['<', '>', ',']).map(str::trim);
    words.into_iter().any(|word| infos.class(word, None).is_some())
}

/// Describes a top branch.
fn top(name: &str, type_name: &str, info: Option<&ClassInfo>, id: i64) -> ElementForm {
    let container = || Declarations::checksum_of_name(type_name);
    ElementForm {
        mother: None,
        kind: ElementKind::Value,
        title: name.to_owned(),
        class: type_name.to_owned(),
        parent: String::new(),
        clones: String::new(),
        version: info.map_or(CLASS_VERSION as i32, |info| info.version),
        checksum: info.map_or_else(container, |info| info.checksum),
        id,
        code: -1,
        split_level: 0,
        bits: 0,
        has_offsets: true,
        leaf: None,
    }
}

fn leaf(name: &str, title: &str) -> LeafElement {
    LeafElement {
        name: name.to_owned(),
        title: title.to_owned(),
        len: 1,
        len_type: 0,
        is_unsigned: false,
        is_range: false,
    }
}

/// Returns the size of a number that its leaf states, in bytes.
fn size(basic: Basic, code: i32) -> i64 {
    /// The type code of a `Float16_t`, without and with an array.
    const FLOAT16: [i32; 2] = [19, 39];
    match basic {
        _ if FLOAT16.contains(&code) => 2,
        Basic::Plain(number) => number.size() as i64,
        _ => 4,
    }
}

/// Returns the name of a member with its dimensions.
fn full_name(element: &Element) -> String {
    let sizes = element.dimensions.iter().filter(|_| element.array_length > 0);
    let sizes: String = sizes.map(|size| format!("[{size}]")).collect();
    format!("{}{sizes}", element.name)
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}

/// Checks that a split level is one that ROOT knows.
///
/// # Errors
/// `InvalidArgument` for other levels.
pub(super) fn check_level(level: u32) -> Result<()> {
    match level {
        0..=99 => Ok(()),
        _ => Err(Error::invalid_argument(format!("a split level is 0 to 99, not {level}"))),
    }
}
