//! Makes the streamer infos of classes that nyssa writes itself, so that every version of ROOT can read their objects
//! (`TStreamerInfo`, `TObjArray`, `TStreamerBasicType`).

use super::StreamerInfos;
use super::class::{ClassInfo, Element};
use super::form::COUNTED;
use super::list::{ObjectPiece, Pointee, StreamerList};
use crate::arrow::Number;
use crate::error::{Error, Result};
use crate::rootfile::encode;
use crate::streamer::basic::Basic;
use crate::streamer::wire;

/// The `TObject` bits of a streamer info that ROOT writes (`kIsCompiled`).
const COMPILED: u32 = 1 << 16;

/// The class version of `TStreamerInfo`. ROOT 6.40 writes 10 with the same contents, but older versions of ROOT
/// know only 9.
const INFO_VERSION: u16 = 9;
const ARRAY_VERSION: u16 = 3;
const ELEMENT_VERSION: u16 = 4;
const BASIC_TYPE_VERSION: u16 = 2;
const BASE_VERSION: u16 = 3;
const POINTER_VERSION: u16 = 1;
const CONTAINER_VERSION: u16 = 3;
const STRING_VERSION: u16 = 2;
const NAMED_VERSION: u16 = 1;
const OBJECT_VERSION: u16 = 1;

/// The number of sizes of an array that an element has room for.
const MAX_DIMENSIONS: usize = 5;

/// The number of a string (`ROOT::kSTLstring`), as a container and as its items.
const STRING_KIND: i32 = 365;
/// The number of items that are no numbers (`TVirtualStreamerInfo::kObject`).
const CLASS_ITEMS: i32 = 61;
/// The number of items that are pointers (`TVirtualStreamerInfo::kObjectp`).
const POINTER_ITEMS: i32 = 63;
/// The number of a `std::bitset` (`ROOT::kSTLbitset`), whose items have the number 0.
const BITSET_KIND: i32 = 8;
/// The numbers of standard containers (`ROOT::ESTLType`).
const KINDS: [(&str, i32); 14] = [
    ("vector", 1),
    ("list", 2),
    ("deque", 3),
    ("map", 4),
    ("multimap", 5),
    ("set", 6),
    ("multiset", 7),
    ("bitset", BITSET_KIND),
    ("forward_list", 9),
    ("unordered_set", 10),
    ("unordered_multiset", 11),
    ("unordered_map", 12),
    ("unordered_multimap", 13),
    ("string", STRING_KIND),
];

/// The list that ROOT 6.40 writes beside a `TTree`, made by `written/make.py`.
const TREES: &[u8] = include_bytes!("written/trees.bin");
/// The classes in it that few trees have: the branches and leaves of objects as a whole.
const OF_OBJECTS: [&str; 2] = ["TBranchObject", "TLeafObject"];
/// The list that ROOT 6.40 writes beside histograms, graphs, strings and parameters, made by `written/make.py`.
const OBJECTS: &[u8] = include_bytes!("written/objects.bin");
/// The size of the key from which positions in these lists count.
const KEYLEN: u16 = 64;

impl StreamerInfos {
    /// Returns the classes of a `TTree`, its branches and its leaves, in the versions that nyssa writes.
    pub fn of_trees() -> Result<Self> {
        Self::parse(Some((TREES, KEYLEN)))
    }

    /// Returns the classes of histograms, profiles, graphs, strings and parameters, in the versions that nyssa writes.
    pub(crate) fn of_objects() -> Result<Self> {
        Self::parse(Some((OBJECTS, KEYLEN)))
    }
}

impl StreamerList {
    /// Makes the list of the classes of [`StreamerInfos::of_trees`] that a tree has without a `TBranchObject`.
    pub fn of_trees() -> Result<Self> {
        Ok(Self::parse(TREES, KEYLEN)?.versions(|class| !OF_OBJECTS.contains(&class)))
    }

    /// Makes the list of the classes that a tree with a `TBranchObject` has in addition.
    pub fn of_object_branches() -> Result<Self> {
        Ok(Self::parse(TREES, KEYLEN)?.versions(|class| OF_OBJECTS.contains(&class)))
    }

    /// Makes the list of the classes of [`StreamerInfos::of_objects`].
    pub(crate) fn of_objects() -> Result<Self> {
        Self::parse(OBJECTS, KEYLEN)
    }

    /// Makes the list with one streamer info, of a class whose members are all numbers.
    pub fn of_class(
        class: &str,
        version: u32,
        checksum: u32,
        members: &[(&str, Number)],
    ) -> Result<Self> {
        let unknown = || Error::unsupported("a number without a type in streamer infos");
        let member = |&(name, number): &(&str, Number)| {
            let (code, type_name) = Basic::described(number).ok_or_else(unknown)?;
            let size = i32::try_from(number.size()).unwrap_or(0);
            Ok(Element { size, ..Element::of("TStreamerBasicType", name, type_name, code) })
        };
        let elements = members.iter().map(member).collect::<Result<_>>()?;
        let version = i32::try_from(version).unwrap_or(i32::MAX);
        Self::of_classes(&[ClassInfo { name: class.to_owned(), version, checksum, elements }])
    }

    /// Makes the list of streamer infos of classes whose members are numbers, standard containers, strings, objects
    /// and pointers to objects.
    ///
    /// # Errors
    /// `Unsupported` for elements of other kinds.
    pub fn of_classes(classes: &[ClassInfo]) -> Result<Self> {
        let mut list = Self::default();
        for info in classes {
            list.push(class(info)?);
        }
        Ok(list)
    }
}

fn class(info: &ClassInfo) -> Result<Pointee> {
    let mut head = INFO_VERSION.to_be_bytes().to_vec();
    put_named(&mut head, &info.name, "", COMPILED)?;
    head.extend_from_slice(&info.checksum.to_be_bytes());
    head.extend_from_slice(&info.version.to_be_bytes());
    let mut array = ARRAY_VERSION.to_be_bytes().to_vec();
    put_object(&mut array, 0);
    encode::string(&mut array, "")?;
    encode::size(&mut array, info.elements.len(), "list")?;
    array.extend_from_slice(&0u32.to_be_bytes());
    let mut parts = vec![ObjectPiece::Bytes(array)];
    for item in &info.elements {
        parts.push(element(item)?);
    }
    let elements = Pointee { class: "TObjArray".to_owned(), parts };
    let parts = vec![ObjectPiece::Bytes(head), ObjectPiece::Pointer(elements)];
    Ok(Pointee { class: "TStreamerInfo".to_owned(), parts })
}

fn element(element: &Element) -> Result<ObjectPiece> {
    let mut out = Vec::new();
    match element.class.as_str() {
        "TStreamerBase" => {
            out.extend_from_slice(&BASE_VERSION.to_be_bytes());
            put_element(&mut out, element)?;
            out.extend_from_slice(&element.base_version.to_be_bytes());
        }
        "TStreamerBasicType" | "TStreamerObjectAny" => {
            out.extend_from_slice(&BASIC_TYPE_VERSION.to_be_bytes());
            put_element(&mut out, element)?;
        }
        "TStreamerObjectAnyPointer" => {
            out.extend_from_slice(&POINTER_VERSION.to_be_bytes());
            put_element(&mut out, element)?;
        }
        "TStreamerSTL" => put_container(&mut out, element)?,
        "TStreamerSTLstring" => {
            out.extend_from_slice(&STRING_VERSION.to_be_bytes());
            wire::counted(&mut out, |out| put_container(out, element))?;
        }
        other => return Err(Error::unsupported(format!("{other} cannot be written"))),
    }
    let parts = vec![ObjectPiece::Bytes(out)];
    Ok(ObjectPiece::Pointer(Pointee { class: element.class.clone(), parts }))
}

/// Appends the part that all elements have (`TStreamerElement`).
fn put_element(out: &mut Vec<u8>, element: &Element) -> Result<()> {
    wire::versioned(out, ELEMENT_VERSION, |out| {
        put_named(out, &element.name, &element.title, 0)?;
        let rank = if element.array_length > 0 { element.dimensions.len() } else { 0 };
        let rank = i32::try_from(rank).unwrap_or(i32::MAX);
        let head = [element.code, element.size, element.array_length, rank];
        let none = std::iter::repeat(&0);
        let sizes = element.dimensions.iter().chain(none).take(MAX_DIMENSIONS);
        head.iter().chain(sizes).for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
        encode::string(out, &element.type_name)
    })
}

/// Appends a `TStreamerSTL`.
fn put_container(out: &mut Vec<u8>, element: &Element) -> Result<()> {
    out.extend_from_slice(&CONTAINER_VERSION.to_be_bytes());
    put_element(out, element)?;
    let type_name = element.type_name.trim_end_matches('*');
    let (template, item) = type_name.split_once('<').unwrap_or((type_name, ""));
    let kind = KINDS.iter().find(|(name, _)| *name == template).map(|(_, kind)| *kind);
    let kind = kind.ok_or_else(|| {
        Error::unsupported(format!("the container {} cannot be written", element.type_name))
    })?;
    let item = item.strip_suffix('>').unwrap_or(item).trim();
    let item = match Basic::code_of(if item == "signed char" { "char" } else { item }) {
        _ if element.item_code != 0 => element.item_code,
        Some(code) => code,
        None if kind == STRING_KIND => STRING_KIND,
        None if kind == BITSET_KIND => 0,
        None if item.ends_with('*') && !template.ends_with("map") => POINTER_ITEMS,
        None => CLASS_ITEMS,
    };
    let is_pointer = type_name != element.type_name && kind != STRING_KIND;
    let kind = kind + if is_pointer { COUNTED } else { 0 };
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&item.to_be_bytes());
    Ok(())
}

fn put_named(out: &mut Vec<u8>, name: &str, title: &str, bits: u32) -> Result<()> {
    wire::versioned(out, NAMED_VERSION, |out| {
        put_object(out, bits);
        encode::string(out, name)?;
        encode::string(out, title)
    })
}

fn put_object(out: &mut Vec<u8>, bits: u32) {
    out.extend_from_slice(&OBJECT_VERSION.to_be_bytes());
    out.extend_from_slice(&0u32.to_be_bytes());
    out.extend_from_slice(&bits.to_be_bytes());
}
