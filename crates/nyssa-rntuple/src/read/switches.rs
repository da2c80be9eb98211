//! Reads the switch column of a variant, which has the alternative of each entry and the position of its value.
//!
//! Values may lie in any order; several entries may share one value, and values may be unused. The result has one
//! value for each entry, in order, as in the files of ROOT.

use std::ops::Range;

use arrow_array::ArrayRef;
use arrow_buffer::ScalarBuffer;
use nyssa_root::arrow::gather::gather;
use nyssa_root::error::{Error, Result};
use nyssa_root::guard::{to_usize, try_vec};

use super::plan::{Items, StreamPart, StreamPlan};
use crate::encoding::{SWITCH_SIZE, switch_parts};

/// The switches of all parts of a read, ready for a dense union.
#[derive(Clone, Debug)]
pub(super) struct Switches {
    /// The tags: 0 for no value, n for the n-th alternative, counted from 1.
    pub tags: ScalarBuffer<i8>,
    /// The indices among the values of the same tag, counted from 0 over all parts.
    pub offsets: ScalarBuffer<i32>,
    /// The number of entries without a value.
    pub without: usize,
    /// The alternatives, up to the last alternative that an entry has or that is known to have values.
    alternatives: Vec<Alternative>,
    /// The empty ranges of alternatives that no entry has.
    nothing: Items,
}

/// The values of one alternative.
#[derive(Clone, Debug, Default)]
struct Alternative {
    /// The number of entries with this alternative.
    count: usize,
    /// The cluster of each part, and the range of values to read.
    items: Items,
    /// The values of the entries in order, as runs of consecutive values, with their part.
    runs: Vec<(usize, Range<u64>)>,
}

impl Switches {
    /// Makes switches from `words`, the filled output of `stream`.
    pub(super) fn new(stream: &StreamPlan, words: &[u64]) -> Result<Self> {
        let length = to_usize(stream.length, "column")?;
        let mut builder = Builder::new(length)?;
        let mut elements = elements(words).take(length);
        for part in &stream.parts {
            let count = part.zeros + (part.elements.end - part.elements.start);
            let elements = elements.by_ref().take(to_usize(count, "column")?);
            builder.part(part, elements).map_err(|error| {
                error.at(|place| {
                    place.cluster = Some(part.cluster as u64);
                    place.column = part.column.map(u64::from);
                })
            })?;
        }
        Ok(builder.finish())
    }

    /// Returns the number of the last alternative that an entry has, counted from 1.
    pub(super) fn highest_tag(&self) -> usize {
        let held = self.alternatives.iter().rposition(|alternative| alternative.count > 0);
        held.map_or(0, |number| number + 1)
    }

    /// Returns the ranges of the values of an alternative to read, by part, counted from 0 in the cluster.
    pub(super) fn items(&self, alternative: usize) -> &[(usize, Range<u64>)] {
        self.alternatives.get(alternative).map_or(&self.nothing, |alternative| &alternative.items)
    }

    /// Returns the number of values of an alternative to read.
    pub(super) fn values(&self, alternative: usize) -> u64 {
        let lengths = self.items(alternative).iter().map(|(_, range)| range.end - range.start);
        lengths.fold(0, u64::saturating_add)
    }

    /// Extends the ranges to all values of an alternative in the parts in which their number is known.
    ///
    /// # Errors
    /// `OutOfSpecification` when an entry points past the last value.
    pub(super) fn settle(&mut self, alternative: usize, ends: &[Option<u64>]) -> Result<()> {
        if self.alternatives.len() <= alternative {
            let unheld = Alternative { items: self.nothing.clone(), ..Alternative::default() };
            self.alternatives.resize(alternative + 1, unheld);
        }
        let items = &mut self.alternatives[alternative].items;
        for ((cluster, range), end) in items.iter_mut().zip(ends) {
            let Some(end) = *end else { continue };
            if range.end > end {
                return Err(behind(range.end - 1, alternative, end)
                    .at(|place| place.cluster = Some(*cluster as u64)));
            }
            *range = 0..end;
        }
        Ok(())
    }

    /// Arranges the `values` that were read of an alternative, so that each entry has its own value.
    ///
    /// # Errors
    /// `LimitExceeded` when the rows do not fit the address space.
    pub(super) fn arrange(&self, alternative: usize, values: ArrayRef) -> Result<ArrayRef> {
        let mut rows: Vec<Range<usize>> = Vec::new();
        for range in self.rows(alternative) {
            let range = to_usize(range.start, "variants")?..to_usize(range.end, "variants")?;
            match rows.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => rows.push(range),
            }
        }
        gather(&values, &rows)
    }

    /// Returns the entry of row `row` of the values that were read of an alternative, if it exists.
    pub(super) fn owner(&self, alternative: usize, row: u64) -> Option<u64> {
        let mut before = 0;
        for range in self.rows(alternative) {
            if range.contains(&row) {
                before += row - range.start;
                let holds = |(tag, offset): (&i8, &i32)| {
                    usize::try_from(*tag) == Ok(alternative + 1)
                        && u64::try_from(*offset) == Ok(before)
                };
                return self.tags.iter().zip(&*self.offsets).position(holds).map(|at| at as u64);
            }
            before += range.end - range.start;
        }
        None
    }

    /// Returns the rows of the entries' values among the values that were read.
    fn rows(&self, alternative: usize) -> impl Iterator<Item = Range<u64>> {
        let rows = self.alternatives.get(alternative);
        let (items, runs) = rows.map_or((&[][..], &[][..]), |item| (&item.items, &item.runs));
        let mut read = 0u64;
        let bases = items.iter().map(move |(_, range)| {
            let base = (read, range.start);
            read = read.saturating_add(range.end - range.start);
            base
        });
        let bases: Vec<_> = bases.collect();
        // A run lies inside the range of its part.
        runs.iter().filter_map(move |(part, run)| {
            let (base, start) = *bases.get(*part)?;
            let row = |index: u64| u64::saturating_add(base, index - start);
            Some(row(run.start)..row(run.end))
        })
    }
}

/// Returns the error of a variant that points past the last value.
pub(super) fn behind(index: u64, alternative: usize, count: u64) -> Error {
    Error::out_of_spec(format!(
        "a variant points to value {index} of alternative {}, which has {count} in this cluster",
        alternative + 1
    ))
}

/// Reads the 12-byte elements from little-endian words.
fn elements(words: &[u64]) -> impl Iterator<Item = [u8; SWITCH_SIZE]> {
    let mut bytes = words.iter().flat_map(|word| word.to_le_bytes());
    std::iter::from_fn(move || {
        let mut element = [0; SWITCH_SIZE];
        for byte in &mut element {
            *byte = bytes.next()?;
        }
        Some(element)
    })
}

struct Builder {
    tags: Vec<i8>,
    offsets: Vec<i32>,
    without: usize,
    alternatives: Vec<Alternative>,
    nothing: Items,
}

impl Builder {
    fn new(length: usize) -> Result<Self> {
        let (mut tags, mut offsets) = (try_vec(length, "variants")?, try_vec(length, "variants")?);
        tags.clear();
        offsets.clear();
        Ok(Self { tags, offsets, without: 0, alternatives: Vec::new(), nothing: Vec::new() })
    }

    fn part(
        &mut self,
        part: &StreamPart,
        elements: impl Iterator<Item = [u8; SWITCH_SIZE]>,
    ) -> Result<()> {
        let number = self.nothing.len();
        let none = (part.cluster, 0..0);
        self.nothing.push(none.clone());
        for alternative in &mut self.alternatives {
            alternative.items.push(none.clone());
        }
        for element in elements {
            let (index, tag) = switch_parts(element);
            // The specification allows 125 alternatives.
            let tag = i8::try_from(tag)
                .map_err(|_| Error::out_of_spec(format!("a variant holds alternative {tag}")))?;
            let before = if let Some(alternative) = usize::from(tag.unsigned_abs()).checked_sub(1) {
                self.point(alternative, number, index)?
            } else {
                self.without += 1;
                self.without - 1
            };
            let offset = i32::try_from(before).map_err(|_| {
                Error::limit(
                    "more than 2^31 values of one alternative of a variant: read fewer entries at a \
                     time",
                )
            })?;
            self.tags.push(tag);
            self.offsets.push(offset);
        }
        Ok(())
    }

    /// Adds an entry that points to value `index` of an alternative. Returns the number of earlier entries with
    /// this alternative.
    fn point(&mut self, alternative: usize, part: usize, index: u64) -> Result<usize> {
        let end = index.checked_add(1).ok_or_else(|| Error::out_of_spec("index of 2^64"))?;
        if self.alternatives.len() <= alternative {
            let unheld = Alternative { items: self.nothing.clone(), ..Alternative::default() };
            self.alternatives.resize(alternative + 1, unheld);
        }
        let alternative = &mut self.alternatives[alternative];
        if let Some((_, range)) = alternative.items.last_mut() {
            // Only the first part of a read may start inside a cluster.
            let start = if part == 0 { index } else { 0 };
            *range = match range.is_empty() {
                true => start..end,
                false => range.start.min(start)..range.end.max(end),
            };
        }
        match alternative.runs.last_mut() {
            Some((last, run)) if *last == part && run.end == index => run.end = end,
            _ => alternative.runs.push((part, index..end)),
        }
        alternative.count += 1;
        Ok(alternative.count - 1)
    }

    fn finish(self) -> Switches {
        Switches {
            tags: self.tags.into(),
            offsets: self.offsets.into(),
            without: self.without,
            alternatives: self.alternatives,
            nothing: self.nothing,
        }
    }
}
