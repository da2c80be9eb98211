//! Defines the open elements of one column, from one or several arrays.

use std::ops::Range;

use nyssa_root::error::{Error, Result};

use super::blocks::Blocks;
use super::elements::Elements;

/// The elements in order: first the copied elements, in the layout in memory, then at most one borrowed array.
#[derive(Debug, Default)]
pub(crate) struct ColumnData {
    /// The copied elements in the layout of [`crate::encoding`]. Offsets count from the start of the
    /// cluster.
    owned: Blocks,
    width: usize,
    tail: Option<Elements>,
    /// The number of elements of the tail that are already sealed.
    tail_start: usize,
    /// The offset at which the tail starts.
    base: u64,
    /// The last end offset. `None` for columns without offsets.
    last_offset: Option<u64>,
    /// The number of values of each alternative of a variant.
    alternatives: Vec<u64>,
}

impl ColumnData {
    /// Appends the elements of one array, without copying.
    ///
    /// # Errors
    /// `InvalidArgument` when there are more items than 64-bit offsets can count.
    pub(crate) fn push(&mut self, elements: Elements) -> Result<()> {
        self.own();
        let elements = elements.placed(&mut self.alternatives);
        self.width = elements.native_width();
        if let Some(items) = elements.last_offset() {
            self.base = self.last_offset.unwrap_or(0);
            let last = self.base.checked_add(items).filter(|&last| i64::try_from(last).is_ok());
            self.last_offset =
                Some(last.ok_or_else(|| {
                    Error::invalid_argument("a cluster cannot hold that many items")
                })?);
        }
        self.tail = Some(elements);
        self.tail_start = 0;
        Ok(())
    }

    /// Copies the borrowed elements, so that the arrays may change.
    pub(crate) fn own(&mut self) {
        let Some(tail) = self.tail.take() else { return };
        let (first, base) = (self.tail_start, self.signed_base());
        self.owned.append(tail.len() - first, self.width, |range, out| {
            tail.append_native(first + range.start..first + range.end, base, out);
        });
    }

    /// Returns the number of bytes that the elements take, now or after [`ColumnData::own`].
    pub(crate) fn grown(&self) -> usize {
        let tail = self.tail.as_ref().map_or(0, |tail| tail.len() - self.tail_start);
        self.owned.capacity_with(tail.saturating_mul(self.width))
    }

    /// Returns the number of open elements.
    pub(crate) fn len(&self) -> usize {
        self.owned_len() + self.tail.as_ref().map_or(0, |tail| tail.len() - self.tail_start)
    }

    /// Returns the last end offset of a collection, counted from the start of the cluster. Returns `None` for
    /// columns without offsets.
    pub(crate) fn last_offset(&self) -> Option<u64> {
        self.last_offset
    }

    /// Returns the elements of `range` in the layout in memory. `buffer` is used if they do not lie in one
    /// block.
    pub(crate) fn native<'a>(&'a self, range: Range<usize>, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        let owned = self.owned_len();
        let width = self.width;
        if range.end <= owned {
            return self.owned.get(range.start * width..range.end * width, width, buffer);
        }
        let Some(tail) = &self.tail else { return &[] };
        let in_tail = |index: usize| index.max(owned) - owned + self.tail_start;
        let in_tail = in_tail(range.start)..in_tail(range.end);
        if range.start >= owned
            && let Elements::Bytes { values, width } = tail
        {
            return &values[in_tail.start * width..in_tail.end * width];
        }
        buffer.clear();
        buffer.reserve(range.len() * width);
        if range.start < owned {
            self.owned.append_to(range.start * width..owned * width, width, buffer);
        }
        tail.append_native(in_tail, self.signed_base(), buffer);
        buffer
    }

    /// Discards the first `count` elements, which are sealed, and frees memory that is no longer needed.
    pub(crate) fn discard(&mut self, count: usize) {
        let copied = count.min(self.owned_len());
        self.owned.discard(copied * self.width, self.width);
        self.tail_start += count - copied;
    }

    fn owned_len(&self) -> usize {
        self.owned.len() / self.width.max(1)
    }

    fn signed_base(&self) -> i64 {
        i64::try_from(self.base).unwrap_or(i64::MAX)
    }
}

impl From<Elements> for ColumnData {
    fn from(elements: Elements) -> Self {
        let mut alternatives = Vec::new();
        let elements = elements.placed(&mut alternatives);
        let (width, last_offset) = (elements.native_width(), elements.last_offset());
        Self { alternatives, width, last_offset, tail: Some(elements), ..Self::default() }
    }
}
