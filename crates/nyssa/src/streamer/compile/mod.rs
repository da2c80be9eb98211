//! Streamer info → nodes.

mod builtin;
mod leaves;
mod pointer;

use std::collections::{BTreeSet, HashMap};

use builtin::BUILTINS;
pub(super) use builtin::{KNOWN, by_heart};
pub(super) use pointer::T_ARRAYS;

use super::branch::Member;
use super::class::{Class, Step, Version};
use super::node::{Counted, Node, Pair};
use super::shape::Number;
use crate::error::{Error, Kind, Result, ResultExt};
use crate::rootfile::object::{Basic, ClassId, Item};
use crate::rootfile::{ClassInfo, Element, StreamerInfos};
use crate::schema::type_name;

/// Added to a type code for arrays (`kOffsetL`).
const ARRAY: i32 = 20;
/// Added to a type code for counted pointers (`kOffsetP`).
const COUNTED: i32 = 40;
/// The code of `int`, and those of unsigned numbers.
const INT: i32 = 3;
const UNSIGNED: std::ops::RangeInclusive<i32> = 11..=17;
/// Objects behind a pointer with a counter (`kStreamLoop`).
const LOOP: i32 = 501;
/// Members that a class may have in all, with those of the classes in it.
const MAX_NODES: usize = 20_000;
/// Classes inside classes deeper than this are refused.
const MAX_DEPTH: usize = 60;
/// Elements of a fixed array beyond which it is taken for a damaged file.
const MAX_ARRAY: usize = 1 << 24;
/// A base class whose streamer writes nothing (`TQObject::Streamer`).
const NOTHING: &str = "TQObject";
/// The only member of a class that is a collection.
const THIS: &str = "This";
/// Items of a class in a container of a streamer info, as ROOT leaves it for enums without dictionary.
const NO_CLASS: i32 = 0;
/// The class that every object of ROOT's own collections has as a base.
const T_OBJECT: &str = "TObject";

/// Makes nodes of the classes of one file.
pub(super) struct Compiler<'a> {
    classes: HashMap<&'a str, Vec<&'a ClassInfo>>,
    /// Class names in normal form, to the name that the file uses.
    normal: HashMap<String, &'a str>,
    order: Vec<&'a str>,
    /// Enums that are members or items, in normal form, to the code of numbers of their type.
    enums: HashMap<String, i32>,
    /// The classes being compiled, outermost first.
    stack: Vec<String>,
    /// The classes that pointers lead to, where that is known.
    met: Option<&'a BTreeSet<String>>,
    /// Unions of all classes that the one being compiled is in.
    anys: usize,
    nodes: usize,
    /// As `nodes`, with those of classes that were given up.
    effort: usize,
}

impl<'a> Compiler<'a> {
    /// For the classes that `infos` describe.
    pub fn new(infos: &'a StreamerInfos) -> Self {
        let mut classes: HashMap<&str, Vec<&ClassInfo>> = HashMap::new();
        let mut normal = HashMap::new();
        let mut order = Vec::new();
        for info in infos.classes() {
            let known = classes.entry(&info.name).or_default();
            if known.is_empty() {
                normal.insert(type_name::normalize(&info.name), &*info.name);
                order.push(&*info.name);
            }
            known.push(info);
        }
        let elements = infos.classes().iter().flat_map(|info| &info.elements);
        let mut enums = HashMap::new();
        for (name, code) in elements.filter_map(enumerated) {
            // Members of any enum have the code of `int`.
            let known = enums.entry(name).or_insert(code);
            *known = if *known == INT { code } else { *known };
        }
        Self {
            classes,
            normal,
            order,
            enums,
            stack: Vec::new(),
            met: None,
            anys: 0,
            nodes: 0,
            effort: 0,
        }
    }

    /// For another class, with nothing counted yet.
    pub fn fresh(&mut self) -> &mut Self {
        self.stack.clear();
        (self.anys, self.nodes, self.effort) = (0, 0, 0);
        self
    }

    /// For objects in which pointers lead to no classes but these.
    pub fn met(mut self, classes: &'a BTreeSet<String>) -> Self {
        self.met = Some(classes);
        self
    }

    /// The node of the first class of `names` that is known. Containers that are no members have no
    /// header, whatever the file says of them.
    pub fn root(&mut self, names: &[&str]) -> Result<Node> {
        let known = names.iter().find(|name| self.find(name).is_some());
        let name = known.or(names.first()).copied().unwrap_or_default();
        if is_container(name) {
            let (item, names) = parse(name);
            return self.item(item.as_ref(), &names);
        }
        self.class(name)
    }

    /// What a branch holds as a whole: a class, in a given version without a header, a container or a
    /// string.
    pub fn whole(&mut self, type_name: &str, version: Option<(i32, u32)>) -> Result<Node> {
        let (item, names) = parse(type_name);
        match &item {
            Some(Item::Text) => Ok(Node::Text),
            None | Some(Item::Object(_) | Item::Pair(..) | Item::RootText | Item::Pointer(_)) => {
                match (self.class(type_name)?, version) {
                    (Node::Object(class), Some(version)) => members(class, version),
                    (node, _) => Ok(node),
                }
            }
            Some(item) => Ok(Node::Container(Box::new(self.item(Some(item), &names)?), None)),
        }
    }

    /// One member of a class.
    pub fn element(&mut self, member: Member<'_>) -> Result<Node> {
        let Member { class, version, checksum, index } = member;
        let no_info =
            || Error::unsupported(format!("the file has no streamer info of class {class}"));
        let name = self.find(class).ok_or_else(no_info)?;
        let infos = self.classes.get(name).map_or(&[][..], Vec::as_slice);
        let found = infos
            .iter()
            .find(|info| info.checksum == checksum && checksum != 0)
            .or_else(|| infos.iter().find(|info| info.version == version));
        let info = *found.ok_or_else(|| {
            Error::unsupported(format!(
                "the file has no streamer info of version {version} of {class}"
            ))
        })?;
        let element = info.elements.get(index).ok_or_else(|| {
            Error::out_of_spec(format!(
                "class {class} has no member {index}, only {}",
                info.elements.len()
            ))
        })?;
        self.stack.push(name.to_owned());
        let node = match element.class.as_str() {
            "TStreamerBase" => self.class(&element.name),
            _ => self.member(element),
        };
        self.stack.pop();
        node.in_field(&format!("{class}::{}", element.name))
    }

    /// The file's name of a class it describes.
    fn find(&self, name: &str) -> Option<&'a str> {
        let exact = self.classes.get_key_value(name).map(|(name, _)| *name);
        exact.or_else(|| self.normal.get(&type_name::normalize(name)).copied())
    }

    /// Whether there is anything to say about a class.
    fn knows(&self, name: &str) -> bool {
        BUILTINS.contains(&name)
            || name.starts_with("TArray")
            || self.find(name).is_some()
            || by_heart(name).is_some()
            || is_container(name)
    }

    /// An object of a class, embedded or behind a tag.
    fn class(&mut self, name: &str) -> Result<Node> {
        let name = name.trim();
        let name = name.strip_prefix("const ").unwrap_or(name);
        self.nodes += 1;
        self.effort += 1;
        if self.nodes > MAX_NODES || self.stack.len() > MAX_DEPTH {
            return Err(Error::unsupported(format!(
                "class {} is nested too deep or has too many members",
                self.stack.first().map_or(name, String::as_str)
            )));
        }
        if let Some(node) = self.builtin(name)? {
            return Ok(node);
        }
        if name.starts_with("pair<") || name.starts_with("std::pair<") {
            let (item, names) = parse(name);
            if let Some(Item::Pair(first, second)) = item {
                return Ok(Node::Object(Box::new(self.pair(name, &first, &second, &names)?)));
            }
        }
        let Some(name) = self.find(name) else {
            // A container that is no member, or one of old, has no header.
            if is_container(name) {
                let (item, names) = parse(name);
                return self.item(item.as_ref(), &names);
            }
            let infos = by_heart(name).ok_or_else(|| {
                Error::unsupported(format!("the file has no streamer info of class {name}"))
            })?;
            return self.described(name, infos.iter().collect());
        };
        let infos = self.classes.get(name).cloned().unwrap_or_default();
        self.described(name, infos)
    }

    /// A class by its streamer infos.
    fn described(&mut self, name: &str, infos: Vec<&ClassInfo>) -> Result<Node> {
        if self.stack.iter().any(|outer| outer == name) {
            return Err(Error::unsupported(format!("class {name} holds itself")));
        }
        self.stack.push(name.to_owned());
        let node = match infos.first().map(|info| info.elements.as_slice()) {
            // Of a class that is a collection nothing else is told.
            Some([this]) if this.name == THIS => self.member(this),
            _ => self.versions(name, infos).map(|class| Node::Object(Box::new(class))),
        };
        self.stack.pop();
        node
    }

    fn versions(&mut self, name: &str, mut infos: Vec<&ClassInfo>) -> Result<Class> {
        infos.sort_by_key(|info| std::cmp::Reverse(info.version));
        infos.dedup_by_key(|info| (info.version, info.checksum));
        let mut versions: Vec<Version> = Vec::new();
        for info in infos {
            match self.version(info) {
                Ok(version) => versions.push(version),
                // An old version that cannot be read matters only where it is met.
                Err(error) if !versions.is_empty() && error.kind() == Kind::Unsupported => versions
                    .push(Version {
                        version: info.version,
                        checksum: info.checksum,
                        steps: Vec::new(),
                        missing: Vec::new(),
                        conflict: Some(format!("a member ({error})")),
                    }),
                Err(error) => return Err(error),
            }
        }
        let mut class = Class { name: name.into(), versions, fixed: false };
        class.align();
        Ok(class)
    }

    fn version(&mut self, info: &ClassInfo) -> Result<Version> {
        let mut steps = Vec::new();
        let mut bases = 0;
        for element in &info.elements {
            let place = format!("{}::{}", info.name, element.name);
            let base = element.class == "TStreamerBase";
            let first = base || element.is_container_base();
            let name = if first { format!(":_{bases}") } else { element.name.clone() };
            bases += usize::from(first);
            if base && element.name == NOTHING {
                continue;
            }
            let node = if base { self.class(&element.name) } else { self.member(element) };
            let node = node.in_field(&place)?;
            let base_version = element.base_version;
            steps.push(Step { place, name, node, base, base_version, target: None });
        }
        Ok(Version {
            version: info.version,
            checksum: info.checksum,
            steps,
            missing: Vec::new(),
            conflict: None,
        })
    }

    /// A member that is no base class.
    fn member(&mut self, element: &Element) -> Result<Node> {
        self.nodes += 1;
        self.effort += 1;
        let dimensions = dimensions(element)?;
        let array = |node: Node, dimensions: Option<Vec<usize>>| match dimensions {
            None => node,
            Some(dimensions) => Node::Array(dimensions, Box::new(node)),
        };
        if element.class.starts_with("TStreamerSTL") {
            return self.container(element, dimensions);
        }
        let code = element.code;
        if let Some(basic) = Basic::from_code(code, &element.title) {
            return Ok(Node::Number(basic, number(basic, code)));
        }
        let basic = |offset: i32| Basic::from_code(code - offset, &element.title);
        if (ARRAY + 1..COUNTED).contains(&code)
            && let Some(basic) = basic(ARRAY)
        {
            let node = Node::Number(basic, number(basic, code - ARRAY));
            return Ok(array(node, dimensions));
        }
        if (COUNTED + 1..COUNTED + ARRAY).contains(&code)
            && let Some(basic) = basic(COUNTED)
        {
            return Ok(Node::Counted(Counted {
                name: element.count_name.clone(),
                counter: Vec::new(),
                dimensions: dimensions.unwrap_or_default(),
                item: Box::new(Node::Number(basic, number(basic, code - COUNTED))),
                objects: false,
                bare: false,
            }));
        }
        let class = element.type_name.trim_end_matches('*').trim();
        if code == LOOP || code == LOOP + ARRAY {
            let item = match element.type_name.trim_end().ends_with("**") {
                true => self.item_pointer(class)?,
                false => self.class(class)?,
            };
            return Ok(Node::Counted(Counted {
                name: element.count_name.clone(),
                counter: Vec::new(),
                dimensions: dimensions.unwrap_or_default(),
                item: Box::new(item),
                objects: true,
                bare: false,
            }));
        }
        // Arrays of `TString`, `TObject` and `TNamed` have a version header, as containers have.
        if let (85..=87, Some(dimensions)) = (code, &dimensions) {
            let item = if code == 85 { Node::Text } else { self.class(class)? };
            return Ok(Node::Container(Box::new(item), Some(dimensions.clone())));
        }
        // Arrays of pointers have the code of one.
        let code = if (81..=90).contains(&code) { code - ARRAY } else { code };
        let node = match code {
            7 => Node::CString,
            65 => Node::Text,
            61..=63 | 66..=68 => self.class(class)?,
            64 | 69 | 70 => self.pointer(class)?,
            _ => return Err(refused(element)),
        };
        Ok(array(node, dimensions))
    }

    /// A standard container or string, or a pointer to one, as a member.
    fn container(&mut self, element: &Element, dimensions: Option<Vec<usize>>) -> Result<Node> {
        let (mut item, mut names) = parse(element.type_name.trim_end_matches('*'));
        if element.name == THIS
            && matches!(item, Some(Item::Object(_)))
            && let Some(items) = items_of_collection(element)
        {
            (item, names) = parse(&items);
        }
        if item.as_ref().is_some_and(|item| self.holds_itself(item, &names)) {
            return match dimensions {
                None => Ok(Node::Opaque(item.and_then(|item| only_class(&item, &names)))),
                Some(_) => Err(refused(element)),
            };
        }
        let content = match self.content(item.as_ref(), &names) {
            Ok(content) => content,
            // Items that are collections of such items have no end as a type.
            Err(_) if element.name == THIS && dimensions.is_none() => {
                return Ok(Node::Opaque(item.and_then(|item| only_class(&item, &names))));
            }
            Err(error) => return Err(error),
        };
        if item.is_none_or(|item| matches!(item, Item::Object(_))) {
            return Err(refused(element));
        }
        Ok(Node::Container(Box::new(content), dimensions))
    }

    /// Whether a container has items of a class that is being compiled, which have no end as a type.
    fn holds_itself(&self, item: &Item, names: &[String]) -> bool {
        match item {
            Item::Object(class) => {
                let name = names.get(class.0 as usize).and_then(|name| self.find(name));
                name.is_some_and(|name| self.stack.iter().any(|outer| outer == name))
            }
            Item::Sequence(inner) => self.holds_itself(inner, names),
            Item::Pair(first, second) | Item::Map(first, second) => {
                self.holds_itself(first, names) || self.holds_itself(second, names)
            }
            _ => false,
        }
    }

    /// What a member holds that is a container.
    fn content(&mut self, item: Option<&Item>, names: &[String]) -> Result<Node> {
        let Some(Item::Sequence(inner)) = item else { return self.item(item, names) };
        match self.enum_code(inner, names) {
            // Whatever their type, enums in a member's own container take 32 bits.
            Some(code) => {
                let basic = if UNSIGNED.contains(&code) { Basic::U32 } else { Basic::I32 };
                Ok(Node::Sequence(Box::new(Node::Number(basic, number(basic, 0)))))
            }
            None => self.item(item, names),
        }
    }

    /// The code of numbers of an enum's type; `None` for what is no enum.
    fn enum_code(&self, item: &Item, names: &[String]) -> Option<i32> {
        let Item::Object(class) = item else { return None };
        let name = names.get(class.0 as usize).filter(|name| !self.knows(name))?;
        self.enums.get(&type_name::normalize(name)).copied()
    }

    /// Something in a container.
    fn item(&mut self, item: Option<&Item>, names: &[String]) -> Result<Node> {
        self.nodes += 1;
        let name = |id: &ClassId| names.get(id.0 as usize).map_or("", String::as_str);
        Ok(match item {
            None => return Err(Error::unsupported("a container that nyssa does not know")),
            Some(Item::Basic(basic)) => Node::Number(*basic, number(*basic, 0)),
            Some(Item::Text | Item::RootText) => Node::Text,
            Some(item @ Item::Object(class)) if !self.knows(name(class)) => {
                match self.enum_code(item, names).and_then(|code| Basic::from_code(code, "")) {
                    Some(basic) => Node::Number(basic, number(basic, 0)),
                    // What is always empty has no streamer info.
                    None => Node::Unknown(name(class).to_owned()),
                }
            }
            Some(Item::Object(class)) => self.class(name(class))?,
            Some(Item::Pointer(class)) => self.pointer(name(class))?,
            Some(Item::Sequence(inner)) => Node::Sequence(Box::new(self.item(Some(inner), names)?)),
            Some(Item::Bitset(size)) if *size <= MAX_ARRAY => Node::Bitset(*size),
            Some(Item::Bitset(size)) => {
                return Err(Error::unsupported(format!("a bitset of {size} bits")));
            }
            Some(Item::Pair(first, second)) => {
                Node::Object(Box::new(self.pair("pair", first, second, names)?))
            }
            Some(Item::Map(key, value)) => Node::Map(Box::new(Pair {
                key: self.item(Some(key), names)?,
                value: self.item(Some(value), names)?,
                class: self.pair("pair", key, value, names)?,
            })),
        })
    }

    /// The checksum of a pair, 0 where no streamer info says it.
    fn pair_checksum(&self, first: &Item, second: &Item, names: &[String]) -> u32 {
        let pairs = self.order.iter().filter(|name| name.starts_with("pair<"));
        let found = pairs.filter_map(|name| self.classes.get(name)?.first()).find(|info| {
            let (item, others) = parse(&info.name);
            matches!(item, Some(Item::Pair(one, two))
                if same(first, names, &one, &others) && same(second, names, &two, &others))
        });
        found.map_or(0, |info| info.checksum)
    }

    /// A pair as a class.
    fn pair(
        &mut self,
        class: &str,
        first: &Item,
        second: &Item,
        names: &[String],
    ) -> Result<Class> {
        let mut steps = Vec::new();
        for (name, member, item) in [("_0", "first", first), ("_1", "second", second)] {
            let node = self.content(Some(item), names)?;
            let container =
                matches!(item, Item::Text | Item::Sequence(_) | Item::Map(..) | Item::Bitset(_));
            let node = if container { Node::Container(Box::new(node), None) } else { node };
            steps.push(Step {
                place: format!("{class}::{member}"),
                name: name.to_owned(),
                node,
                base: false,
                base_version: 0,
                target: None,
            });
        }
        let missing = Vec::new();
        let checksum = self.pair_checksum(first, second, names);
        let version = Version { version: 0, checksum, steps, missing, conflict: None };
        let mut class = Class { name: class.into(), versions: vec![version], fixed: true };
        class.align();
        Ok(class)
    }
}

/// The members of one version of a class, which others do not matter for.
fn members(mut class: Box<Class>, (version, checksum): (i32, u32)) -> Result<Node> {
    let versions = &mut class.versions;
    let index = versions
        .iter()
        .position(|known| checksum != 0 && known.checksum == checksum)
        .or_else(|| versions.iter().position(|known| known.version == version))
        .or(class.fixed.then_some(0));
    let index = index.ok_or_else(|| {
        Error::unsupported(format!(
            "the file has no streamer info of version {version} of class {}",
            class.name
        ))
    })?;
    if versions.len() > 1 {
        let mut only = versions.swap_remove(index);
        // It has the shape of its own; what could not be compiled has no steps.
        only.conflict = only.conflict.filter(|_| only.steps.is_empty());
        *versions = vec![only];
        class.align();
    }
    Ok(Node::Members(class, 0))
}

/// Whether two types are the same; each has its own class names.
fn same(one: &Item, names: &[String], other: &Item, others: &[String]) -> bool {
    match (one, other) {
        (Item::Object(one), Item::Object(other)) | (Item::Pointer(one), Item::Pointer(other)) => {
            let [one, other] = [(one, names), (other, others)].map(|(class, names)| {
                names.get(class.0 as usize).map(|name| type_name::normalize(name))
            });
            one == other
        }
        (Item::Sequence(one), Item::Sequence(other)) => same(one, names, other, others),
        (Item::Pair(one, more), Item::Pair(other, rest))
        | (Item::Map(one, more), Item::Map(other, rest)) => {
            same(one, names, other, others) && same(more, names, rest, others)
        }
        _ => one == other,
    }
}

/// The container that a class of its own is: its streamer info names the class itself, the items stand
/// in the title (`TStreamerInfo::Build`).
fn items_of_collection(this: &Element) -> Option<String> {
    let end = this.title.starts_with('<').then(|| this.title.rfind('>'))??;
    Some(format!("vector{}", this.title.get(..=end)?))
}

/// The enum that a member is or has as items, with the code of numbers of its type: streamer infos
/// give it a name that is no number's, and the code of one.
fn enumerated(element: &Element) -> Option<(String, i32)> {
    let (item, names) = parse(&element.type_name);
    let (item, code) = match (element.class.as_str(), item?) {
        ("TStreamerBasicType", item) => (item, element.code % ARRAY),
        // ROOT takes what it does not know for an enum.
        ("TStreamerSTL", Item::Sequence(item)) if element.item_code == NO_CLASS => (*item, INT),
        ("TStreamerSTL", Item::Sequence(item)) => (*item, element.item_code),
        _ => return None,
    };
    let Item::Object(class) = item else { return None };
    let number = Basic::from_code(code, "").is_some();
    number.then_some((type_name::normalize(names.get(class.0 as usize)?), code))
}

/// The class of which alone there are objects in a container.
fn only_class(item: &Item, names: &[String]) -> Option<String> {
    match item {
        Item::Object(class) => names.get(class.0 as usize).cloned(),
        Item::Sequence(inner) => only_class(inner, names),
        Item::Map(first, second) if !matches!(**first, Item::Object(_) | Item::Pointer(_)) => {
            only_class(second, names)
        }
        _ => None,
    }
}

/// Whether a type name is that of a standard container.
pub(super) fn is_container(type_name: &str) -> bool {
    matches!(parse(type_name).0, Some(Item::Sequence(_) | Item::Map(..) | Item::Bitset(_)))
}

/// The content of a type name, and the classes in it by their number.
fn parse(name: &str) -> (Option<Item>, Vec<String>) {
    let mut names: Vec<String> = Vec::new();
    let item = Item::parse(name, &mut |class| {
        names.push(class.to_owned());
        ClassId(u32::try_from(names.len() - 1).unwrap_or(u32::MAX))
    });
    (item, names)
}

/// Sizes of an array, outermost first; `None` for what is no array.
fn dimensions(element: &Element) -> Result<Option<Vec<usize>>> {
    if element.array_length == 0 {
        return Ok(None);
    }
    let length = usize::try_from(element.array_length).unwrap_or(usize::MAX);
    let sizes: Vec<usize> =
        element.dimensions.iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect();
    let product = sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    match product {
        _ if length > MAX_ARRAY => {
            Err(Error::out_of_spec(format!("an array of {length} elements")))
        }
        Some(product) if product == length => Ok(Some(sizes)),
        // Old files do not say the dimensions.
        _ => Ok(Some(vec![length])),
    }
}

/// What a stored number reads as; `code` is that of its streamer element, which tells packed
/// `Double32_t` from `Float16_t`, 0 where there is none.
fn number(basic: Basic, code: i32) -> Number {
    match basic {
        Basic::Bool => Number::Bool,
        Basic::I8 => Number::I8,
        Basic::U8 => Number::U8,
        Basic::I16 => Number::I16,
        Basic::U16 => Number::U16,
        Basic::I32 => Number::I32,
        Basic::U32 | Basic::Bits => Number::U32,
        Basic::I64 => Number::I64,
        Basic::U64 => Number::U64,
        Basic::F32 => Number::F32,
        Basic::F64 | Basic::Double32 => Number::F64,
        Basic::Ranged { .. } | Basic::Truncated { .. } => {
            if code == 9 {
                Number::F64
            } else {
                Number::F32
            }
        }
    }
}

fn refused(element: &Element) -> Error {
    Error::unsupported(format!(
        "its type {} (streamer type {}) is not taken apart",
        element.type_name, element.code
    ))
}
