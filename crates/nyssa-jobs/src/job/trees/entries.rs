//! The entries that are written, as ranges of the input.

use std::ops::Range;

use nyssa_data::view::SelectedRange;

/// Ranges of entries of the input, which follow each other in the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entries {
    ranges: Vec<Range<u64>>,
    /// The first entry of each range in the output, and then the number of entries.
    starts: Vec<u64>,
}

impl Entries {
    /// Makes the ranges of the entries that are selected.
    pub(crate) fn new(pieces: &[SelectedRange]) -> Self {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for piece in pieces {
            let start = piece.entries.start;
            match &piece.mask {
                None => push(&mut ranges, piece.entries.clone()),
                Some(mask) => mask.set_slices().for_each(|(from, to)| {
                    push(&mut ranges, start + from as u64..start + to as u64);
                }),
            }
        }
        let mut total = 0;
        let mut starts = vec![0];
        starts.extend(ranges.iter().map(|range| {
            total += range.end - range.start;
            total
        }));
        Self { ranges, starts }
    }

    /// Makes the entries up to `end`, all of them.
    pub(crate) fn all(end: u64) -> Self {
        Self::new(&[SelectedRange { entries: 0..end, mask: None }])
    }

    /// Returns the number of entries.
    pub(crate) fn count(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns whether these are all of `total` entries.
    pub(crate) fn are_all(&self, total: u64) -> bool {
        self.count() == total
    }

    /// Returns the number of selected entries before `entry` of the input.
    pub(crate) fn before(&self, entry: u64) -> u64 {
        let index = self.ranges.partition_point(|range| range.end <= entry);
        let start = self.starts.get(index).copied().unwrap_or(0);
        let range = self.ranges.get(index);
        start + range.map_or(0, |range| entry.saturating_sub(range.start))
    }

    /// Returns the entries of the input that are the entries `range` of the output.
    pub(crate) fn of(&self, range: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let first = self.starts.partition_point(|&start| start <= range.start).saturating_sub(1);
        let (from, to) = (range.start, range.end);
        let parts = self.starts.iter().zip(&self.ranges).skip(first);
        let parts = parts.take_while(move |(start, _)| **start < to).map(move |(&start, range)| {
            let end = start + (range.end - range.start);
            let skip = from.max(start) - start;
            range.start + skip..range.start + (to.min(end) - start)
        });
        parts.filter(|part| part.start < part.end)
    }
}

/// Adds a range, or makes the last range longer.
fn push(ranges: &mut Vec<Range<u64>>, range: Range<u64>) {
    match ranges.last_mut() {
        _ if range.is_empty() => {}
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "they are lists of ranges")]
mod tests {
    use arrow_buffer::BooleanBuffer;

    use super::*;

    #[test]
    fn entries_of_ranges_and_masks() {
        let mask = BooleanBuffer::from(vec![true, false, true, true]);
        let pieces = [
            SelectedRange { entries: 2..5, mask: None },
            SelectedRange { entries: 5..9, mask: Some(mask) },
        ];
        let entries = Entries::new(&pieces);
        assert_eq!(entries.ranges, [2..6, 7..9]);
        assert_eq!(entries.count(), 6);
        assert!(!entries.are_all(9));
        let of = |range| entries.of(&range).collect::<Vec<_>>();
        assert_eq!(of(0..6), [2..6, 7..9]);
        assert_eq!(of(1..5), [3..6, 7..8]);
        assert_eq!(of(4..6), [7..9]);
        assert_eq!(of(6..6), []);
        let before = |entry| entries.before(entry);
        assert_eq!([0, 2, 4, 6, 7, 8, 9, 50].map(before), [0, 0, 2, 4, 4, 5, 6, 6]);
    }
}
