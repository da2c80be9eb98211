//! Parses text to a [`TypeName`].

use super::{Argument, MAX_DEPTH, Segment, TypeName, alias};
use crate::error::{Error, Result};

/// Parses the whole of `text`. With `typedefs`, `Double32_t` is kept.
pub(super) fn parse(text: &str, typedefs: bool) -> Result<TypeName> {
    let mut parser = Parser { text, rest: text, typedefs };
    let name = parser.type_name(0)?;
    match parser.peek() {
        None => Ok(TypeName { constant: name.constant && !name.indirection.is_empty(), ..name }),
        Some(_) => Err(parser.error("unexpected text after the type")),
    }
}

/// The typedef that defines how a number is stored.
const DOUBLE32: &str = "Double32_t";

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    typedefs: bool,
}

impl<'a> Parser<'a> {
    fn error(&self, what: &str) -> Error {
        let at = self.text.len() - self.rest.len();
        Error::invalid_argument(format!("type name {:?}: {what} at byte {at}", self.text))
    }

    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn eat(&mut self, token: &str) -> bool {
        self.peek();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Returns the next identifier or number.
    fn word(&mut self) -> Option<&'a str> {
        self.peek();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return None;
        }
        self.rest = rest;
        Some(word)
    }

    fn type_name(&mut self, depth: usize) -> Result<TypeName> {
        if depth > MAX_DEPTH {
            return Err(self.error("too deeply nested"));
        }
        let mut constant = false;
        let mut words: Vec<&str> = Vec::new();
        self.eat("::");
        loop {
            let before = self.rest;
            match self.word() {
                Some("const") => constant = true,
                Some("volatile" | "class" | "struct" | "enum" | "typename") => {
                    self.eat("::");
                }
                // Two words in a row are a fundamental type. Otherwise the name is complete.
                Some(word) if words.is_empty() || is_fundamental_word(word) => {
                    words.push(word);
                    if !is_fundamental_word(word) {
                        break;
                    }
                }
                _ => {
                    self.rest = before;
                    break;
                }
            }
        }
        let path = self.path(&words, depth)?;
        let mut name = TypeName { path, constant, indirection: String::new() };
        self.suffixes(&mut name)?;
        Ok(name)
    }

    fn path(&mut self, words: &[&str], depth: usize) -> Result<Vec<Segment>> {
        let Some((first, more)) = words.split_first() else {
            return Err(self.error("a name is missing"));
        };
        let at_end = !matches!(self.peek(), Some('<')) && !self.rest.starts_with("::");
        if self.typedefs && words == [DOUBLE32] {
            return Ok(vec![plain(DOUBLE32)]);
        }
        if at_end && let Some(name) = alias::fundamental(words) {
            return Ok(name.split("::").map(plain).collect());
        }
        if !more.is_empty() || first.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.error("not a type"));
        }
        let mut path = vec![self.segment(first, depth)?];
        while self.eat("::") {
            let word = self.word().ok_or_else(|| self.error("a name is missing after ::"))?;
            path.push(self.segment(word, depth)?);
        }
        Ok(normalize_path(path))
    }

    fn segment(&mut self, name: &str, depth: usize) -> Result<Segment> {
        let mut segment = plain(name);
        if self.eat("<") {
            let mut arguments = Vec::new();
            if !self.eat(">") {
                loop {
                    arguments.push(self.argument(depth)?);
                    if self.eat(">") {
                        break;
                    }
                    if !self.eat(",") {
                        return Err(self.error("',' or '>' is missing"));
                    }
                }
            }
            segment.arguments = Some(arguments);
        }
        Ok(segment)
    }

    fn argument(&mut self, depth: usize) -> Result<Argument> {
        let negative = self.eat("-");
        let digit = matches!(self.peek(), Some(c) if c.is_ascii_digit());
        if !negative && !digit {
            let name = self.type_name(depth + 1)?;
            return Ok(match name.to_string().as_str() {
                value @ ("true" | "false") => Argument::Value(value.to_owned()),
                _ => Argument::Type(name),
            });
        }
        let word = self.word().unwrap_or_default();
        let value = integer(word).ok_or_else(|| self.error("not an integer"))?;
        // Only values that need the suffix of unsigned numbers keep it.
        let suffix = if !negative && value > i64::MAX as u64 { "u" } else { "" };
        let sign = if negative && value != 0 { "-" } else { "" };
        Ok(Argument::Value(format!("{sign}{value}{suffix}")))
    }

    fn suffixes(&mut self, name: &mut TypeName) -> Result<()> {
        let mut dimensions = Vec::new();
        loop {
            let before = self.rest;
            if self.eat("*") {
                name.indirection.push('*');
            } else if self.eat("&") {
                name.indirection.push('&');
            } else if self.eat("[") {
                let size = self.word().and_then(integer);
                dimensions.push(size.ok_or_else(|| self.error("an array size is missing"))?);
                if !self.eat("]") {
                    return Err(self.error("']' is missing"));
                }
            } else {
                match self.word() {
                    Some("const") if name.indirection.is_empty() => name.constant = true,
                    Some("const" | "volatile") => {}
                    _ => {
                        self.rest = before;
                        break;
                    }
                }
            }
        }
        for size in dimensions.into_iter().rev() {
            let item = std::mem::replace(name, array_of(size));
            if let Some(Segment { arguments: Some(arguments), .. }) = name.path.last_mut() {
                arguments.insert(0, Argument::Type(item));
            }
        }
        Ok(())
    }
}

fn plain(name: &str) -> Segment {
    Segment { name: name.to_owned(), arguments: None }
}

/// Makes `std::array<,size>`, to which the type of the items is still to be added.
fn array_of(size: u64) -> TypeName {
    let arguments = Some(vec![Argument::Value(size.to_string())]);
    let path = vec![plain("std"), Segment { name: "array".to_owned(), arguments }];
    TypeName { path, constant: false, indirection: String::new() }
}

fn is_fundamental_word(word: &str) -> bool {
    matches!(word, "signed" | "unsigned" | "short" | "long" | "int" | "char" | "double")
}

/// Parses a decimal, hexadecimal or octal literal.
fn integer(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8).ok(),
        None => digits.parse().ok(),
    }
}

/// Resolves `RVec`, typedefs in `std` and omitted `std::`, and drops arguments that are not stored.
fn normalize_path(mut path: Vec<Segment>) -> Vec<Segment> {
    let names: Vec<&str> = path.iter().map(|segment| segment.name.as_str()).collect();
    match names[..] {
        ["ROOT", "RVec"] => path.insert(1, plain("VecOps")),
        ["std", name] if path[1].arguments.is_none() => {
            if let Some(known) = alias::fundamental(&[name]).filter(|_| name.ends_with("_t")) {
                return known.split("::").map(plain).collect();
            }
        }
        // A class with this name and without arguments is a class of the user.
        [name]
            if path[0].arguments.is_some()
                && alias::standard(name).is_some_and(|count| count.is_none_or(|n| n > 0)) =>
        {
            path.insert(0, plain("std"));
        }
        ["string"] => path.insert(0, plain("std")),
        _ => {}
    }
    if let [std, class] = &mut path[..]
        && std.name == "std"
        && let Some(Some(count)) = alias::standard(&class.name)
        && let Some(arguments) = &mut class.arguments
    {
        arguments.truncate(count);
    }
    path
}
