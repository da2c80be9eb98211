//! Defines the index of one resource in memory: which of its bytes the data file keeps, and where. It does no
//! I/O.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::record::{Form, Record};

/// The records that are in use. If several records are for the same bytes, the last one counts.
#[derive(Default)]
pub(super) struct Index {
    /// The ranges of the resource, by their starts. They do not overlap.
    stored: BTreeMap<u64, View>,
    /// The unpacked forms by the range of the resource.
    unpacked: HashMap<(u64, u64), Record>,
}

/// A part of a block, up to byte `end` of the resource.
#[derive(Clone, Copy)]
struct View {
    end: u64,
    block: Record,
}

/// A part of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RangePart {
    /// These bytes are in a block.
    Known(Range<u64>, Record),
    /// These bytes are not kept.
    Missing(Range<u64>),
}

impl Index {
    /// Adds a record.
    pub(super) fn insert(&mut self, record: Record) {
        if record.form != Form::Stored {
            self.unpacked.insert((record.offset, record.length), record);
            return;
        }
        let range = record.range();
        self.cut(&range);
        self.stored.insert(range.start, View { end: range.end, block: record });
    }

    /// Removes a record whose bytes are damaged.
    pub(super) fn forget(&mut self, record: &Record) {
        if record.form != Form::Stored {
            let key = (record.offset, record.length);
            if self.unpacked.get(&key) == Some(record) {
                self.unpacked.remove(&key);
            }
            return;
        }
        self.stored.retain(|_, view| view.block != *record);
    }

    /// Divides a range into parts that are known and parts that are missing, in their order.
    pub(super) fn parts(&self, range: &Range<u64>) -> Vec<RangePart> {
        let mut parts = Vec::new();
        let mut place = range.start;
        let first = self.stored.range(..=range.start).next_back();
        let first = first.filter(|(_, view)| view.end > range.start);
        let rest = self.stored.range(range.start.saturating_add(1)..range.end.max(range.start + 1));
        for (&start, view) in first.into_iter().chain(rest) {
            if place >= range.end {
                break;
            }
            if place < start {
                parts.push(RangePart::Missing(place..start));
                place = start;
            }
            let end = view.end.min(range.end);
            parts.push(RangePart::Known(place..end, view.block));
            place = end;
        }
        if place < range.end {
            parts.push(RangePart::Missing(place..range.end));
        }
        parts
    }

    /// Returns whether all bytes of a range are known.
    pub(super) fn covers(&self, range: &Range<u64>) -> bool {
        let mut place = range.start;
        while place < range.end {
            let view = self.stored.range(..=place).next_back();
            match view.filter(|(_, view)| view.end > place) {
                Some((_, view)) => place = view.end,
                None => return false,
            }
        }
        true
    }

    /// Returns the ranges of at most `most` bytes that are known at the start and at the end of a resource of `size`
    /// bytes. Returns nothing if one of the ends is not known.
    pub(super) fn ends(&self, size: u64, most: u64) -> Vec<Range<u64>> {
        let known = |part: RangePart| match part {
            RangePart::Known(range, _) => Some(range),
            RangePart::Missing(_) => None,
        };
        let first = self.parts(&(0..most.min(size))).into_iter().map_while(known).last();
        let last = self.parts(&(size.saturating_sub(most)..size)).into_iter().rev();
        match (first, last.map_while(known).last()) {
            (Some(first), Some(last)) => vec![0..first.end, last.start..size],
            _ => Vec::new(),
        }
    }

    /// Returns the record of the unpacked form of a page or basket.
    pub(super) fn unpacked(&self, range: &Range<u64>) -> Option<Record> {
        self.unpacked.get(&(range.start, range.end.checked_sub(range.start)?)).copied()
    }

    /// Returns whether there is any unpacked form.
    pub(super) fn has_unpacked(&self) -> bool {
        !self.unpacked.is_empty()
    }

    /// Returns all records that are in use.
    pub(super) fn records(&self) -> impl Iterator<Item = Record> {
        let mut blocks: Vec<Record> = self.stored.values().map(|view| view.block).collect();
        blocks.dedup();
        blocks.into_iter().chain(self.unpacked.values().copied())
    }

    /// Returns the number of bytes of the resource that are known as they are stored.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.stored.iter().map(|(start, view)| view.end - start).sum()
    }

    /// Removes a range from the views.
    fn cut(&mut self, range: &Range<u64>) {
        if let Some((_, view)) = self.stored.range_mut(..range.start).next_back()
            && view.end > range.start
        {
            let whole = *view;
            view.end = range.start;
            if whole.end > range.end {
                self.stored.insert(range.end, whole);
            }
        }
        let inside = self.stored.range(range.clone()).map(|(&start, view)| (start, *view));
        for (start, view) in inside.collect::<Vec<_>>() {
            self.stored.remove(&start);
            if view.end > range.end {
                self.stored.insert(range.end, view);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(offset: u64, length: u64, place: u64) -> Record {
        let (bytes, size) = (length, length);
        Record { form: Form::Stored, offset, length, place, bytes, size, checksum: 0 }
    }

    #[test]
    fn ranges_are_known_in_part() {
        let mut index = Index::default();
        let (a, b) = (block(10, 10, 0), block(30, 5, 10));
        index.insert(a);
        index.insert(b);
        assert_eq!(
            index.parts(&(5..40)),
            [
                RangePart::Missing(5..10),
                RangePart::Known(10..20, a),
                RangePart::Missing(20..30),
                RangePart::Known(30..35, b),
                RangePart::Missing(35..40),
            ]
        );
        assert_eq!(index.parts(&(12..15)), [RangePart::Known(12..15, a)]);
        assert_eq!(index.parts(&(20..30)), [RangePart::Missing(20..30)]);
        assert_eq!(index.parts(&(12..12)), []);
        assert!(index.covers(&(10..20)) && !index.covers(&(10..21)) && index.covers(&(3..3)));
        // The newer block counts. The older one is used for the bytes beside it.
        let c = block(12, 3, 20);
        index.insert(c);
        assert_eq!(
            index.parts(&(10..20)),
            [RangePart::Known(10..12, a), RangePart::Known(12..15, c), RangePart::Known(15..20, a)]
        );
        index.forget(&a);
        assert_eq!(
            index.parts(&(10..20)),
            [RangePart::Missing(10..12), RangePart::Known(12..15, c), RangePart::Missing(15..20)]
        );
        assert_eq!(index.stored_bytes(), 8);
    }

    #[test]
    fn the_ends_of_a_resource() {
        let mut index = Index::default();
        index.insert(block(0, 10, 0));
        index.insert(block(10, 5, 10));
        index.insert(block(20, 5, 20));
        assert_eq!(index.ends(100, 30), []);
        index.insert(block(95, 5, 30));
        assert_eq!(index.ends(100, 30), [0..15, 95..100]);
        assert_eq!(index.ends(100, 12), [0..12, 95..100]);
        assert_eq!(index.ends(101, 30), []);
        assert_eq!(index.ends(0, 30), []);
    }

    proptest! {
        /// Compares the index with an index that has a block for each byte.
        #[test]
        fn every_byte_is_in_its_last_block(
            blocks in prop::collection::vec((0u64..50, 1u64..20), 0..20),
            range in (0u64..60, 0u64..60),
        ) {
            let mut index = Index::default();
            let mut bytes: BTreeMap<u64, Record> = BTreeMap::new();
            for (number, (offset, length)) in blocks.into_iter().enumerate() {
                let block = block(offset, length, number as u64);
                index.insert(block);
                block.range().for_each(|byte| { bytes.insert(byte, block); });
            }
            let range = range.0.min(range.1)..range.0.max(range.1);
            let mut next = range.start;
            for part in index.parts(&range) {
                let (part, block) = match part {
                    RangePart::Known(part, block) => (part, Some(block)),
                    RangePart::Missing(part) => (part, None),
                };
                prop_assert_eq!(part.start, next);
                prop_assert!(part.end > part.start);
                next = part.end;
                for byte in part {
                    prop_assert_eq!(bytes.get(&byte).copied(), block);
                }
            }
            prop_assert_eq!(next, range.end);
            prop_assert_eq!(index.covers(&range), range.clone().all(|byte| bytes.contains_key(&byte)));
        }
    }
}
