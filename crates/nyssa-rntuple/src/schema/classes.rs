//! Parses C++ type names that use the classes, enums and collections of the user.

use nyssa_root::definitions::{Definition, Definitions as Classes};
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::type_name::{Argument, TypeName};

use super::{Class, FieldType, Leaf, SetKind, check_name};

/// The maximum depth of nested types. It also stops a class that contains itself.
const MAX_DEPTH: usize = 60;

/// Returns the type of a defined name. Returns `None` for all other names.
pub(super) fn declared(classes: &Classes, name: &TypeName) -> Result<Option<FieldType>> {
    match classes.get(&name.to_string()) {
        Some(definition) => Builder(classes).defined(&name.to_string(), definition, 0).map(Some),
        None => Ok(None),
    }
}

impl FieldType {
    /// Parses a C++ type name. It may have the typedefs and short forms that ROOT accepts: `int`, `size_t`,
    /// `vector<Double32_t>`, `ROOT::RVec<float>`, `float[3]`.
    ///
    /// # Errors
    /// `InvalidArgument` for text that is not a type name, for an unknown name (with suggestions), and for a
    /// class that contains itself; `Unsupported` for types that RNTuple does not have.
    pub fn parse(text: &str, classes: &Classes) -> Result<Self> {
        let name = TypeName::parse_with_typedefs(text)?;
        Builder(classes).build(&name, 0)
    }
}

struct Builder<'a>(&'a Classes);

impl Builder<'_> {
    fn text(&self, text: &str, depth: usize) -> Result<FieldType> {
        self.build(&TypeName::parse_with_typedefs(text)?, depth)
    }

    fn build(&self, name: &TypeName, depth: usize) -> Result<FieldType> {
        if depth > MAX_DEPTH {
            return Err(Error::invalid_argument(format!(
                "type {name} is nested more than {MAX_DEPTH} deep: does a class contain itself?"
            )));
        }
        if !name.indirection.is_empty() {
            return Err(Error::unsupported(format!(
                "{name}: pointers and references cannot be written; std::unique_ptr can"
            )));
        }
        let text = name.to_string();
        if let Some(leaf) = Leaf::of_name(&text) {
            return Ok(FieldType::Leaf(leaf));
        }
        if let Some(definition) = self.0.get(&text) {
            return self.defined(&text, definition, depth);
        }
        let (template, arguments) = name.template();
        let types: Vec<&TypeName> = arguments
            .iter()
            .filter_map(|argument| match argument {
                Argument::Type(name) => Some(name),
                Argument::Value(_) => None,
            })
            .collect();
        let values: Vec<u64> = arguments
            .iter()
            .filter_map(|argument| match argument {
                Argument::Value(value) => value.trim_end_matches('u').parse().ok(),
                Argument::Type(_) => None,
            })
            .collect();
        let item = |index: usize| self.build(types[index], depth + 1).map(Box::new);
        let pair = || Ok::<_, Error>(Box::new([*item(0)?, *item(1)?]));
        let all = || types.iter().map(|name| self.build(name, depth + 1)).collect::<Result<_>>();
        for kind in SetKind::ALL {
            match template.strip_prefix(kind.prefix()) {
                Some("set") if arguments.len() == 1 && types.len() == 1 => {
                    return Ok(FieldType::Set(kind, item(0)?));
                }
                Some("map") if types.len() == 2 => return Ok(FieldType::Map(kind, pair()?)),
                _ => {}
            }
        }
        Ok(match (template.as_str(), types.len(), &values[..]) {
            ("std::string", 0, []) => FieldType::String,
            ("std::vector", 1, []) => FieldType::Vector(item(0)?),
            ("ROOT::VecOps::RVec", 1, []) => FieldType::RVec(item(0)?),
            ("std::optional", 1, []) => FieldType::Optional(item(0)?),
            ("std::unique_ptr", 1, []) => FieldType::UniquePtr(item(0)?),
            ("std::atomic", 1, []) => FieldType::Atomic(item(0)?),
            ("std::array", 1, &[size]) => FieldType::Array(item(0)?, size),
            ("std::bitset", 0, &[size]) => FieldType::Bitset(size),
            ("std::pair", 2, []) => FieldType::Pair(pair()?),
            ("std::tuple", 1.., []) => FieldType::Tuple(all()?),
            ("std::variant", 1.., []) => FieldType::Variant(all()?),
            _ => return Err(self.unknown(&text, &template)),
        })
    }

    fn defined(&self, name: &str, definition: &Definition, depth: usize) -> Result<FieldType> {
        match definition {
            Definition::Class { bases, members, version, checksum } => {
                let base = |base: &String| match self.text(base, depth + 1)? {
                    class @ FieldType::Class(_) => Ok(class),
                    _ => Err(Error::invalid_argument(format!(
                        "{base}, a base of {name}, is not a class"
                    ))),
                };
                let member = |(member, member_type): &(String, String)| {
                    check_name("a field", member)?;
                    Ok((member.clone(), self.text(member_type, depth + 1)?))
                };
                let members = members.iter().map(|element| member(element).in_field(&element.0));
                Ok(FieldType::Class(Class {
                    name: name.to_owned(),
                    version: *version,
                    checksum: *checksum,
                    bases: bases.iter().map(base).collect::<Result<_>>()?,
                    members: members.collect::<Result<_>>()?,
                }))
            }
            Definition::Enum(underlying) => match self.text(underlying, depth + 1)? {
                FieldType::Leaf(leaf) if leaf.is_integer() => {
                    Ok(FieldType::Enum(name.to_owned(), leaf))
                }
                _ => Err(Error::invalid_argument(format!(
                    "enum {name} needs an integer type, not {underlying}"
                ))),
            },
            Definition::Streamed => Ok(FieldType::Streamed(name.to_owned())),
            Definition::Collection(item) => {
                let item = Box::new(self.text(item, depth + 1)?);
                Ok(FieldType::Collection(name.to_owned(), item))
            }
        }
    }

    fn unknown(&self, text: &str, template: &str) -> Error {
        if KNOWN_TEMPLATES.contains(&template) {
            return Error::invalid_argument(format!("{text}: wrong template arguments"));
        }
        let own = self.0.names();
        let fundamental = Leaf::ALL.iter().map(|leaf| leaf.type_name());
        let known = own.chain(KNOWN_TEMPLATES).chain(fundamental);
        let error =
            if template.starts_with("std::") || template == "void" || template == "long double" {
                Error::unsupported(format!("{text} is not a type that RNTuple has"))
            } else {
                Error::invalid_argument(format!(
                    "type {text} is not known, and no class of that name is defined"
                ))
            };
        error.suggest(template, known)
    }
}

/// The class templates of RNTuple.
const KNOWN_TEMPLATES: [&str; 20] = [
    "std::string",
    "std::vector",
    "ROOT::VecOps::RVec",
    "std::array",
    "std::bitset",
    "std::optional",
    "std::unique_ptr",
    "std::atomic",
    "std::pair",
    "std::tuple",
    "std::variant",
    "std::set",
    "std::unordered_set",
    "std::multiset",
    "std::unordered_multiset",
    "std::map",
    "std::unordered_map",
    "std::multimap",
    "std::unordered_multimap",
    "Double32_t",
];
