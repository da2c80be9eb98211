//! Encodes Arrow arrays as bytes of streamed objects, the opposite of `decode`.
//!
//! Objects are written in the version that gives the shape. Containers of objects are written member by member
//! if ROOT does so too. If several pointers share an object, it is written once for each pointer.
//!
//! Arrays do not hold the options of items of lists, and the processes of referenced objects. As for new objects in ROOT, the
//! options are empty, and the process is the first process of the file, unless the caller states another.

mod class;
mod collection;
mod container;
mod entries;
pub(super) mod members;
mod number;
mod pointer;
mod root;
mod source;

use std::collections::HashSet;
use std::ops::Range;

pub(super) use class::not_in_baskets;
pub use entries::Entries;

use arrow_array::Array;

use super::basic::Basic;
use super::node::{Class, Node, Pair};
use super::shape::Shape;
use crate::arrow::Number;
use crate::error::{Error, Place, Result};
use crate::rootfile::encode;
use crate::streamer::info::StreamerList;
use crate::streamer::wire;
use members::Rows;
use source::{Numbers, Source};

/// The reason why a member that is read with wider numbers than it has is not written.
const WIDENED: &str =
    "another version of its class, which the file describes too, has a wider number";
/// The reason why references are not written.
const REFERS: &str = "it refers to objects, and their process (TProcessID) is not known";

/// The encoder of objects, one after the other.
#[derive(Default)]
struct Encoder<'n> {
    out: Vec<u8>,
    /// The start of the object, from which class references are counted.
    origin: usize,
    /// The classes that pointers of this object led to, with the places of their names.
    classes: Vec<(&'n str, usize)>,
    /// The places of all references to names of classes. `None` if the objects are not entries of a basket.
    references: Option<Vec<usize>>,
    /// Whether a pointer led to an object.
    has_objects: bool,
    /// The classes around the value that is written, outermost first.
    stack: Vec<&'n Class>,
    /// The number of the process of the objects that others refer to.
    process: Option<u16>,
}

/// Returns the bytes of the objects in `array` and their offsets.
pub(super) fn encode(node: &Node, shape: &Shape, array: &dyn Array) -> Result<(Vec<u8>, Vec<i64>)> {
    let source = Source::new(shape, array)?;
    let mut encoder = Encoder::default();
    let mut offsets = Vec::with_capacity(array.len() + 1);
    offsets.push(0);
    for row in 0..array.len() {
        encoder.origin = encoder.out.len();
        encoder.classes.clear();
        encoder.stack.clear();
        encoder.node(node, &source, row).map_err(|error| in_object(error, row))?;
        offsets.push(encoder.out.len() as i64);
    }
    Ok((encoder.out, offsets))
}

/// Streams the entries `rows` of a branch. With `items`, entry `i` has the items between `items[i]` and `items[i + 1]` of
/// `array`; otherwise it has one value. Without a `process`, references (`TRef`) are refused.
pub(super) fn encode_entries(
    node: &Node,
    shape: &Shape,
    array: &dyn Array,
    items: Option<&[i64]>,
    rows: Range<usize>,
    process: Option<u16>,
) -> Result<Entries> {
    let source = Source::new(shape, array)?;
    let mut encoder = Encoder { references: Some(Vec::new()), process, ..Encoder::default() };
    let mut ends = Vec::with_capacity(rows.len());
    for row in rows {
        encoder.origin = encoder.out.len();
        encoder.classes.clear();
        encoder.stack.clear();
        let written = match items {
            Some(items) => span(items, row).and_then(|items| encoder.items(node, &source, items)),
            None => encoder.entry(node, &source, row),
        };
        written.map_err(|error| in_object(error, row))?;
        ends.push(encoder.out.len());
    }
    let Encoder { out: bytes, references, has_objects, .. } = encoder;
    Ok(Entries { bytes, ends, references: references.unwrap_or_default(), has_objects })
}

/// Returns the newest streamer infos of the classes in nodes, or all versions.
pub(super) fn describe<'n>(
    nodes: impl Iterator<Item = &'n Node>,
    infos: &StreamerList,
    all: bool,
) -> StreamerList {
    let mut names = HashSet::new();
    nodes.for_each(|node| class::collect(node, &mut names));
    // Pairs in containers do not have their full name here, so all pairs are described.
    let pairs = names.iter().any(|name| name.starts_with("pair"));
    let wanted = |name: &str| names.contains(name) || pairs && name.starts_with("pair<");
    if all { infos.versions(wanted) } else { infos.newest(wanted) }
}

impl<'n> Encoder<'n> {
    /// Returns whether the objects are entries of a basket.
    fn in_basket(&self) -> bool {
        self.references.is_some()
    }

    /// Writes one value.
    fn node(&mut self, node: &'n Node, source: &Source<'_>, row: usize) -> Result<()> {
        match (node, source) {
            (Node::TRef | Node::TRefArray, _) if self.in_basket() && self.process.is_none() => {
                Err(Error::unsupported(REFERS))
            }
            (Node::Number(basic), Source::Number(numbers)) => {
                self.numbers(*basic, numbers, row..row + 1)
            }
            (Node::Text, _) => self.text(text(source, row)?),
            (Node::CString, _) => {
                let text = text(source, row)?;
                self.count(text.len())?;
                self.out.extend_from_slice(text);
                Ok(())
            }
            (Node::TObject, _) => self.t_object(source, row).map(|_| ()),
            (Node::TRef, _) => self.t_ref(source, row),
            (Node::TRefArray, _) => self.t_ref_array(source, row),
            (Node::Symmetric(matrix), _) => self.symmetric(matrix, source, row),
            (Node::Object(class) | Node::Members(class, _), _) => self.object(class, source, row),
            (Node::Array(dimensions, item), _) => {
                let (items, rows) = innermost(source, dimensions, row)?;
                self.many(item, items, rows)
            }
            (Node::Sequence(item), Source::List { offsets, item: items }) => {
                let rows = span(offsets, row)?;
                self.count(rows.len())?;
                self.many(item, items, rows)
            }
            (Node::Bitset(size), _) => {
                let (bits, rows) = innermost(source, &[*size], row)?;
                let Source::Number(numbers) = bits else { return Err(misfit()) };
                self.count(*size)?;
                number::write(Basic::Plain(Number::Bool), numbers, rows, &mut self.out)
            }
            (Node::Map(pair), Source::List { offsets, item }) => {
                self.map(pair, item, span(offsets, row)?)
            }
            (Node::Container(content, dimensions), _) => {
                self.container(content, dimensions.as_deref(), source, row..row + 1)
            }
            (Node::Pointer(pointer), _) => self.pointer(pointer, source, row),
            (Node::Unknown(class), _) => {
                Err(Error::unsupported(format!("the file has no streamer info of class {class}")))
            }
            (Node::Opaque(class), _) => self.opaque(class.as_deref(), source, row),
            (Node::RawObject(_), _) => {
                self.out.extend_from_slice(text(source, row)?);
                Ok(())
            }
            (Node::Collection(kind, items), _) => self.collection(*kind, items, source, row),
            _ => Err(misfit()),
        }
    }

    /// Writes an entry of a branch with one value. The objects of a branch that is no member have no header.
    fn entry(&mut self, node: &'n Node, source: &Source<'_>, row: usize) -> Result<()> {
        match node {
            Node::Members(class, _) => self.members(class, source, Rows::One(row)),
            // A branch of its own has the length.
            Node::Counted(counted) => self.counted_alone(counted, source, row),
            node => self.node(node, source, row),
        }
    }

    /// Writes an entry of a branch with a member of the items of a collection.
    fn items(&mut self, node: &'n Node, source: &Source<'_>, items: Range<usize>) -> Result<()> {
        match node {
            Node::Container(content, dimensions) => {
                self.container(content, dimensions.as_deref(), source, items)
            }
            node => self.many(node, source, items),
        }
    }

    /// Writes several values.
    fn many(&mut self, node: &'n Node, source: &Source<'_>, rows: Range<usize>) -> Result<()> {
        match (node, source) {
            (Node::Number(basic), Source::Number(numbers)) => self.numbers(*basic, numbers, rows),
            _ => rows.into_iter().try_for_each(|row| self.node(node, source, row)),
        }
    }

    fn numbers(&mut self, basic: Basic, numbers: &Numbers<'_>, rows: Range<usize>) -> Result<()> {
        match (basic, numbers) {
            (Basic::Bits, Numbers::UInt32(all)) => {
                all.get(rows).ok_or_else(misfit)?.iter().for_each(|bits| self.bits(*bits));
                Ok(())
            }
            _ => number::write(basic, numbers, rows, &mut self.out),
        }
    }

    fn map(&mut self, pair: &'n Pair, source: &Source<'_>, rows: Range<usize>) -> Result<()> {
        let Source::Record(members) = source else { return Err(misfit()) };
        let [keys, values] = members.as_slice() else { return Err(misfit()) };
        self.count(rows.len())?;
        for row in rows {
            self.node(&pair.key, keys, row)?;
            self.node(&pair.value, values, row)?;
        }
        Ok(())
    }

    /// Writes a string with its length.
    fn text(&mut self, text: &[u8]) -> Result<()> {
        encode::text_bytes(&mut self.out, text)
    }

    /// Writes a 32-bit count.
    fn count(&mut self, count: usize) -> Result<()> {
        encode::size(&mut self.out, count, "collection or string")
    }

    fn u16(&mut self, number: u16) {
        self.out.extend_from_slice(&number.to_be_bytes());
    }

    /// Leaves space for a byte count, and returns its position.
    fn begin(&mut self) -> usize {
        self.out.extend_from_slice(&[0; 4]);
        self.out.len() - 4
    }

    /// Sets the byte count at `start` to the number of bytes after it.
    fn end(&mut self, start: usize) -> Result<()> {
        wire::put_count(&mut self.out, start)
    }
}

/// Returns the bytes of a string.
fn text<'a>(source: &Source<'a>, row: usize) -> Result<&'a [u8]> {
    let Source::Bytes { offsets, data, .. } = source else { return Err(misfit()) };
    data.get(span(offsets, row)?).ok_or_else(misfit)
}

/// Returns the range of the items of list `row`.
fn span(offsets: &[i64], row: usize) -> Result<Range<usize>> {
    let at = |row: usize| offsets.get(row).and_then(|&offset| usize::try_from(offset).ok());
    let ends = at(row).zip(at(row + 1)).filter(|(start, end)| start <= end);
    ends.map(|(start, end)| start..end).ok_or_else(misfit)
}

/// Returns the innermost items of an array.
fn innermost<'s, 'a>(
    mut source: &'s Source<'a>,
    dimensions: &[usize],
    row: usize,
) -> Result<(&'s Source<'a>, Range<usize>)> {
    let mut rows = row..row + 1;
    for _ in dimensions {
        let Source::Fixed { size, item } = source else { return Err(misfit()) };
        let end = rows.end.checked_mul(*size).ok_or_else(misfit)?;
        rows = rows.start * size..end;
        source = item;
    }
    Ok((source, rows))
}

/// Puts the member into the message, since the place of the error is the object.
fn in_object(error: Error, row: usize) -> Error {
    let Place { field, .. } = error.place().clone();
    let message = match field {
        Some(member) => format!("{}, in {member}", error.message()),
        None => error.message().to_owned(),
    };
    Error::new(error.kind(), message).at(|place| place.entry = Some(row as u64))
}

fn misfit() -> Error {
    Error::invalid_argument("an array does not have the form that its class needs")
}
