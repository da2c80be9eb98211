//! Reads and writes the stored form of the list of streamer infos. Only bytes that depend on their position are
//! decoded, so that entries of several files can be put into one list without change.
//!
//! ```text
//! TList            byte count, version, TObject, name, number of entries
//!   entry          byte count, class tag, TStreamerInfo or TList of rules; an option string
//!     elements     byte count, class tag, TObjArray
//!       element    byte count, class tag, TStreamerElement
//! ```
//!
//! A class tag names its class (`0xFFFFFFFF`, name), or it is the position of such a name, counted from the start of
//! the key (`TBufferFile::WriteObjectClass`).

use std::collections::HashMap;

use crate::cursor::{BYTE_COUNT, Cursor};
use crate::error::{Error, Result};
use crate::rootfile::encode;
use crate::streamer::wire::{self, CLASS, IS_REFERENCED, NEW_CLASS, TAG_OFFSET};

/// The class version of `TList`.
const LIST_VERSION: u16 = 5;
/// The class version of `TObject`.
const OBJECT_VERSION: u16 = 1;

/// A list of streamer infos. Each entry has the bytes that are stored in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamerList {
    entries: Vec<Entry>,
}

/// One entry and its option in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    object: Pointee,
    option: Vec<u8>,
}

/// An object behind a pointer, as parts in the order in which they are streamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pointee {
    pub class: String,
    pub parts: Vec<ObjectPiece>,
}

/// A part of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ObjectPiece {
    /// Bytes that do not depend on their position.
    Bytes(Vec<u8>),
    /// A pointer to an object.
    Pointer(Pointee),
}

impl StreamerList {
    /// Parses the uncompressed list after a key of `keylen` bytes.
    ///
    /// # Errors
    /// `OutOfSpecification` if the list is damaged; `Unsupported` for lists of versions of ROOT that are more
    /// than twenty years old.
    pub fn parse(payload: &[u8], keylen: u16) -> Result<Self> {
        let mut parser = Parser { keylen: keylen.into(), classes: HashMap::new() };
        let mut cursor = Cursor::new(payload, 0);
        let mut list = counted(&mut cursor)?;
        let start = list.clone();
        let count = list_head(&mut list)?;
        let mut entries = Vec::new();
        for _ in 0..count {
            let object = parser.entry(&mut list)?;
            entries.push(Entry { object, option: string(&mut list)? });
        }
        if !list.remaining().is_empty() {
            return Err(start.error("the list of streamer infos has bytes after its last entry"));
        }
        Ok(Self { entries })
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds the entries of `other` that are not here yet, in the order of `other`. Two streamer infos are the
    /// same if name, class version and checksum agree.
    pub fn merge(&mut self, other: &Self) {
        for entry in &other.entries {
            if !self.entries.iter().any(|known| known.object.is_same(&entry.object)) {
                self.entries.push(entry.clone());
            }
        }
    }

    /// Returns the newest version of each class that `wanted` accepts, in the order of this list.
    #[must_use]
    pub fn newest(&self, wanted: impl Fn(&str) -> bool) -> Self {
        let mut newest: HashMap<String, (i32, usize)> = HashMap::new();
        for (index, entry) in self.entries.iter().enumerate() {
            let Some((name, version)) = entry.object.name_and_version() else { continue };
            let best = newest.entry(name).or_insert((version, index));
            if version > best.0 {
                *best = (version, index);
            }
        }
        newest.retain(|name, _| wanted(name));
        let mut indices: Vec<usize> = newest.into_values().map(|(_, index)| index).collect();
        indices.sort_unstable();
        let entries = indices.into_iter().filter_map(|index| self.entries.get(index).cloned());
        Self { entries: entries.collect() }
    }

    /// Returns all versions of the classes that `wanted` accepts, in the order of this list.
    #[must_use]
    pub fn versions(&self, wanted: impl Fn(&str) -> bool) -> Self {
        let known =
            |entry: &&Entry| entry.object.name_and_version().is_some_and(|(name, _)| wanted(&name));
        Self { entries: self.entries.iter().filter(known).cloned().collect() }
    }

    /// Adds an entry.
    pub(super) fn push(&mut self, object: Pointee) {
        self.entries.push(Entry { object, option: vec![0] });
    }

    /// Serializes the list, uncompressed, for a place after a key of `keylen` bytes, or after the same number of
    /// bytes in RNTuple's extra type information.
    ///
    /// # Errors
    /// `LimitExceeded` for a list of more than 1 GiB.
    pub fn serialize(&self, keylen: usize) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        let mut classes = HashMap::new();
        wire::versioned(&mut out, LIST_VERSION, |out| {
            out.extend_from_slice(&OBJECT_VERSION.to_be_bytes());
            out.extend_from_slice(&[0; 8]);
            encode::string(out, "")?;
            encode::size(out, self.entries.len(), "list of streamer infos")?;
            for entry in &self.entries {
                entry.object.put(out, keylen, &mut classes)?;
                out.extend_from_slice(&entry.option);
            }
            Ok(())
        })?;
        Ok(out)
    }
}

impl Pointee {
    fn put<'a>(
        &'a self,
        out: &mut Vec<u8>,
        keylen: usize,
        classes: &mut HashMap<&'a str, u32>,
    ) -> Result<()> {
        wire::counted(out, |out| {
            match classes.get(&*self.class) {
                Some(reference) => out.extend_from_slice(&reference.to_be_bytes()),
                None => {
                    let reference = CLASS | (out.len() + keylen + TAG_OFFSET as usize) as u32;
                    classes.insert(&self.class, reference);
                    out.extend_from_slice(&NEW_CLASS.to_be_bytes());
                    out.extend_from_slice(self.class.as_bytes());
                    out.push(0);
                }
            }
            wire::counted(out, |out| {
                self.parts.iter().try_for_each(|part| match part {
                    ObjectPiece::Bytes(bytes) => {
                        out.extend_from_slice(bytes);
                        Ok(())
                    }
                    ObjectPiece::Pointer(pointee) => pointee.put(out, keylen, classes),
                })
            })
        })
    }

    /// Returns whether two entries describe the same version of a class or have the same bytes.
    fn is_same(&self, other: &Self) -> bool {
        match (self.identity(), other.identity()) {
            (Some(own), Some(other)) => own == other,
            _ => self == other,
        }
    }

    /// Returns the name, checksum and class version of a `TStreamerInfo`.
    fn identity(&self) -> Option<(&[u8], &[u8])> {
        let ("TStreamerInfo", Some(ObjectPiece::Bytes(head))) =
            (self.class.as_str(), self.parts.first())
        else {
            return None;
        };
        // The version comes first, then TNamed: byte count, version, TObject, name, title.
        let mut cursor = Cursor::new(head, 0);
        cursor.skip(2).ok()?;
        let mut named = counted(&mut cursor).ok()?;
        named.skip(2).ok()?;
        object(&mut named).ok()?;
        Some((named.remaining(), cursor.remaining()))
    }
}

impl Pointee {
    /// Returns the class and the version that a `TStreamerInfo` describes.
    fn name_and_version(&self) -> Option<(String, i32)> {
        let (named, numbers) = self.identity()?;
        let name = Cursor::new(named, 0).root_string().ok()?;
        let mut numbers = Cursor::new(numbers, 0);
        numbers.be_u32().ok()?;
        Some((name, numbers.be_i32().ok()?))
    }
}

/// The parser of the objects of one record.
struct Parser {
    keylen: usize,
    /// The class names, by the position of their tag in the payload.
    classes: HashMap<usize, String>,
}

impl Parser {
    fn entry(&mut self, cursor: &mut Cursor<'_>) -> Result<Pointee> {
        let (class, body) = self.pointee(cursor)?;
        let mut rest = body.clone();
        let parts = match class.as_str() {
            "TStreamerInfo" => {
                rest.skip(2)?;
                counted(&mut rest)?;
                rest.skip(8)?;
                let head = between(&body, &rest);
                let (class, array) = self.pointee(&mut rest)?;
                let parts = self.array(array)?;
                vec![head, ObjectPiece::Pointer(Pointee { class, parts })]
            }
            // The rules of schema evolution are strings.
            "TList" => {
                let count = list_head(&mut rest)?;
                let mut parts = vec![between(&body, &rest)];
                for _ in 0..count {
                    parts.push(self.leaf(&mut rest)?);
                    parts.push(ObjectPiece::Bytes(string(&mut rest)?));
                }
                parts
            }
            other => {
                return Err(body.error(format!("the list of streamer infos holds a {other}")));
            }
        };
        finish(&rest, &class)?;
        Ok(Pointee { class, parts })
    }

    /// Parses a `TObjArray`.
    fn array(&mut self, body: Cursor<'_>) -> Result<Vec<ObjectPiece>> {
        let mut rest = body.clone();
        rest.skip(2)?;
        object(&mut rest)?;
        string(&mut rest)?;
        let count = rest.be_u32()?;
        rest.skip(4)?;
        let mut parts = vec![between(&body, &rest)];
        for _ in 0..count {
            parts.push(self.leaf(&mut rest)?);
        }
        finish(&rest, "TObjArray")?;
        Ok(parts)
    }

    /// Parses a pointer to an object without pointers.
    fn leaf(&mut self, cursor: &mut Cursor<'_>) -> Result<ObjectPiece> {
        let (class, body) = self.pointee(cursor)?;
        Ok(ObjectPiece::Pointer(Pointee {
            class,
            parts: vec![ObjectPiece::Bytes(body.remaining().to_vec())],
        }))
    }

    /// Returns the class of the object behind a pointer, and a cursor over the object without its byte count.
    fn pointee<'a>(&mut self, cursor: &mut Cursor<'a>) -> Result<(String, Cursor<'a>)> {
        let mut pointer = counted(cursor)?;
        let place = pointer.offset() as usize;
        let tag = pointer.be_u32()?;
        let class = if tag == NEW_CLASS {
            let rest = pointer.remaining();
            let end = rest.iter().position(|&byte| byte == 0);
            let end = end.ok_or_else(|| pointer.error("class name without an end"))?;
            let name = String::from_utf8_lossy(pointer.bytes(end)?).into_owned();
            pointer.skip(1)?;
            self.classes.insert(place, name.clone());
            name
        } else {
            let place = (tag & !CLASS) as usize;
            let known = place
                .checked_sub(self.keylen + TAG_OFFSET as usize)
                .filter(|_| tag & CLASS != 0)
                .and_then(|place| self.classes.get(&place));
            known.cloned().ok_or_else(|| pointer.error(format!("class tag {tag:#x} is unknown")))?
        };
        let body = counted(&mut pointer)?;
        finish(&pointer, &class)?;
        Ok((class, body))
    }
}

/// Returns a cursor over as many bytes as a byte count states, and moves `cursor` to their end.
fn counted<'a>(cursor: &mut Cursor<'a>) -> Result<Cursor<'a>> {
    let start = cursor.clone();
    let count = cursor.be_u32()?;
    if count & BYTE_COUNT == 0 || count == NEW_CLASS {
        return Err(start.error("a byte count is missing in the list of streamer infos"));
    }
    let offset = cursor.offset();
    Ok(Cursor::new(cursor.bytes((count & !BYTE_COUNT) as usize)?, offset))
}

/// Skips the version, `TObject` and name of a list, and returns the number of its items.
fn list_head(cursor: &mut Cursor<'_>) -> Result<u32> {
    let version = cursor.be_u16()?;
    // Version 4 differs only in options of 255 bytes and more. The options of streamer infos are shorter.
    if !(4..=LIST_VERSION).contains(&version) {
        return Err(Error::unsupported(format!("version {version} of TList cannot be copied")));
    }
    object(cursor)?;
    string(cursor)?;
    cursor.be_u32()
}

/// Skips a `TObject`.
fn object(cursor: &mut Cursor<'_>) -> Result<()> {
    cursor.skip(6)?;
    if cursor.be_u32()? & IS_REFERENCED != 0 {
        cursor.skip(2)?;
    }
    Ok(())
}

/// Returns the bytes of a string with its length.
fn string(cursor: &mut Cursor<'_>) -> Result<Vec<u8>> {
    let start = cursor.clone();
    cursor.root_string()?;
    let ObjectPiece::Bytes(bytes) = between(&start, cursor) else { return Ok(Vec::new()) };
    Ok(bytes)
}

fn between(start: &Cursor<'_>, end: &Cursor<'_>) -> ObjectPiece {
    let size = end.position() - start.position();
    ObjectPiece::Bytes(start.remaining().get(..size).unwrap_or_default().to_vec())
}

fn finish(cursor: &Cursor<'_>, class: &str) -> Result<()> {
    match cursor.remaining().len() {
        0 => Ok(()),
        left => Err(cursor.error(format!("{left} bytes after the last member of {class}"))),
    }
}
