//! Elements of one column that wait to be sealed, from one array or from many.

use std::ops::Range;

use super::elements::Elements;
use crate::error::{Error, Result};

/// Copied buffers grow by this share of their size (one in so many), so that little is held in vain.
const GROWTH_SHARE: usize = 4;
/// The smallest growth, bytes.
const LEAST_GROWTH: usize = 64;

/// Elements in order: first those copied in native layout, then at most one borrowed array.
#[derive(Debug, Default)]
pub(super) struct ColumnData {
    /// Elements in the native layout of [`crate::encoding`]; offsets count from the cluster's start.
    owned: Vec<u8>,
    width: usize,
    tail: Option<Elements>,
    /// Elements of the tail that are sealed already.
    tail_start: usize,
    /// Offset at which the tail starts.
    base: u64,
    /// Last end offset; `None` for values.
    last_offset: Option<u64>,
    /// Values of each alternative of a variant so far.
    alternatives: Vec<u64>,
}

impl ColumnData {
    /// Appends the elements of one array, without copying.
    ///
    /// # Errors
    /// `InvalidArgument` when there are more items than 64-bit offsets can count.
    pub(super) fn push(&mut self, elements: Elements) -> Result<()> {
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

    /// Copies what is still borrowed, so that the arrays may change or go.
    pub(super) fn own(&mut self) {
        let Some(tail) = self.tail.take() else { return };
        let range = self.tail_start..tail.len();
        let grown = self.grown();
        if grown > self.owned.capacity() {
            self.owned.reserve_exact(grown - self.owned.len());
        }
        tail.append_native(range, self.signed_base(), &mut self.owned);
    }

    /// Bytes that the copy takes, or will take after [`ColumnData::own`].
    pub(super) fn grown(&self) -> usize {
        let needed = self.len().saturating_mul(self.width);
        let capacity = self.owned.capacity();
        if needed <= capacity {
            return capacity;
        }
        needed.max(capacity.saturating_add((capacity / GROWTH_SHARE).max(LEAST_GROWTH)))
    }

    /// Number of elements that wait.
    pub(super) fn len(&self) -> usize {
        self.owned_len() + self.tail.as_ref().map_or(0, |tail| tail.len() - self.tail_start)
    }

    /// The last end offset of a collection, counted from the cluster's start; `None` for values.
    pub(super) fn last_offset(&self) -> Option<u64> {
        self.last_offset
    }

    /// Elements of `range` in native layout; `buffer` is overwritten where they do not lie in one piece.
    pub(super) fn native<'a>(&'a self, range: Range<usize>, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        let owned = self.owned_len();
        if range.end <= owned {
            return &self.owned[range.start * self.width..range.end * self.width];
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
        if range.start < owned {
            buffer.extend_from_slice(&self.owned[range.start * self.width..]);
        }
        tail.append_native(in_tail, self.signed_base(), buffer);
        buffer
    }

    /// Lets the first `count` elements go: they are sealed. Memory that is then not needed is freed.
    pub(super) fn discard(&mut self, count: usize) {
        let copied = count.min(self.owned_len());
        if copied == self.owned_len() {
            self.owned = Vec::new();
        } else {
            self.owned.drain(..copied * self.width);
        }
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
