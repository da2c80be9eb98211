//! Chooses field types for the C++ types of branches, with the streamer info of their file.
//!
//! A class becomes a field of its class if RNTuple has types for all its members. RNTuple has no types for `TString`,
//! `char*`, counted pointers and pointers to objects. ROOT could not read a field of a class with such a member, so
//! the class becomes an untyped record with its members.

use std::collections::HashMap;

use arrow_schema::DataType;
use nyssa_rntuple::schema::{Class, FieldType, Leaf, SetKind, check_name};
use nyssa_root::arrow::Number;
use nyssa_root::streamer::Basic;
use nyssa_root::streamer::info::{ClassInfo, Element, ElementForm, StreamerInfos};
use nyssa_root::type_name::{Argument, TypeName, normalize};
use nyssa_ttree::{Branch, Shape};

/// The largest number of types within each other.
const MAX_DEPTH: usize = 40;

/// The classes of a file: the newest streamer info of each class, by its normalised name.
#[derive(Clone, Debug, Default)]
pub struct Classes<'a>(HashMap<String, &'a ClassInfo>);

/// A field type for a C++ type.
struct MappedType {
    field_type: FieldType,
    /// Whether ROOT makes this field for the C++ type.
    native: bool,
}

impl MappedType {
    fn native(field_type: FieldType) -> Option<Self> {
        Some(Self { field_type, native: true })
    }

    fn stand_in(field_type: FieldType) -> Option<Self> {
        Some(Self { field_type, native: false })
    }

    fn map(self, make: impl FnOnce(FieldType) -> FieldType) -> Option<Self> {
        Some(Self { field_type: make(self.field_type), native: self.native })
    }
}

impl<'a> Classes<'a> {
    /// Collects the classes that `infos` describe.
    pub fn new(infos: &'a StreamerInfos) -> Self {
        let mut newest: HashMap<String, &ClassInfo> = HashMap::new();
        for info in infos.classes() {
            let known = newest.entry(normalize(&info.name)).or_insert(info);
            if info.version >= known.version {
                *known = info;
            }
        }
        Self(newest)
    }

    /// Returns the newest streamer info of a class, by its normalised name.
    pub(super) fn info(&self, name: &str) -> Option<&'a ClassInfo> {
        self.0.get(name).copied()
    }

    /// Returns the field type of a branch of a class, container or string, or `None` if its values do not have
    /// the form of this type.
    pub(super) fn field_type(&self, branch: &Branch) -> Option<FieldType> {
        let type_name = match (&branch.split, &branch.shape) {
            (Some(split), _) => match &split.collection {
                // The objects of a TClonesArray are of one class.
                Some((name, _)) if name == "TClonesArray" => {
                    format!("vector<{}>", split.class.name)
                }
                Some((name, _)) => name.clone(),
                None => split.class.name.clone(),
            },
            (None, Ok(Shape::Streamed(streamed))) if streamed.counter.is_none() => {
                streamed.type_name.clone()
            }
            _ => return None,
        };
        // A `Double32_t` of RNTuple is a float, which cannot store the integers of a leaf with a range exactly.
        if type_name.starts_with(Leaf::Double32.type_alias())
            && branch.quantizations().iter().any(Option::is_some)
        {
            return None;
        }
        self.of_objects(&type_name, &branch.data_type().ok()?)
    }

    /// Returns the field type of a class or container by its name, or `None` if its values do not have the form of
    /// `data_type`.
    pub(super) fn of_objects(&self, name: &str, data_type: &DataType) -> Option<FieldType> {
        let field_type = self.named(name, 0)?.field_type;
        let arrow = field_type.to_arrow("").ok()?;
        same(arrow.data_type(), data_type).then_some(field_type)
    }

    fn named(&self, text: &str, depth: usize) -> Option<MappedType> {
        let name = TypeName::parse_with_typedefs(text.trim()).ok()?;
        self.of_type(&name, depth)
    }

    fn of_type(&self, name: &TypeName, depth: usize) -> Option<MappedType> {
        let text = name.to_string();
        match name.indirection() {
            _ if depth > MAX_DEPTH => return None,
            "" => {}
            "*" => {
                let pointee =
                    TypeName { indirection: String::new(), constant: false, ..name.clone() };
                return behind_pointer(self.of_type(&pointee, depth + 1)?);
            }
            _ => return None,
        }
        if let Some(leaf) = Leaf::of_name(&text) {
            return MappedType::native(FieldType::Leaf(leaf));
        }
        let (template, arguments) = name.template();
        let item = |index: usize| match arguments.get(index) {
            Some(Argument::Type(name)) => self.of_type(name, depth + 1),
            _ => None,
        };
        let pair = || {
            let (first, second) = (item(0)?, item(1)?);
            let native = first.native && second.native;
            Some((Box::new([first.field_type, second.field_type]), native))
        };
        for kind in SetKind::ALL {
            match template.strip_prefix(kind.prefix()) {
                Some("set") => return item(0)?.map(|of| FieldType::Set(kind, Box::new(of))),
                Some("map") => {
                    let (pair, native) = pair()?;
                    return Some(MappedType { field_type: FieldType::Map(kind, pair), native });
                }
                _ => {}
            }
        }
        match template.as_str() {
            "std::string" => MappedType::native(FieldType::String),
            "TString" => MappedType::stand_in(FieldType::String),
            "TObject" => MappedType::native(t_object()),
            "std::vector" => item(0)?.map(FieldType::vector),
            "ROOT::VecOps::RVec" => item(0)?.map(FieldType::rvec),
            "std::list" | "std::deque" | "std::forward_list" => {
                MappedType::stand_in(FieldType::vector(item(0)?.field_type))
            }
            "std::pair" => {
                let (pair, native) = pair()?;
                Some(MappedType { field_type: FieldType::Pair(pair), native })
            }
            "std::bitset" => match arguments {
                [Argument::Value(bits)] => {
                    MappedType::native(FieldType::Bitset(bits.trim_end_matches('u').parse().ok()?))
                }
                _ => None,
            },
            _ => self.class(&text, depth),
        }
    }

    fn class(&self, name: &str, depth: usize) -> Option<MappedType> {
        let info = self.info(name)?;
        let mut bases = Vec::new();
        let mut members = Vec::new();
        let mut native = true;
        for element in &info.elements {
            let typed = self.element(element, depth)?;
            native &= typed.native;
            if element.class == "TStreamerBase" || element.is_container_base() {
                bases.push(typed.field_type);
            } else {
                check_name("a field", &element.name).ok()?;
                members.push((element.name.clone(), typed.field_type));
            }
        }
        native &= bases.iter().all(|base| matches!(base, FieldType::Class(_)));
        native &= !is_foreign(name);
        if native {
            let version = u32::try_from(info.version).unwrap_or(Class::NO_VERSION);
            return MappedType::native(FieldType::Class(Class {
                name: name.to_owned(),
                version,
                checksum: Some(info.checksum),
                bases,
                members,
            }));
        }
        let bases = bases.into_iter().enumerate().map(|(index, base)| (format!(":_{index}"), base));
        MappedType::stand_in(FieldType::Record(bases.chain(members).collect()))
    }

    fn element(&self, element: &Element, depth: usize) -> Option<MappedType> {
        let below = |name: &str| self.named(name, depth + 1);
        let pointee = element.type_name.trim_end_matches(['*', ' ']);
        let is_pointer = pointee.len() < element.type_name.len();
        let typed = match element.form() {
            ElementForm::Base(class) => return below(class),
            ElementForm::Number(basic) => MappedType::native(number(basic, element))?,
            ElementForm::Numbers(basic) => MappedType::native(number(basic, element))?,
            ElementForm::Counted(basic) => {
                MappedType::stand_in(FieldType::vector(number(basic, element)))?
            }
            ElementForm::CString | ElementForm::Text => MappedType::stand_in(FieldType::String)?,
            ElementForm::Container => below(pointee)?,
            ElementForm::Object(class) | ElementForm::Versioned(class) => below(class)?,
            ElementForm::Pointer(class) => behind_pointer(below(class)?)?,
            ElementForm::Loop(..) | ElementForm::Unknown => return None,
        };
        // ROOT has no field for a class with a pointer as a member. Of a `std::byte`, ROOT's field has 8 bits, and its
        // streamer 32.
        let is_byte = normalize(pointee) == "std::byte";
        let native = typed.native && !is_pointer && !is_byte;
        arrays(MappedType { native, ..typed }, element)
    }
}

/// Returns the field type of a pointer to an object. RNTuple has no optional records without a class.
fn behind_pointer(object: MappedType) -> Option<MappedType> {
    let is_class = matches!(object.field_type, FieldType::Class(_));
    MappedType::stand_in(FieldType::optional(is_class.then_some(object.field_type)?))
}

/// Returns whether ROOT has no RNTuple field for a class, whatever its members are. These are classes of the standard
/// library without a field type, and classes of ROOT, many of which have hand-written streamers (`TLorentzVector`).
fn is_foreign(name: &str) -> bool {
    let own = matches!(name.as_bytes(), [b'T', b'A'..=b'Z', ..]);
    own || name.starts_with("complex<") || name.starts_with("std::")
}

/// Returns the fundamental type, or the enum, of a member that is a number.
fn number(basic: Basic, element: &Element) -> FieldType {
    let char = element.type_name.trim().to_lowercase().starts_with("char");
    let leaf = match basic.number() {
        _ if basic == Basic::Double32 => Leaf::Double32,
        Number::Int8 if char => Leaf::Char,
        number => number.into(),
    };
    let name = normalize(element.type_name.trim_end_matches(['*', ' ']));
    let is_enum = leaf == Leaf::Int32 && Leaf::of_name(&name).is_none();
    if is_enum { FieldType::Enum(name, leaf) } else { FieldType::Leaf(leaf) }
}

/// Returns fixed arrays of a type within each other, one for each dimension of the member.
fn arrays(typed: MappedType, element: &Element) -> Option<MappedType> {
    if element.array_length == 0 {
        return Some(typed);
    }
    let product = element.dimensions.iter().try_fold(1_i32, |all, &item| all.checked_mul(item));
    let sizes = match product {
        Some(product) if product == element.array_length => element.dimensions.clone(),
        _ => vec![element.array_length],
    };
    let sizes: Vec<u64> =
        sizes.into_iter().map(|size| u64::try_from(size).ok()).collect::<Option<_>>()?;
    // RNTuple has no arrays of records without a class.
    if matches!(typed.field_type, FieldType::Record(_)) {
        return None;
    }
    typed.map(|of| sizes.iter().rev().fold(of, |of, &size| FieldType::array(of, size)))
}

/// Returns `TObject`, as ROOT describes it.
fn t_object() -> FieldType {
    let number = || FieldType::Leaf(Leaf::UInt32);
    FieldType::Class(Class {
        name: "TObject".to_owned(),
        version: 1,
        checksum: Some(0x52d9_6731),
        bases: Vec::new(),
        members: vec![("fUniqueID".to_owned(), number()), ("fBits".to_owned(), number())],
    })
}

/// Returns whether two types have one form. Metadata are ignored.
fn same(this: &DataType, other: &DataType) -> bool {
    match (this, other) {
        (DataType::LargeList(this), DataType::LargeList(other)) => {
            this.is_nullable() == other.is_nullable() && same(this.data_type(), other.data_type())
        }
        (DataType::FixedSizeList(this, size), DataType::FixedSizeList(other, length)) => {
            size == length && same(this.data_type(), other.data_type())
        }
        (DataType::Struct(ones), DataType::Struct(others)) => {
            ones.len() == others.len()
                && ones.iter().zip(others).all(|(item, other)| {
                    item.name() == other.name()
                        && item.is_nullable() == other.is_nullable()
                        && same(item.data_type(), other.data_type())
                })
        }
        _ => this == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `TDataType::GetTypeName` of ROOT says that the codes 1 and 10 (`kLegacyChar`) are both `Char_t`.
    #[test]
    fn a_char_of_the_old_code_is_a_char() {
        for (type_name, code, expected) in [
            ("char", 10, Leaf::Char),
            ("Char_t", 10, Leaf::Char),
            ("char", 1, Leaf::Char),
            ("signed char", 1, Leaf::Int8),
        ] {
            let element = Element::of("TStreamerBasicType", "c", type_name, code);
            let typed = Classes::default().element(&element, 0).unwrap();
            assert_eq!(typed.field_type, FieldType::Leaf(expected), "{type_name} {code}");
        }
    }
}
