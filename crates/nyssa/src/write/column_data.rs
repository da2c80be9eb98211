//! All elements of one column in one cluster, from one array or from many.

use std::ops::Range;

use super::elements::Elements;
use crate::error::{Error, Result};

/// Elements in order: first those copied in native layout, then at most one borrowed array.
#[derive(Debug, Default)]
pub(super) struct ColumnData {
    /// Elements in the native layout of [`crate::encoding`]; offsets count from the cluster's start.
    owned: Vec<u8>,
    owned_len: usize,
    width: usize,
    tail: Option<Elements>,
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
        Ok(())
    }

    /// Copies what is still borrowed, so that the arrays may change or go.
    pub(super) fn own(&mut self) {
        if let Some(tail) = self.tail.take() {
            tail.append_native(0..tail.len(), self.signed_base(), &mut self.owned);
            self.owned_len += tail.len();
        }
    }

    /// Number of elements.
    pub(super) fn len(&self) -> usize {
        self.owned_len + self.tail.as_ref().map_or(0, Elements::len)
    }

    /// The last end offset of a collection; `None` for values.
    pub(super) fn last_offset(&self) -> Option<u64> {
        self.last_offset
    }

    /// Elements of `range` in native layout; `buffer` is overwritten where they do not lie in one piece.
    pub(super) fn native<'a>(&'a self, range: Range<usize>, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        if range.end <= self.owned_len {
            return &self.owned[range.start * self.width..range.end * self.width];
        }
        let Some(tail) = &self.tail else { return &[] };
        let in_tail = range.start.max(self.owned_len) - self.owned_len..range.end - self.owned_len;
        if range.start >= self.owned_len
            && let Elements::Bytes { values, width } = tail
        {
            return &values[in_tail.start * width..in_tail.end * width];
        }
        buffer.clear();
        if range.start < self.owned_len {
            buffer.extend_from_slice(&self.owned[range.start * self.width..]);
        }
        tail.append_native(in_tail, self.signed_base(), buffer);
        buffer
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
