//! Holds the classes, enums and collections that users define, by their C++ names.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::streamer::Basic;
use crate::type_name::TypeName;

/// The version of a class without `ClassDef`.
pub const NO_VERSION: u32 = u32::MAX;

/// A definition of the user. Its types are C++ type names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// A class.
    Class {
        /// The names of the base classes.
        bases: Vec<String>,
        /// The names and types of the members.
        members: Vec<(String, String)>,
        /// The class version. It is [`NO_VERSION`] for classes without `ClassDef`.
        version: u32,
        /// The checksum of ROOT's dictionary, if it is known.
        checksum: Option<u32>,
    },
    /// An enum with this underlying integer type.
    Enum(String),
    /// A class that ROOT treats as a collection of these items.
    Collection(String),
    /// A class whose objects are stored as streamer fields, by ROOT's streamer.
    Streamed,
}

/// A value of an entry of a definition, as dicts of Python and objects of JSON have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A text.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
    /// A number.
    Number(u32),
    /// Another value, which only `":streamed"` may have.
    Other,
}

impl Definition {
    /// The key of the entry that says where the streamer infos of a class are.
    pub const STREAMED: &str = ":streamed";

    /// Makes the definition of a name from entries:
    ///
    /// | entry | meaning |
    /// |---|---|
    /// | `"pt": "float"` | a member; their order is the order of the class |
    /// | `":bases": ["Base"]`, `":version": 2`, `":checksum": 7` | more of a class |
    /// | `":enum": "short"` | an enum |
    /// | `":items": "float"` | a class that ROOT knows as a collection |
    /// | `":streamed": …` | a class whose objects are bytes |
    ///
    /// # Errors
    /// `InvalidArgument` for other keys, and for values of a wrong type.
    pub fn of_entries(name: &str, entries: Vec<(String, Entry)>) -> Result<Self> {
        let refuse = |message: String| Error::invalid_argument(format!("{name}: {message}"));
        let alone = |key: &str| match entries.len() {
            1 => Ok(()),
            _ => Err(refuse(format!("{key:?} must be the only entry"))),
        };
        let (mut bases, mut members) = (Vec::new(), Vec::new());
        let (mut version, mut checksum) = (NO_VERSION, None);
        for (key, value) in &entries {
            match (key.as_str(), value) {
                (":enum", Entry::Text(of)) => return alone(key).map(|()| Self::Enum(of.clone())),
                (":items", Entry::Text(of)) => {
                    return alone(key).map(|()| Self::Collection(of.clone()));
                }
                (Self::STREAMED, _) => return alone(key).map(|()| Self::Streamed),
                (":bases", Entry::Texts(names)) => bases.clone_from(names),
                (":version", Entry::Number(number)) => version = *number,
                (":checksum", Entry::Number(number)) => checksum = Some(*number),
                (":enum" | ":items" | ":bases" | ":version" | ":checksum", _) => {
                    return Err(refuse(format!("{key:?} has a value of a wrong type")));
                }
                (other, _) if other.starts_with(':') => {
                    return Err(refuse(format!(
                        "{other:?} is none of \":bases\", \":version\", \":checksum\", \":enum\", \":items\" and \
                         \":streamed\""
                    )));
                }
                (_, Entry::Text(type_name)) => members.push((key.clone(), type_name.clone())),
                _ => return Err(refuse(format!("the type of {key:?} is no text"))),
            }
        }
        Ok(Self::Class { bases, members, version, checksum })
    }
}

/// The definitions by normalised name.
#[derive(Clone, Debug, Default)]
pub struct Definitions(BTreeMap<String, Definition>);

impl Definitions {
    /// Adds a definition. Its types are looked up only when the name is used.
    ///
    /// # Errors
    /// `InvalidArgument` for a name that is not a class name, is a known type, or is already defined.
    pub fn define(&mut self, name: &str, definition: Definition) -> Result<()> {
        let parsed = TypeName::parse_with_typedefs(name)?;
        let normal = parsed.to_string();
        let known = parsed.template().0.starts_with("std::") || Basic::from_name(&normal).is_some();
        if known || !parsed.indirection.is_empty() {
            return Err(Error::invalid_argument(format!("{name} cannot be defined as a class")));
        }
        match self.0.insert(normal, definition) {
            None => Ok(()),
            Some(_) => Err(Error::invalid_argument(format!("class {name} is defined twice"))),
        }
    }

    /// Returns the definition of a name in normal form.
    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.0.get(name)
    }

    /// Returns the names that are defined, in normal form.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns whether there are no definitions.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
