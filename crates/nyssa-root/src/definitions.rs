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
