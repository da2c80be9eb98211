//! Makes the streamer elements of members from their C++ types.

use super::checksum::{self, Declared};
use super::spelling::{self, fundamental};
use super::{Declarations, UNVERSIONED};
use crate::definitions::Definition;
use crate::error::{Error, Result};
use crate::streamer::basic::Basic;
use crate::streamer::info::{ARRAY, CONTAINER, ClassInfo, Element, OBJECT};
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
/// The size of a `std::vector<bool>` in memory in bytes.
const VECTOR_OF_BITS: usize = 40;
/// The size of an `Int_t` in bytes.
const ENUM_SIZE: i32 = 4;
/// The type code of a pointer to an object of a class.
const OBJECT_POINTER: i32 = 69;
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
    /// The name that the checksum of a class counts, if it is another.
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
    /// An enum, which ROOT streams as an `Int_t`.
    Enum,
    /// A `std::unique_ptr` of an object of a class.
    Pointer,
    /// A value that ROOT does not stream, of which the streamer info has no element.
    Hidden,
}

impl Stored {
    fn new(type_name: String, layout: Layout, kind: Kind) -> Self {
        Self { type_name, counted: None, layout, kind, enum_code: 0 }
    }

    /// Returns the name that the checksum of a class counts.
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
    if !name.indirection.is_empty() {
        return Err(Error::unsupported(format!(
            "{text}: pointers and references cannot be written"
        )));
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
        return Ok(Stored::new(known.to_owned(), layout, Kind::Number(code)));
    }
    let normal = name.to_string();
    if normal == "std::string" {
        let layout = Layout::of(TEXT_SIZE, POINTER);
        return Ok(Stored::new("string".to_owned(), layout, Kind::Text));
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
            Some(_) if declarations.of_fields => {
                let integer = declarations.stored(underlying)?;
                let enum_code = match integer.kind {
                    Kind::Number(code) => code,
                    _ => 0,
                };
                Ok(Stored { enum_code, ..Stored::new(normal, integer.layout, Kind::Enum) })
            }
            Some("int" | "unsigned int") => {
                let layout = Layout::of(size_of::<i32>(), size_of::<i32>());
                Ok(Stored::new(normal, layout, Kind::Enum))
            }
            _ => Err(Error::unsupported(format!(
                "{normal}: ROOT streams an enum as an Int_t, which an enum of the type {underlying} is not: declare the \
                 member as {underlying:?}"
            ))),
        };
    }
    let layout = declarations.class(&normal)?;
    Ok(Stored::new(normal, layout, Kind::Object))
}

/// Returns how a standard container or a pair is stored.
fn template(declarations: &mut Declarations<'_>, text: &str) -> Result<Stored> {
    let (template, arguments) = spelling::template(text)?;
    if declarations.of_fields
        && let Some(stored) = of_fields(declarations, &template, &arguments)?
    {
        return Ok(stored);
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
    let all = arguments.iter().map(|one| declarations.stored(one)).collect::<Result<Vec<_>>>()?;
    if let Some(one) = all.iter().find(|one| one.is_enum() && !declarations.of_fields) {
        return Err(Error::unsupported(format!(
            "{text}: nyssa streams an enum as a member, not in a container or a pair: use \"int\" instead of \
             {}",
            one.type_name
        )));
    }
    let names: Vec<String> = all.iter().map(|one| one.type_name.clone()).collect();
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
    let layout = if is_bits { VECTOR_OF_BITS } else { size };
    let layout = Layout::of(layout, POINTER);
    let enum_code = all.first().filter(|_| !map).map_or(0, |item| item.enum_code);
    let stored = Stored::new(type_name, layout, Kind::Container(class));
    Ok(Stored { counted, enum_code, ..stored })
}

/// Returns the name of a template that the checksum of a class counts, if it is another than the stored one.
fn counted(template: &str, arguments: &[Stored]) -> Option<String> {
    let other = arguments.iter().any(|one| one.counted.is_some());
    let names: Vec<String> = arguments.iter().map(|one| one.counted().to_owned()).collect();
    other.then(|| spelling::joined(template, &names))
}

/// Returns how a type is described that fields of RNTuples have and trees have not.
fn of_fields(
    declarations: &mut Declarations<'_>,
    template: &str,
    arguments: &[String],
) -> Result<Option<Stored>> {
    if template == "bitset" {
        let [size] = arguments else { return Ok(None) };
        let bits: usize = size.trim().parse().map_err(|_| refused(template))?;
        let layout = Layout::of(bits.div_ceil(64).saturating_mul(8), POINTER);
        let name = spelling::joined(template, arguments);
        return Ok(Some(Stored::new(name, layout, Kind::Container(None))));
    }
    if !["variant", "tuple", "atomic", "optional", "unique_ptr"].contains(&template) {
        return Ok(None);
    }
    let all = arguments.iter().map(|one| declarations.stored(one)).collect::<Result<Vec<_>>>()?;
    if let ("unique_ptr", [item]) = (template, &all[..]) {
        let counted = item.counted();
        let deleter = spelling::joined("default_delete", &[counted.to_owned()]);
        let counted = Some(spelling::joined(template, &[counted.to_owned(), deleter]));
        let kind = if matches!(item.kind, Kind::Object) { Kind::Pointer } else { Kind::Hidden };
        let name = format!("{}*", item.type_name);
        let layout = Layout::of(POINTER, POINTER);
        return Ok(Some(Stored { counted, ..Stored::new(name, layout, kind) }));
    }
    let mut layout = Layout::default();
    match template {
        // GCC's library has the last member first.
        "tuple" => all.iter().rev().for_each(|one| layout.add(one.layout, 1)),
        "atomic" => all.iter().for_each(|one| layout.add(one.layout, 1)),
        _ => {
            let size = all.iter().map(|one| one.layout.size).max().unwrap_or(0);
            let align = all.iter().map(|one| one.layout.align).max().unwrap_or(1);
            layout.add(Layout::of(size, align).padded(), 1);
            // The number of the alternative, or whether there is a value.
            layout.add(Layout::of(1, 1), 1);
        }
    }
    let names: Vec<String> = all.iter().map(|one| one.type_name.clone()).collect();
    let (name, counted) = (spelling::joined(template, &names), counted(template, &all));
    Ok(Some(Stored { counted, ..Stored::new(name, layout.padded(), Kind::Object) }))
}

/// Declares a pair, whose members are called `first` and `second`.
fn pair(declarations: &mut Declarations<'_>, name: &str, parts: &[Stored]) -> Result<Layout> {
    if let Some((_, layout)) = declarations.classes.iter().find(|(info, _)| info.name == name) {
        return Ok(*layout);
    }
    let (mut layout, mut members) = (Layout::default(), Vec::new());
    for (member, part) in ["first", "second"].into_iter().zip(parts) {
        let element = element(member, part, &[]);
        let array = part.counted.clone();
        members.push(Declared { element, array, is_enum: false, is_hidden: false });
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
    let array = (!sizes.is_empty()).then(|| {
        let item = stored.counted().to_owned();
        sizes.into_iter().rev().fold(item, |item, size| spelling::joined("array", &[item, size]))
    });
    let is_refused = !matches!(stored.kind, Kind::Number(_) | Kind::Object);
    if !dimensions.is_empty() && is_refused && !declarations.of_fields {
        // ROOT 6.40 writes nothing of an array of enums.
        return Err(Error::unsupported(format!(
            "{text}: nyssa streams arrays of numbers and of objects"
        )));
    }
    let count = dimensions.iter().try_fold(1_i32, |count, &size| count.checked_mul(size));
    let count = count.ok_or_else(|| Error::limit(format!("the array {text}")))?;
    let mut layout = Layout::default();
    layout.add(stored.layout, usize::try_from(count).unwrap_or(0));
    let (is_enum, is_hidden) = (stored.is_enum(), matches!(stored.kind, Kind::Hidden));
    let mut element = element(name, &stored, &dimensions);
    if array.is_some() && matches!(stored.kind, Kind::Container(_)) {
        // ROOT describes a `std::array` of containers in this way.
        (element.class, element.code) = ("TStreamerObjectAny".into(), OBJECT + ARRAY);
    }
    if declarations.of_fields {
        element.title.clear();
    }
    let array = array.or_else(|| stored.counted.clone());
    Ok((Declared { element, array, is_enum, is_hidden }, layout))
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
        Kind::Pointer => ("TStreamerObjectAnyPointer", OBJECT_POINTER + array),
    };
    let size = match &stored.kind {
        // The size of the `Int_t`, whatever that of the enum is.
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

fn refused(text: &str) -> Error {
    Error::unsupported(format!("{text}: nyssa does not stream this type in trees"))
}
