//! Describes the branches of single members, and says which of them could be split further.

use nyssa_root::error::{Error, Result};
use nyssa_root::streamer::info::{ClassInfo, Element, ElementForm as Streaming};
use nyssa_root::streamer::{Basic, Declarations, StreamerInfos};

use super::element::{ElementForm, ElementKind, LeafElement, OBJECTS};
use super::vector::CLASS_VERSION;
use crate::stored::NO_REFERENCES;

/// The type code of containers and strings in branches (`ROOT::kSTLany`).
const CONTAINER: i64 = 300;
/// The type code of pointers to containers and strings in branches (`TVirtualStreamerInfo::kSTLp`).
const CONTAINER_POINTER: i64 = 71;
/// The containers of the standard library.
const CONTAINERS: [&str; 13] = [
    "vector",
    "list",
    "deque",
    "forward_list",
    "set",
    "multiset",
    "unordered_set",
    "unordered_multiset",
    "map",
    "multimap",
    "unordered_map",
    "unordered_multimap",
    "bitset",
];
/// Classes that ROOT never splits, nor those derived from them.
const WHOLE: [&str; 8] =
    ["TArray", "TCollection", "TSeqCollection", "TObjArray", "TList", "TRef", "TRefArray", "TTree"];
/// The largest number of base classes above each other.
const MAX_BASES: usize = 40;

/// The members that a branch could be split into.
pub(super) enum Members<'i> {
    /// There are none.
    None,
    /// A base class.
    Base(&'i ClassInfo),
    /// A member object.
    Object(&'i ClassInfo),
    /// The items of a collection.
    Collection(&'i ClassInfo),
    /// Objects that are never split: in arrays, in collections of collections, or behind pointers.
    Objects,
}

impl<'i> Members<'i> {
    /// Returns the members that a branch could be split into.
    pub(super) fn of(infos: &'i StreamerInfos, element: &Element) -> Self {
        let class = |name: &str| infos.class(name, None);
        match (element.class.as_str(), element.array_length) {
            ("TStreamerBase", _) => class(&element.name).map_or(Self::None, Self::Base),
            ("TStreamerObjectAny" | "TStreamerObject", 0) => {
                let class = class(&element.type_name).filter(|class| can_split(infos, class));
                class.map_or(Self::None, Self::Object)
            }
            ("TStreamerObjectAny" | "TStreamerObject" | "TStreamerObjectAnyPointer", _) => {
                Self::Objects
            }
            ("TStreamerSTL", _) => {
                let pointee = element.type_name.strip_suffix('*');
                let type_name = pointee.unwrap_or(&element.type_name);
                match item_class(infos, type_name) {
                    Some(item) if pointee.is_none() => Self::Collection(item),
                    None if !has_class(infos, type_name) => Self::None,
                    _ => Self::Objects,
                }
            }
            _ => Self::None,
        }
    }
}

/// Returns whether a type is a container of the standard library.
pub(super) fn is_container(type_name: &str) -> bool {
    let template = type_name.split_once('<').map(|(template, _)| template.trim());
    template.is_some_and(|template| CONTAINERS.contains(&template))
}

/// Returns whether ROOT splits objects of a class into their members (`TClass::CanSplit`).
pub(super) fn can_split(infos: &StreamerInfos, class: &ClassInfo) -> bool {
    let mut open = vec![(class, 0)];
    while let Some((class, depth)) = open.pop() {
        if WHOLE.contains(&class.name.as_str()) || depth > MAX_BASES {
            return false;
        }
        let bases = class.elements.iter().filter(|element| element.class == "TStreamerBase");
        for base in bases {
            if WHOLE.contains(&base.name.as_str()) {
                return false;
            }
            open.extend(infos.class(&base.name, None).map(|info| (info, depth + 1)));
        }
    }
    true
}

/// Describes the branch `name` of the member `index` of a class. It is below the branch `mother`, in objects of the class
/// `parent` that are split down to `level`.
pub(super) fn member(
    infos: &StreamerInfos,
    name: &str,
    (info, index): (&ClassInfo, usize),
    (mother, parent, level): (usize, &str, u32),
) -> ElementForm {
    let element = &info.elements[index];
    let number = match element.form() {
        Streaming::Number(basic) | Streaming::Numbers(basic) => Some(basic),
        _ => None,
    };
    let code = match element.form() {
        Streaming::Container if element.type_name.ends_with('*') => CONTAINER_POINTER,
        Streaming::Container => CONTAINER,
        _ => element.code.into(),
    };
    let (splits, objects) = match Members::of(infos, element) {
        Members::Object(_) | Members::Collection(_) => (level > 0, level == 0),
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
        mother: Some(mother),
        length: None,
        kind: ElementKind::Value,
        title: name.to_owned(),
        class: info.name.clone(),
        parent: parent.to_owned(),
        clones: String::new(),
        version: info.version,
        checksum: info.checksum,
        id: index as i64,
        code,
        split_level: if stated { level } else { 0 },
        bits: if objects { OBJECTS } else { NO_REFERENCES },
        has_offsets: !fixed,
        leaf: Some(LeafElement {
            len: i64::from(element.array_length.max(1)),
            len_type: number.map_or(0, |basic| size(basic, element.code)),
            is_unsigned: number != Some(Basic::Bits)
                && (element.type_name.starts_with("unsigned") || element.type_name == "ULong64_t"),
            ..leaf(&leaf_name, name)
        }),
        names_class: None,
    }
}

/// Returns the class of the items of a container, if they are objects or the pairs of a map.
pub(super) fn item_class<'i>(infos: &'i StreamerInfos, type_name: &str) -> Option<&'i ClassInfo> {
    let (template, rest) = type_name.split_once('<')?;
    let inside = rest.strip_suffix('>')?.trim_end();
    match template.ends_with("map") {
        true => {
            let space = if inside.ends_with('>') { " " } else { "" };
            infos.class(&format!("pair<{inside}{space}>"), None)
        }
        false if template == "pair" => None,
        false if is_container(inside) => None,
        false => infos.class(inside, None),
    }
}

/// Returns whether a class is somewhere in the name of a type. Pairs, which are also the items of maps, are objects of
/// a class.
fn has_class(infos: &StreamerInfos, type_name: &str) -> bool {
    let has_pairs =
        |word: &str| word == "pair" || word.ends_with("map") && CONTAINERS.contains(&word);
    let mut words = type_name.split(['<', '>', ',', '*']).map(str::trim);
    words.any(|word| has_pairs(word) || infos.class(word, None).is_some())
}

/// Describes a top branch.
pub(super) fn top(name: &str, type_name: &str, info: Option<&ClassInfo>, id: i64) -> ElementForm {
    let container = || Declarations::checksum_of_name(type_name);
    ElementForm {
        mother: None,
        length: None,
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
        names_class: None,
    }
}

/// Returns the leaf of a branch that has no numbers.
pub(super) fn leaf(name: &str, title: &str) -> LeafElement {
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
        // The bits of a `TObject` are no number of a leaf.
        Basic::Bits => 0,
        Basic::Plain(number) => number.size() as i64,
        _ => 4,
    }
}

/// Returns the name of a member with its dimensions.
pub(super) fn full_name(element: &Element) -> String {
    let sizes = element.dimensions.iter().filter(|_| element.array_length > 0);
    let sizes: String = sizes.map(|size| format!("[{size}]")).collect();
    format!("{}{sizes}", element.name)
}

/// Checks that a type has no class of ROOT. ROOT has code that streams most of them (`TLorentzVector`), which no streamer info
/// says. Members of such classes are streamed with a header in any case.
///
/// # Errors
/// `Unsupported` with the class.
pub(super) fn check_streamed_by_infos(type_name: &str) -> Result<()> {
    let is_part = |item: char| item.is_ascii_alphanumeric() || matches!(item, '_' | ':');
    let mut names = type_name.split(|item| !is_part(item));
    let is_of_root = |name: &&str| matches!(name.as_bytes(), [b'T', b'A'..=b'Z', ..]);
    match names.find(|name| is_of_root(name) && *name != "TString") {
        None => Ok(()),
        Some(class) => Err(Error::unsupported(format!(
            "nyssa does not write branches of {class}, whose objects ROOT may stream by code of the class: write its members"
        ))),
    }
}
