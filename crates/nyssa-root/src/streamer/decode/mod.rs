//! Decodes the bytes of streamed objects into columns.
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

mod collection;
mod container;
mod header;
mod link;
mod members;
mod pointer;
mod raw;
mod root;

use std::ops::Range;

use link::Met;
pub(super) use link::{Inside, Pending};
use members::Rows;

use super::column::{ColumnBuilder, mismatch};
use super::compile::ClassVersion;
use super::node::{Node, Pair};
use super::process_places::ProcessPlaces;
use super::reference_places::ReferencePlaces;
use super::{Origin, number};
use crate::arrow::Number;
use crate::cursor::Cursor;
use crate::error::{Error, Place, Result};
use crate::streamer::basic::Basic;
use crate::streamer::wire::IS_REFERENCED;

/// The number of bytes of objects that references may repeat for each byte of input.
const REPEATED_PER_BYTE: usize = 16;
const REPEATED_SPARE: usize = 1 << 20;
/// The number of values that null pointers, and members that an old version lacks, may take for each byte of input.
const DEFAULTS_PER_BYTE: usize = 64;
const DEFAULTS_SPARE: usize = 1 << 20;
/// The number of lists and other values that take no bytes of the input, for each byte of it. The dimensions of arrays
/// come from the streamer info, and an array may be nothing but empty lists.
const EMPTY_PER_BYTE: usize = 64;
const EMPTY_SPARE: usize = 1 << 16;

/// The decoder of objects, one after the other.
pub(super) struct Decoder<'a> {
    cursor: Cursor<'a>,
    /// The position of the object at the cursor, as references count it.
    origin: usize,
    /// The number of bytes that references may still repeat.
    repeats: usize,
    /// The number of values that null pointers and missing members may still take.
    defaults: usize,
    /// The number of values without bytes that may still come.
    empty: usize,
    /// The number of references that are being followed.
    depth: usize,
    /// The places of references, if they are wanted.
    pub marks: Option<ReferencePlaces>,
    /// The places of the numbers of processes, if they are wanted.
    pub processes: Option<ProcessPlaces>,
    /// The objects that pointers lead to, if pointers are read as their numbers.
    met: Option<Met<'a>>,
    /// The version of a class in the last object whose members do not have the types of the class.
    pub conflict: Option<(String, ClassVersion)>,
}

impl<'a> Decoder<'a> {
    /// Makes a decoder for `size` bytes of objects.
    pub(super) fn new(size: usize) -> Self {
        let room = |per_byte, spare| size.saturating_mul(per_byte).saturating_add(spare);
        Self {
            cursor: Cursor::new(&[], 0),
            origin: 0,
            repeats: room(REPEATED_PER_BYTE, REPEATED_SPARE),
            defaults: room(DEFAULTS_PER_BYTE, DEFAULTS_SPARE),
            empty: room(EMPTY_PER_BYTE, EMPTY_SPARE),
            depth: 0,
            marks: None,
            processes: None,
            met: None,
            conflict: None,
        }
    }

    /// Decodes the object between two offsets.
    pub(super) fn object_at(
        &mut self,
        node: &Node,
        bytes: &'a [u8],
        range: &[i64],
        origin: Origin,
        column: &mut ColumnBuilder,
    ) -> Result<()> {
        let range = match *range {
            [start, end] => {
                let ends = usize::try_from(start).ok().zip(usize::try_from(end).ok());
                ends.map(|(start, end)| start..end)
            }
            _ => None,
        };
        self.within(bytes, range, origin, |decoder| decoder.node(node, column))
            .map_err(|error| header::of_value(node, error))
    }

    /// Decodes the entry of a branch between two offsets, which is one value or the values of `many` items.
    /// `lengths` are the lengths of the arrays that follow.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn entry_at(
        &mut self,
        node: &Node,
        bytes: &'a [u8],
        range: Range<usize>,
        origin: Origin,
        items: Option<usize>,
        lengths: &mut Option<&[usize]>,
        column: &mut ColumnBuilder,
    ) -> Result<()> {
        let rows = items.map_or(Rows::One, Rows::Many);
        self.within(bytes, Some(range), origin, |decoder| match node {
            // Some versions of ROOT write the header of containers here, too.
            _ if items == Some(0) && decoder.cursor.remaining().is_empty() => Ok(()),
            // Old versions of ROOT write the bits of referenced objects in split branches without the number of
            // the process.
            Node::Number(Basic::Bits)
                if decoder.cursor.remaining().len() == 4 * items.unwrap_or(1) =>
            {
                number::read(
                    Basic::Plain(Number::UInt32),
                    &mut decoder.cursor,
                    items.unwrap_or(1),
                    column,
                )
            }
            Node::Counted(counted) => decoder.counted_entry(counted, column, rows, lengths),
            // Items of a class without members take no bytes.
            Node::Object(class) if items.is_some() && decoder.cursor.remaining().is_empty() => {
                let empty = class.versions.iter().find(|version| version.steps.is_empty());
                match empty {
                    Some(version) => decoder.members(class, version, column, rows),
                    None => decoder.value(node, column, rows),
                }
            }
            node => decoder.value(node, column, rows),
        })
        .map_err(|error| header::of_value(node, error))
    }

    /// Runs `read` on the bytes between two offsets. It has to read all of them.
    fn within(
        &mut self,
        bytes: &'a [u8],
        range: Option<Range<usize>>,
        origin: Origin,
        read: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let object = range.and_then(|range| Some((range.start, bytes.get(range)?)));
        let Some((start, bytes)) = object else {
            return Err(Error::out_of_spec("offsets of objects are out of order"));
        };
        self.cursor = Cursor::new(bytes, 0);
        self.processes.iter_mut().for_each(|places| places.start = start);
        self.origin = match origin {
            Origin::Object(before) => before as usize,
            Origin::Buffer(before) => start.saturating_add(before as usize),
        };
        read(self)
            .and_then(|()| match self.cursor.remaining().len() {
                0 => Ok(()),
                left => Err(self.cursor.error(format!("{left} bytes after the object"))),
            })
            .map_err(in_object)
    }

    /// Decodes one value.
    fn node(&mut self, node: &Node, column: &mut ColumnBuilder) -> Result<()> {
        match node {
            Node::Number(basic) => self.numbers(*basic, 1, column),
            Node::Text => self.text(column),
            Node::CString => {
                let len = self.cursor.number_of(1)?;
                column.push_bytes(self.cursor.bytes(len)?);
                Ok(())
            }
            Node::TObject => self.t_object(column).map(|_| ()),
            Node::TRef => self.t_ref(column),
            Node::TRefArray => self.t_ref_array(column),
            Node::Symmetric(matrix) => self.symmetric(matrix, column),
            Node::Object(class) => self.object(class, column),
            Node::Members(class, version) => {
                let version = class.versions.get(*version).ok_or_else(mismatch)?;
                self.members(class, version, column, Rows::One)
            }
            Node::Array(dimensions, item) => {
                let (items, count) = innermost(column, dimensions)?;
                self.many(item, items, count)
            }
            Node::Counted(_) => Err(mismatch()),
            Node::Sequence(_) if node.numbers_in_list().is_some() => self.many(node, column, 1),
            Node::Sequence(item) => {
                let count = self.cursor.number_of(0)?;
                self.push_list(column, |decoder, items| decoder.many(item, items, count))
            }
            Node::Bitset(size) => self.bitset(*size, column),
            Node::Map(pair) => self.map(pair, column),
            Node::Container(content, dimensions) => {
                self.container(content, dimensions.as_deref(), column, 1)
            }
            Node::Pointer(pointer) => self.pointer(pointer, column),
            Node::Embedded(class) => self.embedded(class, column),
            Node::Skipped(class, reason) => self.skipped(class, reason, column),
            Node::Unknown(class) => {
                Err(Error::unsupported(format!("the file has no streamer info of class {class}")))
            }
            Node::Unreadable(reason) => Err(Error::unsupported(reason.to_string())),
            Node::Named(_) | Node::Seeks(_) => Err(mismatch()),
            Node::Opaque(class) => Self::opaque(class.as_deref()),
            Node::Collection(kind, items) => self.collection(*kind, items, column),
            Node::RawObject(raw) => self.raw_object(raw, column),
            Node::Bytes => {
                self.hides_processes();
                let rest = self.cursor.remaining();
                column.push_bytes(rest);
                self.cursor.skip(rest.len())
            }
        }
    }

    /// Decodes numbers. The number of a process may follow the bits of a `TObject`.
    fn numbers(&mut self, basic: Basic, count: usize, column: &mut ColumnBuilder) -> Result<()> {
        if basic == Basic::Bits && self.processes.is_some() {
            let mut ahead = self.cursor.clone();
            for _ in 0..count {
                if ahead.be_u32()? & IS_REFERENCED != 0 {
                    self.processes.iter_mut().for_each(|places| places.add(ahead.position()));
                    ahead.skip(2)?;
                }
            }
        }
        number::read(basic, &mut self.cursor, count, column)
    }

    /// Notes that the number of a process is at the cursor.
    fn process_here(&mut self) {
        let at = self.cursor.position();
        self.processes.iter_mut().for_each(|places| places.add(at));
    }

    /// Notes that bytes are not decoded.
    fn hides_processes(&mut self) {
        self.processes.iter_mut().for_each(|places| places.hidden = true);
    }

    /// Decodes `count` values.
    fn many(&mut self, node: &Node, column: &mut ColumnBuilder, count: usize) -> Result<()> {
        if let Node::Number(basic) = node {
            return self.numbers(*basic, count, column);
        }
        if let Some(basic) = node.numbers_in_list() {
            return number::read_lists(basic, &mut self.cursor, count, column);
        }
        for _ in 0..count {
            // A value takes at least one byte.
            if self.cursor.remaining().is_empty() {
                return Err(self.cursor.error(format!("{count} items, but no bytes are left")));
            }
            let before = self.cursor.position();
            self.node(node, column)?;
            if self.cursor.position() == before {
                self.without_bytes(1)?;
            }
        }
        Ok(())
    }

    /// Counts values that take no bytes.
    fn without_bytes(&mut self, count: usize) -> Result<()> {
        let left = self.empty.checked_sub(count);
        self.empty = left.ok_or_else(|| {
            Error::limit("arrays of empty lists take far more memory than the objects have bytes")
        })?;
        Ok(())
    }

    /// Decodes `arrays` lists of `count` values into the lists of `column`.
    fn arrays(
        &mut self,
        node: &Node,
        column: &mut ColumnBuilder,
        (arrays, count): (usize, usize),
    ) -> Result<()> {
        if count == 0 {
            self.without_bytes(arrays)?;
        }
        (0..arrays).try_for_each(|_| {
            self.push_list(column, |decoder, items| decoder.many(node, items, count))
        })
    }

    /// Appends a list with the items that `read` appends.
    fn push_list(
        &mut self,
        column: &mut ColumnBuilder,
        read: impl FnOnce(&mut Self, &mut ColumnBuilder) -> Result<()>,
    ) -> Result<()> {
        let ColumnBuilder::List { offsets, item } = column else { return Err(mismatch()) };
        read(self, item)?;
        offsets.push(item.len() as i64);
        Ok(())
    }

    /// Notes that bytes were decoded once more.
    fn repeated(&mut self, bytes: usize) -> Result<()> {
        self.repeats = self.repeats.checked_sub(bytes).ok_or_else(|| {
            Error::limit("references repeat objects far beyond the size of their entries")
        })?;
        Ok(())
    }

    /// Appends `count` zeros, empty lists or nulls.
    fn push_defaults(&mut self, column: &mut ColumnBuilder, count: usize) -> Result<()> {
        let values = column.default_size().saturating_mul(count);
        self.defaults = self.defaults.checked_sub(values).ok_or_else(|| {
            Error::limit("null pointers and missing members take far more memory than the objects")
        })?;
        (0..count).for_each(|_| column.push_default());
        Ok(())
    }

    fn text(&mut self, column: &mut ColumnBuilder) -> Result<()> {
        column.push_bytes(self.cursor.root_bytes()?);
        Ok(())
    }

    fn bitset(&mut self, size: usize, column: &mut ColumnBuilder) -> Result<()> {
        let count = self.cursor.number_of(1)?;
        if count != size {
            return Err(self.cursor.error(format!("a bitset of {size} bits has {count}")));
        }
        let (bits, _) = innermost(column, &[size])?;
        number::read(Basic::Plain(Number::Bool), &mut self.cursor, size, bits)
    }

    fn map(&mut self, pair: &Pair, column: &mut ColumnBuilder) -> Result<()> {
        let count = self.cursor.number_of(2)?;
        self.push_list(column, |decoder, items| {
            let ColumnBuilder::Record { len, members } = items else { return Err(mismatch()) };
            let [key, value] = members.as_mut_slice() else { return Err(mismatch()) };
            for _ in 0..count {
                decoder.node(&pair.key, key)?;
                decoder.node(&pair.value, value)?;
                *len += 1;
            }
            Ok(())
        })
    }
}

/// Returns the column of the innermost items of an array, and their number.
fn innermost<'c>(
    mut column: &'c mut ColumnBuilder,
    dimensions: &[usize],
) -> Result<(&'c mut ColumnBuilder, usize)> {
    let mut count = 1;
    for &size in dimensions {
        let ColumnBuilder::Fixed { len, item, .. } = column else { return Err(mismatch()) };
        *len += count;
        count *= size;
        column = item;
    }
    Ok((column, count))
}

/// Adds `count` rows of child `index` to a union, and returns the column of this child for their values.
fn alternative(
    column: &mut ColumnBuilder,
    index: usize,
    count: usize,
) -> Result<&mut ColumnBuilder> {
    let ColumnBuilder::Union { ids, offsets, children, .. } = column else {
        return Err(mismatch());
    };
    let child = children.get_mut(index).ok_or_else(mismatch)?;
    let id = i8::try_from(index + 1).map_err(|_| mismatch())?;
    for row in child.len()..child.len() + count {
        ids.push(id);
        offsets.push(i32::try_from(row).map_err(|_| Error::limit("too many objects in a union"))?);
    }
    Ok(child)
}

/// Puts the member and the byte of the object into the message, since the place of the error is the object.
fn in_object(error: Error) -> Error {
    let Place { field, offset, .. } = error.place().clone();
    let mut message = error.message().to_owned();
    if let Some(member) = field {
        message = format!("{message}, in {member}");
    }
    if let Some(offset) = offset {
        message = format!("{message}, at byte {offset} of the object");
    }
    Error::new(error.kind(), message)
}
