//! Bytes of streamed objects → columns.
//!
//! ```text
//! object          version header, base classes and members in order
//! version header  [0x40000000 | byte count : u32] version : u16 [checksum : u32 if version ≤ 0]
//! container       version header; its mark 0x4000 says: member by member, then follows the version
//!                 of the items' class; count : u32, items
//! pointer         0, or byte count, class tag, object; or the place of an object seen before
//! ```
//!
//! Member by member (`kStreamedMemberWise`): the first member of all items, then the second, ...;
//! base classes without a version header, containers behind one for all items.

use super::class::{Class, Step, Version};
use super::column::{Column, mismatch};
use super::node::{Collection, Counted, Node, Pair};
use super::number;
use super::pointer::{Form, Pointer};
use crate::cursor::Cursor;
use crate::error::{Error, Result, ResultExt};
use crate::rootfile::object::{Basic, in_payload};

/// Mark of a byte count (`kByteCountMask`).
const BYTE_COUNT: u32 = 0x4000_0000;
/// Version bit of containers that are streamed member by member (`kStreamedMemberWise`).
const MEMBER_WISE: u16 = 1 << 14;
/// Class name follows (`kNewClassTag`).
const NEW_CLASS: u32 = 0xFFFF_FFFF;
/// Mark of a class tag (`kClassMask`).
const CLASS: u32 = 0x8000_0000;
/// Added to positions so that tags 0 and 1 are free (`kMapOffset`).
const TAG_OFFSET: u32 = 2;
/// `TObject::kIsReferenced`: a process id follows.
const IS_REFERENCED: u32 = 1 << 4;
/// `TObject::kHasUUID`: a `TRef` is followed by a string instead of a process id.
const HAS_UUID: u32 = 1 << 5;
/// `TClonesArray::kBypassStreamer`: objects are streamed member by member.
const BYPASS_STREAMER: u32 = 1 << 12;
/// References may repeat so many bytes of objects per byte of input, and some.
const REPEATED_PER_BYTE: usize = 16;
const REPEATED_SPARE: usize = 1 << 20;
/// References to references nested deeper than this are taken for a damaged file.
const MAX_DEPTH: usize = 100;

/// Decodes entry by entry.
pub(super) struct Decoder<'a> {
    cursor: Cursor<'a>,
    /// Bytes that references may still repeat.
    repeats: usize,
    /// References being followed.
    depth: usize,
}

/// How many objects have their members read together.
#[derive(Clone, Copy)]
enum Rows {
    /// One, with all its members in turn.
    One,
    /// So many, member by member.
    Many(usize),
}

impl Rows {
    fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::Many(count) => count,
        }
    }
}

/// A version header.
struct Header {
    version: u16,
    /// Where the object ends, if it says so.
    end: Option<usize>,
}

impl<'a> Decoder<'a> {
    /// For `size` bytes of objects in all.
    pub fn new(size: usize) -> Self {
        let repeats = size.saturating_mul(REPEATED_PER_BYTE).saturating_add(REPEATED_SPARE);
        Self { cursor: Cursor::new(&[], 0), repeats, depth: 0 }
    }

    /// The object between two offsets.
    pub fn entry(
        &mut self,
        node: &Node,
        bytes: &'a [u8],
        range: &[i64],
        column: &mut Column,
    ) -> Result<()> {
        let bytes = match *range {
            [start, end] => usize::try_from(start)
                .ok()
                .zip(usize::try_from(end).ok())
                .and_then(|(start, end)| bytes.get(start..end)),
            _ => None,
        };
        let bytes =
            bytes.ok_or_else(|| Error::out_of_spec("offsets of objects are out of order"))?;
        self.cursor = Cursor::new(bytes, 0);
        self.node(node, column)
            .and_then(|()| match self.cursor.remaining().len() {
                0 => Ok(()),
                left => Err(self.cursor.error(format!("{left} bytes behind the object"))),
            })
            .map_err(in_payload)
    }

    /// One value.
    fn node(&mut self, node: &Node, column: &mut Column) -> Result<()> {
        match node {
            Node::Number(basic, _) => number::read(*basic, &mut self.cursor, 1, column),
            Node::Text => self.text(column),
            Node::CString => {
                let len = self.length(1)?;
                column.push_bytes(self.cursor.bytes(len)?);
                Ok(())
            }
            Node::TObject => self.t_object(column).map(|_| ()),
            Node::TRef => self.t_ref(column),
            Node::Object(class) => self.object(class, column),
            Node::Array(dimensions, item) => {
                let (items, count) = innermost(column, dimensions)?;
                self.many(item, items, count)
            }
            Node::Counted(_) => Err(mismatch()),
            Node::Sequence(item) => {
                let count = self.length(0)?;
                self.push_list(column, |decoder, items| decoder.many(item, items, count))
            }
            Node::Bitset(size) => self.bitset(*size, column),
            Node::Map(pair) => self.map(pair, column),
            Node::Container(content, dimensions) => {
                self.container(content, dimensions.as_deref(), column, 1)
            }
            Node::Pointer(pointer) => self.pointer(pointer, column),
            Node::Unknown(class) => {
                Err(Error::unsupported(format!("the file has no streamer info of class {class}")))
            }
            Node::Collection(kind, items) => self.collection(*kind, items, column),
        }
    }

    /// `count` values one after the other.
    fn many(&mut self, node: &Node, column: &mut Column, count: usize) -> Result<()> {
        if let Node::Number(basic, _) = node {
            return number::read(*basic, &mut self.cursor, count, column);
        }
        for _ in 0..count {
            // A value takes at least a byte.
            if self.cursor.remaining().is_empty() {
                return Err(self.cursor.error(format!("{count} items, but no bytes are left")));
            }
            self.node(node, column)?;
        }
        Ok(())
    }

    /// Appends a list with the items that `read` appends.
    fn push_list(
        &mut self,
        column: &mut Column,
        read: impl FnOnce(&mut Self, &mut Column) -> Result<()>,
    ) -> Result<()> {
        let Column::List { offsets, item } = column else { return Err(mismatch()) };
        read(self, item)?;
        offsets.push(item.len() as i64);
        Ok(())
    }

    fn text(&mut self, column: &mut Column) -> Result<()> {
        let len = match self.cursor.u8()? {
            255 => self.length(1)?,
            len => usize::from(len),
        };
        column.push_bytes(self.cursor.bytes(len)?);
        Ok(())
    }

    fn bitset(&mut self, size: usize, column: &mut Column) -> Result<()> {
        let count = self.length(1)?;
        if count != size {
            return Err(self.cursor.error(format!("a bitset of {size} bits has {count}")));
        }
        let (bits, _) = innermost(column, &[size])?;
        number::read(Basic::Bool, &mut self.cursor, size, bits)
    }

    fn map(&mut self, pair: &Pair, column: &mut Column) -> Result<()> {
        let count = self.length(2)?;
        self.push_list(column, |decoder, items| {
            let Column::Record { len, members } = items else { return Err(mismatch()) };
            let [key, value] = members.as_mut_slice() else { return Err(mismatch()) };
            for _ in 0..count {
                decoder.node(&pair.key, key)?;
                decoder.node(&pair.value, value)?;
                *len += 1;
            }
            Ok(())
        })
    }

    /// An object with its version header.
    fn object(&mut self, class: &Class, column: &mut Column) -> Result<()> {
        let start = self.cursor.clone();
        let header = self.header()?;
        let version = self.class_version(class, header.version)?;
        self.members(class, version, column, Rows::One)?;
        self.finish(&class.name, &header, &start)
    }

    /// The members of one object, or of many: the first of all, then the second, ...
    fn members(
        &mut self,
        class: &Class,
        version: &Version,
        column: &mut Column,
        rows: Rows,
    ) -> Result<()> {
        if let Some(member) = &version.conflict {
            return Err(Error::unsupported(format!(
                "{member} has another type in version {} of {} than in the others",
                version.version, class.name
            )));
        }
        let Column::Record { len, members } = column else { return Err(mismatch()) };
        let first = *len;
        let count = rows.count();
        for step in &version.steps {
            let read = match (&step.node, step.target) {
                (Node::Counted(counted), Some(target)) => {
                    self.counted(counted, members, target, first..first + count)
                }
                (_, Some(target)) => match members.get_mut(target) {
                    Some(member) => self.member(step, member, rows),
                    None => Err(mismatch()),
                },
                // Not in the version that gives the shape: read to get past it.
                (_, None) => self.member(step, &mut Column::new(&step.node.shape()), rows),
            };
            read.in_field(&step.place)?;
        }
        for &missing in &version.missing {
            if let Some(member) = members.get_mut(missing) {
                (0..count).for_each(|_| member.push_default());
            }
        }
        *len += count;
        Ok(())
    }

    /// One member of one object or of many.
    fn member(&mut self, step: &Step, column: &mut Column, rows: Rows) -> Result<()> {
        let Rows::Many(count) = rows else { return self.node(&step.node, column) };
        match &step.node {
            Node::Object(class) if step.base => {
                let version = class.version(step.base_version).or(class.versions.first());
                let version = version.ok_or_else(mismatch)?;
                self.members(class, version, column, rows)
            }
            Node::Container(content, dimensions) => {
                self.container(content, dimensions.as_deref(), column, count)
            }
            node => self.many(node, column, count),
        }
    }

    /// Numbers behind pointers, for the objects in `rows`.
    fn counted(
        &mut self,
        counted: &Counted,
        members: &mut [Column],
        target: usize,
        rows: std::ops::Range<usize>,
    ) -> Result<()> {
        for row in rows {
            let count = counted
                .counter
                .split_first()
                .and_then(|(first, rest)| members.get(*first)?.count(rest, row))
                .and_then(|count| usize::try_from(count).ok())
                .ok_or_else(|| self.cursor.error("the counter of an array is negative"))?;
            // Zero for a null pointer, whatever the counter says.
            let count = if self.cursor.u8()? == 0 { 0 } else { count };
            let column = members.get_mut(target).ok_or_else(mismatch)?;
            let (lists, arrays) = innermost(column, &counted.dimensions)?;
            for _ in 0..arrays {
                self.push_list(lists, |decoder, items| {
                    number::read(counted.basic, &mut decoder.cursor, count, items)
                })?;
            }
        }
        Ok(())
    }

    /// The containers of `count` objects behind one version header.
    fn container(
        &mut self,
        content: &Node,
        dimensions: Option<&[usize]>,
        column: &mut Column,
        count: usize,
    ) -> Result<()> {
        let start = self.cursor.clone();
        let header = self.header()?;
        let class = if header.version & MEMBER_WISE == 0 {
            None
        } else {
            let version = self.cursor.be_u16()?;
            match items(content) {
                Some(Node::Object(class)) => Some((&**class, self.class_version(class, version)?)),
                Some(Node::Map(pair)) => {
                    Some((&pair.class, self.class_version(&pair.class, version)?))
                }
                Some(Node::Unknown(_)) => {
                    // Its empty containers can be read.
                    if version.cast_signed() <= 0 {
                        self.cursor.skip(4)?;
                    }
                    None
                }
                _ => {
                    return Err(start.error("a container of no objects, member by member"));
                }
            }
        };
        for _ in 0..count {
            let (column, arrays) = innermost(column, dimensions.unwrap_or(&[]))?;
            for _ in 0..arrays {
                match class {
                    None => self.node(content, column)?,
                    Some((class, version)) => {
                        let items = self.length(0)?;
                        self.push_list(column, |decoder, column| {
                            decoder.many_by_member(class, version, column, items)
                        })?;
                    }
                }
            }
        }
        self.finish("container", &header, &start)
    }

    /// Items streamed member by member.
    fn many_by_member(
        &mut self,
        class: &Class,
        version: &Version,
        column: &mut Column,
        count: usize,
    ) -> Result<()> {
        let left = self.cursor.remaining().len();
        if count > left {
            return Err(self.cursor.error(format!("{count} items in {left} bytes")));
        }
        // Without items not even the headers of their containers are there.
        if count == 0 {
            return Ok(());
        }
        self.members(class, version, column, Rows::Many(count))
    }

    fn collection(&mut self, kind: Collection, items: &Pointer, column: &mut Column) -> Result<()> {
        let start = self.cursor.clone();
        let header = self.header()?;
        let Column::Record { len, members } = column else { return Err(mismatch()) };
        let version = header.version;
        let (object, rest) = members.split_first_mut().ok_or_else(mismatch)?;
        let bits = if version > 2 {
            self.t_object(object)?
        } else {
            object.push_default();
            0
        };
        let (name, rest) = rest.split_first_mut().ok_or_else(mismatch)?;
        if version > 1 {
            self.text(name)?;
        } else {
            name.push_bytes(&[]);
        }
        match (kind, rest) {
            (Collection::List, [list]) => {
                let count = self.length(4)?;
                self.push_list(list, |decoder, column| {
                    (0..count).try_for_each(|_| {
                        decoder.pointer(items, column)?;
                        decoder.list_option(version)
                    })
                })?;
            }
            (Collection::Array, [lower, list]) => {
                let count = self.length(4)?;
                number::read(Basic::I32, &mut self.cursor, 1, lower)?;
                self.push_list(list, |decoder, column| {
                    (0..count).try_for_each(|_| decoder.pointer(items, column))
                })?;
            }
            (Collection::Clones, [lower, list]) => self.clones(items, lower, list, bits)?,
            _ => return Err(mismatch()),
        }
        *len += 1;
        self.finish(&items.declared, &header, &start)
    }

    /// The option with which an item was added to a list.
    fn list_option(&mut self, version: u16) -> Result<()> {
        if version > 3 {
            let short = self.cursor.u8()?;
            let len =
                if version > 4 && short == 255 { self.length(1)? } else { usize::from(short) };
            self.cursor.skip(len)?;
        }
        Ok(())
    }

    /// A `TClonesArray` behind its name.
    fn clones(
        &mut self,
        items: &Pointer,
        lower: &mut Column,
        list: &mut Column,
        bits: u32,
    ) -> Result<()> {
        let class_version = self.cursor.root_string()?;
        let count = self.cursor.be_i32()?.unsigned_abs() as usize;
        number::read(Basic::I32, &mut self.cursor, 1, lower)?;
        let (class, version) = class_version.split_once(';').unwrap_or((&class_version, ""));
        if count == 0 {
            return self.push_list(list, |_, _| Ok(()));
        }
        let known = items.classes.iter().position(|(name, _)| name == class);
        let known = known.and_then(|index| Some((index, &items.classes.get(index)?.1)));
        let Some((index, Node::Object(class))) = known else {
            return Err(Error::unsupported(format!(
                "a TClonesArray of {class}, which is not read here"
            )));
        };
        let version = version.parse().ok().and_then(|version| class.version(version));
        let version = version.ok_or_else(|| unknown_version(class, &class_version))?;
        self.push_list(list, |decoder, column| {
            let left = decoder.cursor.remaining().len();
            if count > left {
                return Err(decoder.cursor.error(format!("{count} items in {left} bytes")));
            }
            if bits & BYPASS_STREAMER != 0 {
                let target = alternative(column, index, count)?;
                return decoder.many_by_member(class, version, target, count);
            }
            (0..count).try_for_each(|_| match decoder.cursor.u8()? {
                0 => {
                    column.push_default();
                    Ok(())
                }
                _ => {
                    let target = alternative(column, index, 1)?;
                    decoder.object(class, target)
                }
            })
        })
    }

    /// Reads a `TObject`; its bits.
    fn t_object(&mut self, column: &mut Column) -> Result<u32> {
        self.header()?;
        let identifier = self.cursor.be_u32()?;
        let bits = self.cursor.be_u32()?;
        if bits & IS_REFERENCED != 0 {
            self.cursor.skip(2)?;
        }
        let Column::Record { len, members } = column else { return Err(mismatch()) };
        let [first, second] = members.as_mut_slice() else { return Err(mismatch()) };
        number::push_u32(first, identifier)?;
        number::push_u32(second, bits)?;
        *len += 1;
        Ok(bits)
    }

    fn t_ref(&mut self, column: &mut Column) -> Result<()> {
        let Column::Record { len, members } = column else { return Err(mismatch()) };
        let [object, process] = members.as_mut_slice() else { return Err(mismatch()) };
        if self.t_object(object)? & HAS_UUID != 0 {
            return Err(Error::unsupported("a TRef with a UUID"));
        }
        number::read(Basic::U16, &mut self.cursor, 1, process)?;
        *len += 1;
        Ok(())
    }

    /// A pointer: null, a new object, or one seen before.
    fn pointer(&mut self, pointer: &Pointer, column: &mut Column) -> Result<()> {
        let start = self.cursor.clone();
        let tag = self.cursor.be_u32()?;
        if tag == 0 {
            column.push_default();
            return Ok(());
        }
        if tag & BYTE_COUNT == 0 || tag == NEW_CLASS {
            return self.reference(pointer, column, tag, &start);
        }
        let end = self.end_of(tag)?;
        if self.depth > 0 {
            self.repeats = self.repeats.checked_sub(end - start.position()).ok_or_else(|| {
                Error::limit("references repeat objects far beyond the size of their entries")
            })?;
        }
        let class = self.class_name()?;
        let index = pointer.classes.iter().position(|(name, _)| *name == class);
        let known = index.and_then(|index| Some((index, &pointer.classes.get(index)?.1)));
        match (known, pointer.form()) {
            (Some((_, node)), Form::Nullable) => {
                let Column::Optional { valid, value } = column else { return Err(mismatch()) };
                self.node(node, value)?;
                valid.append(true);
            }
            (Some((index, node)), Form::Union) => {
                let target = alternative(column, index, 1)?;
                self.node(node, target)?;
            }
            _ if pointer.open => {
                let size = end - start.position();
                let bytes = start.remaining().get(..size).unwrap_or_default();
                match pointer.form() {
                    Form::Union => alternative(column, pointer.classes.len(), 1)?.push_bytes(bytes),
                    _ => column.push_bytes(bytes),
                }
                self.cursor.seek(end)?;
            }
            _ => {
                return Err(Error::unsupported(format!(
                    "a pointer to {} leads to an object of class {class}, whose streamer info \
                     does not say that it is derived from it",
                    pointer.declared
                )));
            }
        }
        if self.cursor.position() != end {
            return Err(start.error(format!(
                "the pointer says that its object of class {class} ends at byte {end}, its members \
                 end at byte {}",
                self.cursor.position()
            )));
        }
        Ok(())
    }

    /// A pointer to an object that an earlier pointer brought.
    fn reference(
        &mut self,
        pointer: &Pointer,
        column: &mut Column,
        tag: u32,
        start: &Cursor<'a>,
    ) -> Result<()> {
        let place = tag.checked_sub(TAG_OFFSET).map(|place| place as usize);
        let place = place.filter(|&place| place < start.position() && tag & CLASS == 0);
        let Some(place) = place else {
            return Err(start.error(format!("tag {tag:#x} refers to no object before it")));
        };
        if self.depth >= MAX_DEPTH {
            return Err(start.error("objects refer to each other without end"));
        }
        let back = self.cursor.clone();
        self.cursor.seek(place)?;
        self.depth += 1;
        let read = self.pointer(pointer, column);
        self.depth -= 1;
        self.cursor = back;
        read
    }

    /// The class that the next tag names or refers to.
    fn class_name(&mut self) -> Result<String> {
        let start = self.cursor.clone();
        let tag = self.cursor.be_u32()?;
        if tag == NEW_CLASS {
            return self.name();
        }
        let place = (tag & !CLASS).checked_sub(TAG_OFFSET).map(|place| place as usize);
        let place = place.filter(|&place| place < start.position() && tag & CLASS != 0);
        let mut there = self.cursor.clone();
        match place {
            Some(place) => there.seek(place)?,
            None => return Err(start.error(format!("class tag {tag:#x} refers to no class"))),
        }
        if there.be_u32()? != NEW_CLASS {
            return Err(start.error(format!("class tag {tag:#x} refers to no class")));
        }
        std::mem::swap(&mut self.cursor, &mut there);
        let name = self.name();
        self.cursor = there;
        name
    }

    fn name(&mut self) -> Result<String> {
        let rest = self.cursor.remaining();
        let Some(len) = rest.iter().position(|&byte| byte == 0) else {
            return Err(self.cursor.error("class name without an end"));
        };
        let name = String::from_utf8_lossy(self.cursor.bytes(len)?).into_owned();
        self.cursor.skip(1)?;
        Ok(name)
    }

    fn header(&mut self) -> Result<Header> {
        let mut ahead = self.cursor.clone();
        let end = match ahead.be_u32() {
            Ok(count) if count & BYTE_COUNT != 0 => {
                self.cursor = ahead;
                Some(self.end_of(count)?)
            }
            _ => None,
        };
        Ok(Header { version: self.cursor.be_u16()?, end })
    }

    /// Where a byte count that was just read says that its object ends.
    fn end_of(&self, count: u32) -> Result<usize> {
        let count = (count & !BYTE_COUNT) as usize;
        let left = self.cursor.remaining().len();
        if count > left {
            let message = format!("byte count of {count} where {left} bytes are left");
            return Err(self.cursor.error(message));
        }
        Ok(self.cursor.position() + count)
    }

    /// The version that a header names, by number or by the checksum that follows.
    fn class_version<'c>(&mut self, class: &'c Class, version: u16) -> Result<&'c Version> {
        let number = i32::from(version.cast_signed());
        if number > 0 {
            return class
                .version(number)
                .ok_or_else(|| unknown_version(class, &format!("version {number}")));
        }
        let checksum = self.cursor.be_u32()?;
        class
            .checksum(checksum)
            .ok_or_else(|| unknown_version(class, &format!("checksum {checksum:#010x}")))
    }

    fn finish(&self, class: &str, header: &Header, start: &Cursor<'_>) -> Result<()> {
        match header.end {
            Some(end) if end != self.cursor.position() => Err(start.error(format!(
                "{class} says that it ends at byte {end}, its members end at byte {}",
                self.cursor.position()
            ))),
            _ => Ok(()),
        }
    }

    /// A 32-bit number of things of at least `size` bytes each.
    fn length(&mut self, size: usize) -> Result<usize> {
        let count = self.cursor.be_i32()?;
        let left = self.cursor.remaining().len();
        usize::try_from(count)
            .ok()
            .filter(|count| count.checked_mul(size).is_some_and(|bytes| bytes <= left))
            .ok_or_else(|| self.cursor.error(format!("{count} items in {left} bytes")))
    }
}

/// The column of the innermost items of one array, and their number.
fn innermost<'c>(
    mut column: &'c mut Column,
    dimensions: &[usize],
) -> Result<(&'c mut Column, usize)> {
    let mut count = 1;
    for &size in dimensions {
        let Column::Fixed { len, item, .. } = column else { return Err(mismatch()) };
        *len += count;
        count *= size;
        column = item;
    }
    Ok((column, count))
}

/// The column of child `index` of a union, after `count` values of it are announced.
fn alternative(column: &mut Column, index: usize, count: usize) -> Result<&mut Column> {
    let Column::Union { ids, offsets, children, .. } = column else { return Err(mismatch()) };
    let child = children.get_mut(index).ok_or_else(mismatch)?;
    let id = i8::try_from(index + 1).map_err(|_| mismatch())?;
    for row in child.len()..child.len() + count {
        ids.push(id);
        offsets.push(i32::try_from(row).map_err(|_| Error::limit("too many objects in a union"))?);
    }
    Ok(child)
}

/// What makes up the items of a container: a class, or for a map itself.
fn items(content: &Node) -> Option<&Node> {
    match content {
        Node::Sequence(item) => Some(item),
        Node::Map(_) => Some(content),
        _ => None,
    }
}

fn unknown_version(class: &Class, version: &str) -> Error {
    let known: Vec<String> =
        class.versions.iter().map(|version| version.version.to_string()).collect();
    Error::unsupported(format!(
        "no streamer info of {version} of class {}, only of version {}",
        class.name,
        known.join(", ")
    ))
}
