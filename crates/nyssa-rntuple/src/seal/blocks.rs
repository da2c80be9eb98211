//! Implements a buffer that grows in blocks of one size. Its bytes are not moved when it grows, and a block that one
//! column frees fits the next column, so that the memory is not fragmented.

use crate::heuristics::seal;
use std::collections::VecDeque;
use std::ops::Range;

/// The elements of one width, in the layout in memory.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The blocks. All blocks except the last are full.
    blocks: VecDeque<Vec<u8>>,
    /// The number of bytes at the start of the first block that were discarded.
    start: usize,
    /// The number of stored bytes.
    len: usize,
}

impl Blocks {
    /// Returns the number of stored bytes.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of bytes that are allocated.
    pub(super) fn capacity(&self) -> usize {
        self.blocks.iter().map(Vec::capacity).sum()
    }

    /// Returns the number of bytes that will be allocated when `more` bytes are appended.
    pub(super) fn capacity_with(&self, more: usize) -> usize {
        let needed = self.start + self.len + more;
        if needed <= seal::BLOCK / 2 {
            return self
                .capacity()
                .max(needed.next_power_of_two().max(seal::FIRST_BLOCK) * usize::from(needed > 0));
        }
        self.capacity().max(needed.div_ceil(seal::BLOCK) * seal::BLOCK)
    }

    /// Appends `elements` of `width` bytes. `append` appends a range of them to one block.
    pub(super) fn append(
        &mut self,
        elements: usize,
        width: usize,
        mut append: impl FnMut(Range<usize>, &mut Vec<u8>),
    ) {
        let size = block_size(width);
        let mut start = 0;
        while start < elements {
            if self.blocks.back().is_none_or(|block| block.len() + width > size) {
                self.blocks.push_back(Vec::new());
            }
            let more = self.blocks.len() > 1;
            let Some(block) = self.blocks.back_mut() else { return };
            let count = ((size - block.len()) / width).min(elements - start);
            let needed = block.len() + count * width;
            if needed > block.capacity() {
                let grown = if more {
                    size
                } else {
                    needed.next_power_of_two().clamp(seal::FIRST_BLOCK, size)
                };
                block.reserve_exact(grown.max(needed) - block.len());
            }
            let before = block.len();
            append(start..start + count, block);
            self.len += block.len() - before;
            start += count;
        }
    }

    /// Returns the bytes of `range`, which are elements of `width` bytes. `buffer` is used if they do not lie in one
    /// block.
    pub(super) fn get<'a>(
        &'a self,
        range: Range<usize>,
        width: usize,
        buffer: &'a mut Vec<u8>,
    ) -> &'a [u8] {
        let size = block_size(width);
        let (start, end) = (self.start + range.start, self.start + range.end);
        if range.is_empty() {
            return &[];
        }
        if start / size == (end - 1) / size {
            let first = start / size * size;
            return self.blocks.get(start / size).map_or(&[], |b| &b[start - first..end - first]);
        }
        buffer.clear();
        buffer.reserve(range.len());
        self.append_to(range, width, buffer);
        buffer
    }

    /// Appends the bytes of `range`, elements of `width` bytes, to `out`.
    pub(super) fn append_to(&self, range: Range<usize>, width: usize, out: &mut Vec<u8>) {
        let size = block_size(width);
        let (start, end) = (self.start + range.start, self.start + range.end);
        for (index, block) in self.blocks.iter().enumerate().skip(start / size) {
            let first = index * size;
            if first >= end {
                break;
            }
            out.extend_from_slice(&block[start.max(first) - first..end.min(first + size) - first]);
        }
    }

    /// Discards the first `bytes`, which are whole elements of `width` bytes.
    pub(super) fn discard(&mut self, bytes: usize, width: usize) {
        let bytes = bytes.min(self.len);
        if bytes == self.len {
            *self = Self::default();
            return;
        }
        let size = block_size(width);
        self.start += bytes;
        self.len -= bytes;
        self.blocks.drain(..self.start / size);
        self.start %= size;
    }
}

fn block_size(width: usize) -> usize {
    let width = width.max(1);
    (seal::BLOCK / width).max(1) * width
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns blocks of elements of three bytes. Each element is its number, three times.
    fn filled(counts: &[usize]) -> Blocks {
        let mut blocks = Blocks::default();
        let mut next = 0usize;
        for &count in counts {
            let expected = blocks.capacity_with(count * 3);
            blocks.append(count, 3, |range, out| {
                out.extend(range.flat_map(|i| [(next + i) as u8; 3]));
            });
            next += count;
            assert!(
                blocks.capacity() <= expected.next_multiple_of(seal::FIRST_BLOCK),
                "{counts:?}"
            );
        }
        blocks
    }

    #[test]
    fn every_range_is_found_wherever_blocks_end() {
        for counts in [&[12_000][..], &[1; 200], &[5000, 1, 6999]] {
            let mut blocks = filled(counts);
            let total: usize = counts.iter().sum();
            let mut buffer = Vec::new();
            for (gone, discard) in [(0, 0), (100, 100), (total / 2, total / 2 - 100)] {
                blocks.discard(discard * 3, 3);
                assert_eq!(blocks.len(), (total - gone) * 3);
                for range in [0..total - gone, 7..90, total - gone - 1..total - gone, 3..3] {
                    let expected = range.clone().flat_map(|i| [(i + gone) as u8; 3]);
                    let bytes = blocks.get(range.start * 3..range.end * 3, 3, &mut buffer);
                    assert_eq!(bytes, expected.collect::<Vec<_>>(), "{counts:?} {gone} {range:?}");
                }
            }
            blocks.discard(usize::MAX, 3);
            assert_eq!((blocks.len(), blocks.capacity()), (0, 0));
        }
    }
}
