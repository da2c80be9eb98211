//! Makes the streamer elements of members from their C++ types.

use super::checksum::{self, Declared};
use super::spelling::{self, fundamental};
use super::{Declarations, UNVERSIONED};
use crate::definitions::Definition;
use crate::error::{Error, Result};
use crate::streamer::basic::Basic;
use crate::streamer::compile::is_container;
use crate::streamer::info::{ANY_POINTER, ARRAY, CONTAINER, ClassInfo, Element, OBJECT};
use crate::type_name::TypeName;

/// The largest number of dimensions of an array that a streamer element has.
const MAX_DIMENSIONS: usize = 5;

/// The standard containers that ROOT streams: their names, the sizes of their objects in memory in bytes, and whether
/// they have keys and values.
const CONTAINERS: [(&str, usize, bool); 12] = [
    ("vector", 24, false),
    ("list", 24, false),
    ("deque", 80, false),
    ("set", 48, false),
    ("multiset", 48, false),
    ("forward_list", 8, false),
    ("unordered_set", 56, false),
    ("unordered_multiset", 56, false),
    ("map", 48, true),
    ("multimap", 48, true),
    ("unordered_map", 56, true),
    ("unordered_multimap", 56, true),
];

/// The type code of an `Int_t`.
const INT: i32 = 3;
/// The types of the numbers of enums that fit an `Int_t`.
const ENUMS: [&str; 7] =
    ["char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int"];
/// The size of an `Int_t` in bytes.
const ENUM_SIZE: i32 = 4;
/// The size of a `std::vector<bool>` in memory in bytes.
const VECTOR_OF_BITS: usize = 40;
/// The size of a `std::string` in memory in bytes.
const TEXT_SIZE: usize = 32;
/// The alignment of containers and strings in memory in bytes.
const POINTER: usize = 8;

/// The size and the alignment of values in memory, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    size: usize,
    align: usize,
}

/// A C++ type as ROOT streams it.
pub(super) struct Stored {
    /// ROOT's name.
    pub type_name: String,
    /// The name that checksums count, if it is another: `byte` for a `std::byte`, `unique_ptr<Hit,default_delete<Hit> >` for a
    /// pointer.
    counted: Option<String>,
    pub layout: Layout,
    kind: Kind,
    /// The type code of the integer of an enum, or of the enums in a container. It is 0 for other types.
    enum_code: i32,
}

/// The kinds of types.
enum Kind {
    /// A number with this type code.
    Number(i32),
    /// `std::string`.
    Text,
    /// A standard container. If its items are objects of a class, this is their class.
    Container(Option<String>),
    /// An object of a class.
    Object,
    /// A pointer to an object of a class.
    Pointer,
    /// An enum, which ROOT streams as an `Int_t`.
    Enum,
    /// A pointer to a value that is no object. The streamer info has no element of it.
    Hidden,
}

impl Stored {
    fn new(type_name: impl Into<String>, layout: Layout, kind: Kind) -> Self {
        Self { type_name: type_name.into(), counted: None, layout, kind, enum_code: 0 }
    }

    /// Returns the reason why a branch of its own cannot have the type.
    pub(super) fn refused_alone(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Enum => Some("a branch of its own cannot be an enum, use \"int\""),
            Kind::Pointer => Some("a branch of its own cannot be a pointer, use the class"),
            _ => None,
        }
    }

    /// Returns the name that checksums count.
    fn counted(&self) -> &str {
        self.counted.as_deref().unwrap_or(&self.type_name)
    }

    /// Returns whether the values are of an enum.
    pub(super) fn is_enum(&self) -> bool {
        matches!(self.kind, Kind::Enum)
    }
}

impl Layout {
    fn of(size: usize, align: usize) -> Self {
        Self { size, align }
    }

    /// Returns the size, as streamer infos state it.
    pub(super) fn size(self) -> i32 {
        i32::try_from(self.size).unwrap_or(i32::MAX)
    }

    /// Adds the layout of the next member, which is an array of `count` values.
    pub(super) fn add(&mut self, member: Self, count: usize) {
        let align = member.align.max(1);
        let start = self.size.checked_next_multiple_of(align).unwrap_or(usize::MAX);
        self.size = start.saturating_add(member.size.saturating_mul(count));
        self.align = self.align.max(align);
    }

    /// Returns the layout of the whole class.
    pub(super) fn padded(self) -> Self {
        let align = self.align.max(1);
        let size = self.size.checked_next_multiple_of(align).unwrap_or(usize::MAX);
        Self { size, align }
    }
}

/// Returns how values of a type are stored.
pub(super) fn stored(declarations: &mut Declarations<'_>, text: &str) -> Result<Stored> {
    let name = TypeName::parse_with_typedefs(text)?;
    match (name.indirection.as_str(), text.trim().strip_suffix('*')) {
        ("", _) => {}
        ("*", Some(pointee)) => return pointer(declarations, text, pointee),
        _ => {
            return Err(Error::unsupported(format!(
                "{text}: of pointers and references, ROOT streams pointers to objects"
            )));
        }
    }
    if let Some(known) = fundamental(text) {
        let code = Basic::code_of(if known == "signed char" { "char" } else { known });
        let code = code.ok_or_else(|| refused(text))?;
        let size = match known {
            "Double32_t" => size_of::<f64>(),
            "Float16_t" => size_of::<f32>(),
            _ => Basic::from_code(code, "").map_or(0, Basic::size),
        };
        let layout = Layout::of(size, size);
        return Ok(Stored::new(known, layout, Kind::Number(code)));
    }
    let normal = name.to_string();
    if normal == "std::string" {
        let layout = Layout::of(TEXT_SIZE, POINTER);
        return Ok(Stored::new("string", layout, Kind::Text));
    }
    if declarations.of_fields && normal == "std::byte" {
        let counted = Some("byte".to_owned());
        return Ok(Stored { counted, ..Stored::new(normal, Layout::of(1, 1), Kind::Enum) });
    }
    if normal.starts_with("std::") {
        return template(declarations, text);
    }
    if declarations.of_fields
        && let Some(Definition::Collection(_) | Definition::Streamed) =
            declarations.definitions.get(&normal)
    {
        // The size of the object is not known, and ROOT does not need it.
        return Ok(Stored::new(normal, Layout::of(POINTER, POINTER), Kind::Object));
    }
    if let Some(Definition::Enum(underlying)) = declarations.definitions.get(&normal) {
        return match fundamental(underlying) {
            Some(known) if declarations.of_fields || ENUMS.contains(&known) => {
                let number = declarations.stored(known)?;
                let enum_code = match number.kind {
                    Kind::Number(code) => code,
                    _ => 0,
                };
                Ok(Stored { enum_code, ..Stored::new(normal, number.layout, Kind::Enum) })
            }
            _ => Err(Error::unsupported(format!(
                "{normal}: ROOT leaves members of an enum of the type {underlying} out of trees, since it streams enums as \
                 Int_t: declare the member as {underlying:?}"
            ))),
        };
    }
    let layout = declarations.class(&normal)?;
    Ok(Stored::new(normal, layout, Kind::Object))
}

/// Returns how a pointer to a type is stored.
fn pointer(declarations: &mut Declarations<'_>, text: &str, pointee: &str) -> Result<Stored> {
    let bare = pointee.trim();
    let (mark, bare) = match bare.strip_prefix("const ") {
        Some(bare) => ("const ", bare),
        None => ("", bare),
    };
    let object = declarations.stored(bare)?;
    let kind = match object.kind {
        Kind::Object => {
            declarations.pointees.insert(object.type_name.clone());
            Kind::Pointer
        }
        _ if declarations.of_fields => Kind::Hidden,
        // They are streamed as members without a pointer, empty for a null pointer.
        Kind::Container(_) | Kind::Text if text.trim().ends_with('*') => object.kind,
        Kind::Container(_) | Kind::Text => {
            return Err(Error::unsupported(format!(
                "{text}: ROOT does not read what it writes of a std::unique_ptr of a container or a string: declare it \
                 as \"{bare}*\""
            )));
        }
        _ => {
            return Err(Error::unsupported(format!(
                "{text}: ROOT does not store what a pointer to a number leads to: declare it as {bare:?}"
            )));
        }
    };
    let named = |name: &String| format!("{mark}{name}*");
    let counted = object.counted.as_ref().map(named);
    let layout = Layout::of(POINTER, POINTER);
    if let Kind::Container(_) | Kind::Text = kind {
        // Streamer infos leave `const` out, and checksums count it.
        let counted = counted.or_else(|| (!mark.is_empty()).then(|| named(&object.type_name)));
        let stored = Stored::new(format!("{}*", object.type_name), layout, kind);
        return Ok(Stored { counted, ..stored });
    }
    Ok(Stored { counted, ..Stored::new(named(&object.type_name), layout, kind) })
}

/// Returns how a standard container, a pair, a pointer or a set of bits is stored.
fn template(declarations: &mut Declarations<'_>, text: &str) -> Result<Stored> {
    let (template, arguments) = spelling::template(text)?;
    match (template.as_str(), &arguments[..]) {
        ("unique_ptr", [pointee]) => {
            let stored = pointer(declarations, text, pointee)?;
            let object = stored.counted();
            let object = object.strip_suffix('*').unwrap_or(object).to_owned();
            let deleter = spelling::joined("default_delete", std::slice::from_ref(&object));
            let counted = Some(spelling::joined(&template, &[object, deleter]));
            return Ok(Stored { counted, ..stored });
        }
        ("bitset", [bits]) => {
            let bits = dimension(bits)?;
            let words = usize::try_from(bits).unwrap_or(0).div_ceil(64);
            let layout = Layout::of(words * size_of::<u64>(), size_of::<u64>());
            return Ok(Stored::new(format!("bitset<{bits}>"), layout, Kind::Container(None)));
        }
        ("optional" | "variant" | "tuple" | "atomic", _) if declarations.of_fields => {
            return of_fields(declarations, &template, &arguments);
        }
        ("optional" | "variant", _) => return Err(no_streamer(text, &template)),
        _ => {}
    }
    let known = CONTAINERS.iter().find(|(name, ..)| *name == template);
    let expected = match known {
        Some((.., map)) => 1 + usize::from(*map),
        None if template == "pair" => 2,
        None => return Err(refused(text)),
    };
    if arguments.len() != expected {
        return Err(Error::invalid_argument(format!("{text}: wrong template arguments")));
    }
    let all = stored_all(declarations, &arguments)?;
    if let Some(enumeration) = all.iter().find(|element| element.is_enum())
        && !declarations.of_fields
    {
        return Err(Error::unsupported(format!(
            "{text}: nyssa streams an enum as a member, not in a container or a pair: use \"int\" instead of \
             {}",
            enumeration.type_name
        )));
    }
    let is_refused = |item: &&Stored| {
        let pointee = item.type_name.strip_suffix('*');
        pointee.is_some_and(|pointee| is_container(pointee) || pointee == "string" && expected > 1)
    };
    if let Some(item) = all.iter().find(is_refused).filter(|_| !declarations.of_fields) {
        return Err(Error::unsupported(format!(
            "{text}: nyssa streams pointers to containers as members, not in a container: declare the items as {:?}",
            item.type_name.trim_end_matches('*')
        )));
    }
    let owns = |item: &Stored| matches!(item.kind, Kind::Pointer) && item.counted.is_some();
    if expected > 1 && all.iter().any(owns) && !declarations.of_fields {
        return Err(Error::unsupported(format!(
            "{text}: nyssa streams a std::unique_ptr as a member or in a sequence, not in a pair or a map: use a pointer"
        )));
    }
    let names: Vec<String> = all.iter().map(|element| element.type_name.clone()).collect();
    let type_name = spelling::joined(&template, &names);
    let counted = counted(&template, &all);
    let Some(&(_, size, map)) = known else {
        let layout = pair(declarations, &type_name, &all)?;
        declarations.pairs.insert(type_name.clone());
        return Ok(Stored { counted, ..Stored::new(type_name, layout, Kind::Object) });
    };
    let class = match &all[..] {
        [item] => matches!(item.kind, Kind::Object).then(|| item.type_name.clone()),
        _ => Some(spelling::joined("pair", &names)),
    };
    if map && let Some(class) = &class {
        pair(declarations, class, &all)?;
    }
    let is_bits = declarations.of_fields && type_name == "vector<bool>";
    let layout = Layout::of(if is_bits { VECTOR_OF_BITS } else { size }, POINTER);
    let enum_code = all.first().filter(|_| !map).map_or(0, |item| item.enum_code);
    let stored = Stored::new(type_name, layout, Kind::Container(class));
    Ok(Stored { counted, enum_code, ..stored })
}

/// Returns how values of several types are stored.
fn stored_all(declarations: &mut Declarations<'_>, types: &[String]) -> Result<Vec<Stored>> {
    types.iter().map(|text| declarations.stored(text)).collect()
}

/// Returns the name of a template that checksums count, if it is another than the stored name.
fn counted(template: &str, arguments: &[Stored]) -> Option<String> {
    let is_other = arguments.iter().any(|argument| argument.counted.is_some());
    let names: Vec<String> = arguments.iter().map(|argument| argument.counted().into()).collect();
    is_other.then(|| spelling::joined(template, &names))
}

/// Returns how a template is stored that fields of RNTuples have and trees have not.
fn of_fields(
    declarations: &mut Declarations<'_>,
    template: &str,
    arguments: &[String],
) -> Result<Stored> {
    let all = stored_all(declarations, arguments)?;
    let mut layout = Layout::default();
    match template {
        // GCC's library has the last member first.
        "tuple" => all.iter().rev().for_each(|item| layout.add(item.layout, 1)),
        "atomic" => all.iter().for_each(|item| layout.add(item.layout, 1)),
        _ => {
            let size = all.iter().map(|item| item.layout.size).max().unwrap_or(0);
            let align = all.iter().map(|item| item.layout.align).max().unwrap_or(1);
            layout.add(Layout::of(size, align).padded(), 1);
            // The number of the alternative, or whether there is a value.
            layout.add(Layout::of(1, 1), 1);
        }
    }
    let names: Vec<String> = all.iter().map(|item| item.type_name.clone()).collect();
    let (name, counted) = (spelling::joined(template, &names), counted(template, &all));
    Ok(Stored { counted, ..Stored::new(name, layout.padded(), Kind::Object) })
}

/// Declares a pair, whose members are called `first` and `second`.
fn pair(declarations: &mut Declarations<'_>, name: &str, parts: &[Stored]) -> Result<Layout> {
    if let Some((_, layout)) = declarations.classes.iter().find(|(info, _)| info.name == name) {
        return Ok(*layout);
    }
    let (mut layout, mut members) = (Layout::default(), Vec::new());
    for (member, part) in ["first", "second"].into_iter().zip(parts) {
        let element = element(member, part, &[]);
        let counted = part.counted.clone();
        members.push(Declared { element, counted, is_enum: false, is_hidden: false });
        layout.add(part.layout, 1);
    }
    let checksum = checksum::of_class(name, &members);
    let elements = members.into_iter().map(|member| member.element).collect();
    let (name, version) = (name.to_owned(), UNVERSIONED);
    Ok(declarations.add(ClassInfo { name, version, checksum, elements }, layout))
}

/// Returns the element of a member, and its layout in memory.
pub(super) fn member(
    declarations: &mut Declarations<'_>,
    name: &str,
    text: &str,
) -> Result<(Declared, Layout)> {
    let (item, mut dimensions) = dimensions(text)?;
    let mut item = item.to_owned();
    // ROOT streams a `std::array` as an array of C.
    let mut sizes = Vec::new();
    while fundamental(&item).is_none()
        && let (template, arguments) = spelling::template(&item)?
        && template == "array"
        && let [inner, size] = &arguments[..]
    {
        dimensions.push(dimension(size)?);
        sizes.push(size.clone());
        item = inner.clone();
    }
    let stored = declarations.stored(&item)?;
    // ROOT 6.40 writes nothing of an array of enums, takes the pointers in a `std::array` for objects, and refuses arrays of
    // `std::unique_ptr`.
    let is_array = !sizes.is_empty();
    let is_streamed = match stored.kind {
        Kind::Number(_) | Kind::Object => true,
        Kind::Pointer => !is_array && stored.counted.is_none(),
        _ => false,
    };
    if !dimensions.is_empty() && !is_streamed && !declarations.of_fields {
        return Err(Error::unsupported(format!(
            "{text}: nyssa streams arrays of numbers and of objects, and arrays of C of pointers: use a std::vector"
        )));
    }
    let counted = match is_array {
        false => stored.counted.clone(),
        true => {
            let item = stored.counted().to_owned();
            let sizes = sizes.into_iter().rev();
            Some(sizes.fold(item, |item, size| spelling::joined("array", &[item, size])))
        }
    };
    let count = dimensions.iter().try_fold(1_i32, |count, &size| count.checked_mul(size));
    let count = count.ok_or_else(|| Error::limit(format!("the array {text}")))?;
    let mut layout = Layout::default();
    layout.add(stored.layout, usize::try_from(count).unwrap_or(0));
    let (is_enum, is_hidden) = (stored.is_enum(), matches!(stored.kind, Kind::Hidden));
    let mut element = element(name, &stored, &dimensions);
    if is_array && matches!(stored.kind, Kind::Container(_)) {
        // ROOT describes a `std::array` of containers in this way.
        (element.class, element.code) = ("TStreamerObjectAny".into(), OBJECT + ARRAY);
    }
    if declarations.of_fields {
        element.title.clear();
    }
    Ok((Declared { element, counted, is_enum, is_hidden }, layout))
}

/// Returns the element of a member with a type, in an array of these dimensions.
fn element(name: &str, stored: &Stored, dimensions: &[i32]) -> Element {
    let array = if dimensions.is_empty() { 0 } else { ARRAY };
    let (class, code) = match &stored.kind {
        Kind::Number(code) => ("TStreamerBasicType", code + array),
        Kind::Enum => ("TStreamerBasicType", INT + array),
        Kind::Text => ("TStreamerSTLstring", CONTAINER + array),
        Kind::Container(_) => ("TStreamerSTL", CONTAINER + array),
        Kind::Object | Kind::Hidden => ("TStreamerObjectAny", OBJECT + array),
        // ROOT does not mark arrays of pointers.
        Kind::Pointer => ("TStreamerObjectAnyPointer", ANY_POINTER),
    };
    let size = match &stored.kind {
        // The size of the `Int_t`, whatever the size of the enum is.
        Kind::Enum => ENUM_SIZE,
        _ => stored.layout.size(),
    };
    let count: i32 = dimensions.iter().product();
    let length = if dimensions.is_empty() { 0 } else { count };
    let title = match &stored.kind {
        Kind::Container(Some(class)) => format!(" ({class})"),
        _ => String::new(),
    };
    Element {
        title,
        array_length: length,
        item_code: if matches!(stored.kind, Kind::Container(_)) { stored.enum_code } else { 0 },
        dimensions: dimensions.to_vec(),
        size: size.saturating_mul(count),
        ..Element::of(class, name, &stored.type_name, code)
    }
}

/// Splits `float[3][2]` into the type and the sizes, outermost first.
fn dimensions(text: &str) -> Result<(&str, Vec<i32>)> {
    let text = text.trim();
    let (item, brackets) = match text.strip_suffix(']') {
        Some(_) => text.split_once('[').unwrap_or((text, "")),
        None => return Ok((text, Vec::new())),
    };
    let sizes = brackets.trim_end_matches(']').split(']');
    let sizes = sizes.map(|size| dimension(size.trim().trim_start_matches('[')));
    let sizes = sizes.collect::<Result<Vec<_>>>()?;
    if sizes.len() > MAX_DIMENSIONS {
        return Err(Error::unsupported(format!(
            "{text}: an array of more than {MAX_DIMENSIONS} dimensions"
        )));
    }
    Ok((item, sizes))
}

fn dimension(text: &str) -> Result<i32> {
    let size = text.trim().parse().ok().filter(|&size: &i32| size > 0);
    size.ok_or_else(|| Error::invalid_argument(format!("{text:?} is not the size of an array")))
}

/// Returns the error for a type whose objects ROOT does not stream.
fn no_streamer(text: &str, template: &str) -> Error {
    let instead = match template {
        "optional" => "a std::unique_ptr of a class, or a std::vector, can be empty",
        _ => "declare a member for each type",
    };
    Error::unsupported(format!(
        "{text}: ROOT streams no std::{template}, so that a TTree cannot hold it, but an RNTuple can: {instead}"
    ))
}

fn refused(text: &str) -> Error {
    Error::unsupported(format!("{text}: nyssa does not stream this type in trees"))
}
