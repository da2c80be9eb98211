//! Branches of a TTree: whole objects, or one member of the objects of a class.
//!
//! A split branch has the bytes that the member has in the object, entry by entry; in a split
//! collection an entry has the member of all items in turn, as in containers that are streamed member
//! by member. Source: `TBranchElement::ReadLeavesMember`, `ReadLeavesCollectionMember`.

use std::ops::Range;

use arrow_array::ArrayRef;

use super::column::Column;
use super::compile::Compiler;
use super::decode::Decoder;
use super::leaf::LeafNumbers;
use super::node::Node;
use super::{ObjectLayout, Origin, number};
use crate::error::Result;
use crate::streamer::basic::Basic;

/// How many values each entry has, where its bytes do not say.
#[derive(Clone, Copy, Debug)]
pub enum Counts<'a> {
    /// One.
    One,
    /// As many as the collection has items: one number for each entry.
    Items(&'a [usize]),
}

/// Values of the entries of a branch, as they are decoded.
pub struct Values(Column);

impl Values {
    /// Makes room for `more` times as many values as there are, but for no more than `limit` bytes in
    /// any buffer. Where memory is short nothing happens: the values will ask for it as they come.
    pub fn reserve(&mut self, more: f64, limit: usize) {
        self.0.reserve(more, limit);
    }
}

impl ObjectLayout {
    /// The layout of a branch of one leaf, or of one of the items that another branch counts.
    pub fn of_leaf(leaf: &LeafNumbers) -> Self {
        Self::new(Compiler::leaf(leaf))
    }

    /// The layout of a branch whose entries are bytes.
    pub fn of_bytes() -> Self {
        Self::new(Node::Bytes)
    }

    /// The layout of a branch of several leaves, some of them counted by others.
    pub fn of_leaves(leaves: &[LeafNumbers]) -> Self {
        Self::new(Compiler::leaves(leaves))
    }

    /// Type and fixed dimensions of what is nothing but numbers, dates apart.
    pub(crate) fn numbers(&self) -> Option<(Basic, &[usize])> {
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

    /// Whether it is `TObject::fBits`, which some objects have more bytes behind.
    pub(crate) fn is_bits(&self) -> bool {
        matches!(self.node, Node::Number(Basic::Bits))
    }

    /// The member of the class that holds the lengths of the arrays of this one.
    pub fn counter(&self) -> Option<&str> {
        match &self.node {
            Node::Counted(counted) => Some(&counted.name),
            _ => None,
        }
    }

    /// Bytes of a value, where all have the same number of them.
    pub fn fixed_size(&self) -> Option<usize> {
        self.node.fixed_size()
    }

    /// Room for the values of entries.
    pub fn values(&self) -> Values {
        Values(Column::new(&self.shape))
    }

    /// Decodes the entries of a branch, which lie at `ranges` of `bytes`, and appends their values;
    /// `lengths` are those of the arrays of a counted member, one for each value.
    ///
    /// # Errors
    /// As [`ObjectLayout::decode_from`], with the entry counted from `first`. The values are of no use
    /// then.
    #[allow(clippy::too_many_arguments)]
    pub fn decode_entries(
        &self,
        bytes: &[u8],
        ranges: &[Range<usize>],
        counts: Counts<'_>,
        lengths: Option<&[usize]>,
        origin: Origin,
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
        let mut lengths = lengths;
        for (entry, range) in ranges.iter().cloned().enumerate() {
            let many = match counts {
                Counts::One => None,
                Counts::Items(counts) => Some(counts.get(entry).copied().unwrap_or(0)),
            };
            decoder
                .entry_at(&self.node, bytes, range, origin, many, &mut lengths, &mut values.0)
                .map_err(|error| error.at(|place| place.entry = Some(first + entry as u64)))?;
        }
        Ok(())
    }

    /// The array of all values, one after the other.
    ///
    /// # Errors
    /// `LimitExceeded` where there are more of them than Arrow counts.
    pub fn finish(&self, values: Values) -> Result<ArrayRef> {
        values.0.finish(&self.shape)
    }
}

impl Node {
    /// Bytes of a value, where all have the same number of them.
    fn fixed_size(&self) -> Option<usize> {
        match self {
            Self::Number(basic) => Some(basic.size()),
            Self::Array(dimensions, item) => {
                dimensions.iter().try_fold(item.fixed_size()?, |size, &n| size.checked_mul(n))
            }
            _ => None,
        }
    }
}
