//! Decodes the entries of a branch of a TTree: whole objects, or one member of the objects of a class.
//!
//! Each entry of a split branch has the bytes of the member in the object. Each entry of a branch of a split
//! collection has this member of all items in turn, like a container that is streamed member by member.
//!
//! Source: `TBranchElement::ReadLeavesMember`, `ReadLeavesCollectionMember`.

use std::ops::Range;

use arrow_array::ArrayRef;

use super::column::ColumnBuilder;
use super::compile::Compiler;
use super::decode::Decoder;
use super::encode::Entries;
use super::leaf::LeafNumbers;
use super::leaf_list::LeafList;
use super::node::Node;
use super::process_places::ProcessPlaces;
use super::{EntryForm, ObjectLayout, Origin, encode, number};
use crate::error::{Error, Result};
use crate::streamer::basic::Basic;

/// The number of values in each entry, which the bytes of an entry do not contain.
#[derive(Clone, Copy, Debug)]
pub enum Counts<'a> {
    /// One value for each entry.
    One,
    /// Each entry has as many values as the collection has items, given here for each entry.
    Items(&'a [usize]),
}

/// The decoded values of the entries of a branch.
pub struct Values(ColumnBuilder);

impl Values {
    /// Reserves memory for `more` times as many values as there are, but at most `limit` bytes in each buffer.
    /// Nothing happens if there is not enough memory: appending the values requests it again.
    pub fn reserve(&mut self, more: f64, limit: usize) {
        self.0.reserve(more, limit);
    }
}

impl ObjectLayout {
    /// Makes the layout of a branch with one leaf.
    pub fn of_leaf(leaf: &LeafNumbers) -> Self {
        Self::new(Compiler::leaf(leaf))
    }

    /// Makes the layout of a branch whose entries are bytes.
    pub fn of_bytes() -> Self {
        Self::new(Node::Bytes)
    }

    /// Makes the layout of a branch with several leaves. A leaf may hold the length of another.
    pub fn of_leaves(leaves: &[LeafNumbers]) -> Self {
        Self::new(Compiler::leaves(leaves))
    }

    /// Returns the type and the fixed dimensions if the values are numbers or arrays of numbers, but not dates.
    pub fn numbers(&self) -> Option<(Basic, &[usize])> {
        let date = |node: &Node| matches!(node, Node::Number(Basic::Date));
        match &self.node {
            node if date(node) => None,
            Node::Array(_, item) if date(item) => None,
            Node::Number(basic) => Some((*basic, &[])),
            Node::Array(dimensions, item) => match **item {
                Node::Number(basic) => Some((basic, dimensions)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns whether the member is `TObject::fBits`. In some objects more bytes follow it.
    pub fn is_bits(&self) -> bool {
        matches!(self.node, Node::Number(Basic::Bits))
    }

    /// Returns how an entry is streamed, to find its references. It has the values of `items` items, or one value. `lengths` are
    /// the lengths of arrays behind pointers, if another branch has them.
    pub fn entry_form<'a>(
        &'a self,
        items: Option<usize>,
        lengths: Option<&'a [usize]>,
    ) -> EntryForm<'a> {
        match (&self.node, items) {
            // The version of an object decides how its members are streamed.
            (Node::Object(class), None) => EntryForm::Object(&class.name),
            _ => EntryForm::Value { layout: self, items, lengths },
        }
    }

    /// Returns the name of the member that holds the lengths of the arrays, if any.
    pub fn counter(&self) -> Option<&str> {
        match &self.node {
            Node::Counted(counted) => Some(&counted.name),
            _ => None,
        }
    }

    /// Returns the size of a value in bytes if all values have the same size.
    pub fn fixed_size(&self) -> Option<usize> {
        self.node.fixed_size()
    }

    /// Returns the reason why values cannot be written into a basket, with the member, if there is one. References
    /// (`TRef`) can be, if the number of the `process` of the objects is known (`TProcessID`).
    pub fn not_in_baskets(&self, process: Option<u16>) -> Option<String> {
        encode::not_in_baskets(&self.node, process)
    }

    /// Makes an empty container for the values of entries.
    pub fn values(&self) -> Values {
        Values(ColumnBuilder::new(&self.shape))
    }

    /// Decodes the entries of a branch, which are at `ranges` of `bytes`, and appends their values. If another member
    /// holds the lengths of the arrays, `lengths` has them, one for each value. `origin` is the point from which
    /// references of an entry count.
    ///
    /// # Errors
    /// `OutOfSpecification` with the entry, counted from `first`, if its bytes do not match the streamer info;
    /// `Unsupported` for class versions without streamer info; `LimitExceeded` for too many repeated references. The
    /// values must not be used after an error.
    #[allow(clippy::too_many_arguments)]
    pub fn decode_entries(
        &self,
        bytes: &[u8],
        ranges: &[Range<usize>],
        counts: Counts<'_>,
        lengths: Option<&[usize]>,
        origin: &dyn Fn(usize) -> Origin,
        first: u64,
        values: &mut Values,
    ) -> Result<()> {
        if let (Node::Container(content, None), Counts::One) = (&self.node, counts)
            && let Some(basic) = content.numbers_in_list()
            && number::read_containers(basic, bytes, ranges, &mut values.0)?
        {
            return Ok(());
        }
        let mut decoder = Decoder::new(bytes.len());
        self.decode_with(&mut decoder, bytes, ranges, counts, lengths, origin, first, values)
    }

    /// Decodes entries with a decoder. The other arguments are the arguments of [`Self::decode_entries`].
    #[allow(clippy::too_many_arguments)]
    fn decode_with<'a>(
        &self,
        decoder: &mut Decoder<'a>,
        bytes: &'a [u8],
        ranges: &[Range<usize>],
        counts: Counts<'_>,
        mut lengths: Option<&[usize]>,
        origin: &dyn Fn(usize) -> Origin,
        first: u64,
        values: &mut Values,
    ) -> Result<()> {
        let leaves = LeafList::of(&self.node);
        for (entry, range) in ranges.iter().cloned().enumerate() {
            let many = many(counts, entry);
            let stored = bytes.get(range.clone()).unwrap_or_default();
            let completed = leaves.as_ref().map_or(Ok(None), |leaves| leaves.completed(stored));
            let decoded = completed.and_then(|completed| match completed {
                Some(bytes) => Decoder::new(bytes.len()).entry_at(
                    &self.node,
                    &bytes,
                    0..bytes.len(),
                    origin(entry),
                    many,
                    &mut lengths,
                    &mut values.0,
                ),
                None => decoder.entry_at(
                    &self.node,
                    bytes,
                    range,
                    origin(entry),
                    many,
                    &mut lengths,
                    &mut values.0,
                ),
            });
            decoded.map_err(|error| error.at(|place| place.entry = Some(first + entry as u64)))?;
        }
        Ok(())
    }

    /// Returns where the entries at `ranges` of `bytes` state the numbers of processes (`TProcessID`), in order. The other
    /// arguments are the arguments of [`Self::decode_entries`].
    ///
    /// # Errors
    /// `Unsupported` if some bytes are not decoded, so that they may have more; otherwise as [`Self::decode_entries`].
    pub fn processes(
        &self,
        bytes: &[u8],
        ranges: &[Range<usize>],
        counts: Counts<'_>,
        lengths: Option<&[usize]>,
        origin: &dyn Fn(usize) -> Origin,
        first: u64,
    ) -> Result<Vec<usize>> {
        let is_plain = self.node.fixed_size().is_some() && !self.is_bits();
        if is_plain || LeafList::of(&self.node).is_some() {
            return Ok(Vec::new());
        }
        let mut decoder = Decoder::new(bytes.len());
        decoder.processes = Some(ProcessPlaces::default());
        // The values are not needed.
        let mut values = self.values();
        let with = &mut decoder;
        self.decode_with(with, bytes, ranges, counts, lengths, origin, first, &mut values)?;
        let ProcessPlaces { mut places, hidden, .. } = decoder.processes.unwrap_or_default();
        if hidden {
            return Err(Error::unsupported(
                "nyssa does not decode all of its objects, which may have references (TRef)",
            ));
        }
        // An object is decoded for each pointer to it.
        places.sort_unstable();
        places.dedup();
        Ok(places)
    }

    /// Streams the entries `rows` of a branch, which [`ObjectLayout::decode_entries`] reads. With `items`, entry `i` has
    /// the items between `items[i]` and `items[i + 1]` of `array`; otherwise it has the value `i`. `process` is the number of
    /// the process of objects that others refer to (`TProcessID`).
    ///
    /// # Errors
    /// `InvalidArgument` with the entry for arrays of another type than [`ObjectLayout::data_type`] and for values that no
    /// object has; `LimitExceeded` for objects of more than 1 GiB.
    pub fn encode_entries(
        &self,
        array: &ArrayRef,
        items: Option<&[i64]>,
        rows: Range<usize>,
        process: Option<u16>,
    ) -> Result<Entries> {
        encode::encode_entries(&self.node, &self.shape, array, items, rows, process)
    }

    /// Returns the array of all values.
    ///
    /// # Errors
    /// `LimitExceeded` if there are more values than Arrow can count.
    pub fn finish(&self, values: Values) -> Result<ArrayRef> {
        values.0.finish(&self.shape)
    }
}

/// Returns the number of values of an entry that has several.
fn many(counts: Counts<'_>, entry: usize) -> Option<usize> {
    match counts {
        Counts::One => None,
        Counts::Items(counts) => Some(counts.get(entry).copied().unwrap_or(0)),
    }
}

impl Node {
    /// Returns the size of a value in bytes if all values have the same size.
    pub(super) fn fixed_size(&self) -> Option<usize> {
        match self {
            Self::Number(basic) => Some(basic.size()),
            Self::Array(dimensions, item) => {
                dimensions.iter().try_fold(item.fixed_size()?, |size, &n| size.checked_mul(n))
            }
            _ => None,
        }
    }
}
