//! Parses C++ type names and brings them into the normal form of the specification ("Type Name Normalization").
//!
//! ```text
//! const vector< unsigned int, allocator<unsigned int> >   →   std::vector<std::uint32_t>
//! class ::Event[3]                                         →   std::array<Event,3>
//! ```

mod alias;
mod parser;

#[cfg(test)]
mod tests;

use std::fmt;

use crate::error::Result;

/// The largest depth of nested template arguments.
const MAX_DEPTH: usize = 100;

/// A type name as a tree, in normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// The namespaces, enclosing classes and the type itself: `std`, `vector<float>`.
    pub path: Vec<Segment>,
    /// Whether the type is `const`. Only template arguments and types behind pointers can be `const`.
    pub constant: bool,
    /// The `*` and `&` after the name.
    pub indirection: String,
}

/// One part of a qualified name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The identifier.
    pub name: String,
    /// The template arguments. `None` if there are no angle brackets.
    pub arguments: Option<Vec<Argument>>,
}

/// A template argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A type.
    Type(TypeName),
    /// An integer in decimal notation, or `true` or `false`.
    Value(String),
}

/// Returns the normal form of the name of a fundamental type, or of its typedef in ROOT or C, for example
/// `std::uint32_t` for `unsigned int` and `UInt_t`. Returns `None` for all other names.
pub(crate) fn fundamental(name: &str) -> Option<&'static str> {
    let words: Vec<&str> = name.split_whitespace().collect();
    alias::fundamental(&words)
}

/// Returns the class that a typedef of ROOT stands for, such as `TMatrixT<double>` for `TMatrixD`. Other names stay.
pub(crate) fn of_typedef(name: &str) -> &str {
    alias::class(name).unwrap_or(name)
}

impl TypeName {
    /// Parses and normalises a name.
    ///
    /// # Errors
    /// `InvalidArgument` for a text that is not a C++ type name, for function types, and for names that are
    /// nested too deep.
    pub fn parse(text: &str) -> Result<Self> {
        parser::parse(text, false)
    }

    /// Parses and normalises a name, but keeps `Double32_t`, which defines how a `double` is stored.
    ///
    /// # Errors
    /// `InvalidArgument` for a text that is not a C++ type name, for function types, and for names that are nested
    /// too deep.
    pub fn parse_with_typedefs(text: &str) -> Result<Self> {
        parser::parse(text, true)
    }

    /// Returns the qualified name without the arguments of the last part, and these arguments, such as
    /// `std::vector` and `[float]`. The list is empty if there are no arguments.
    pub fn template(&self) -> (String, &[Argument]) {
        let names: Vec<String> = match self.path.split_last() {
            Some((last, outer)) => {
                outer.iter().map(Segment::to_string).chain([last.name.clone()]).collect()
            }
            None => Vec::new(),
        };
        let arguments = self.path.last().and_then(|last| last.arguments.as_deref());
        (names.join("::"), arguments.unwrap_or_default())
    }

    /// Returns the stars and ampersands after the name.
    pub fn indirection(&self) -> &str {
        &self.indirection
    }

    /// Returns the type arguments if the type is the template `name`, such as `std::map`. Returns `None` for
    /// other types.
    pub fn arguments_of(&self, name: &str) -> Option<Vec<&TypeName>> {
        let (own, arguments) = self.template();
        (own == name && self.indirection.is_empty()).then(|| {
            arguments
                .iter()
                .filter_map(|argument| match argument {
                    Argument::Type(name) => Some(name),
                    Argument::Value(_) => None,
                })
                .collect()
        })
    }
}

/// Returns the normal form of `text`, or `text` itself if it cannot be parsed.
pub fn normalize(text: &str) -> String {
    TypeName::parse(text).map_or_else(|_| text.to_owned(), |name| name.to_string())
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.constant {
            f.write_str("const ")?;
        }
        for (index, segment) in self.path.iter().enumerate() {
            if index > 0 {
                f.write_str("::")?;
            }
            segment.fmt(f)?;
        }
        f.write_str(&self.indirection)
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        let Some(arguments) = &self.arguments else { return Ok(()) };
        f.write_str("<")?;
        for (index, argument) in arguments.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            match argument {
                Argument::Type(name) => name.fmt(f)?,
                Argument::Value(value) => f.write_str(value)?,
            }
        }
        f.write_str(">")
    }
}
