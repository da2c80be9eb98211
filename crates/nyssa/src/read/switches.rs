//! The switch column of a variant: which alternative each entry holds, and where its value lies.

use std::ops::Range;

use arrow_buffer::ScalarBuffer;

use super::execute::Items;
use super::plan::StreamPlan;
use crate::encoding::{SWITCH_SIZE, switch_parts};
use crate::error::{Error, Result};
use crate::guard::{to_usize, try_vec};

/// Switches over all parts of a read, ready for a dense union.
#[derive(Clone, Debug)]
pub struct Switches {
    /// 0 for no value, n for the n-th alternative counted from 1.
    pub tags: ScalarBuffer<i8>,
    /// Index among the values of the same tag, from 0 over all parts.
    pub offsets: ScalarBuffer<i32>,
    /// By tag: number of entries.
    counts: Vec<usize>,
    /// By alternative: per part the cluster and the range of values in it.
    items: Vec<Items>,
    /// What alternatives have that no entry holds.
    nothing: Items,
}

impl Switches {
    /// The switches in `words`, the filled output of `stream`.
    pub(super) fn new(stream: &StreamPlan, words: &[u64]) -> Result<Self> {
        let length = to_usize(stream.length, "column")?;
        let mut builder = Builder::new(length)?;
        let mut elements = elements(words).take(length);
        for (number, part) in stream.parts.iter().enumerate() {
            let count = part.zeros + (part.elements.end - part.elements.start);
            // Values are counted in each cluster: only a range that cuts one starts elsewhere.
            let cut = number == 0 && part.elements.start > 0;
            builder
                .part(part.cluster, elements.by_ref().take(to_usize(count, "column")?), cut)
                .map_err(|error| {
                    error.at(|place| {
                        place.cluster = Some(part.cluster as u64);
                        place.column = part.column.map(u64::from);
                    })
                })?;
        }
        Ok(builder.finish())
    }

    /// The largest tag.
    pub fn highest_tag(&self) -> usize {
        self.counts.len().saturating_sub(1)
    }

    /// Number of entries with a tag.
    pub fn count(&self, tag: usize) -> usize {
        self.counts.get(tag).copied().unwrap_or_default()
    }

    /// The entry that holds value `row` of a tag, both counted from 0 over all parts.
    pub fn owner(&self, tag: usize, row: u64) -> Option<u64> {
        let mut found = self.tags.iter().zip(&*self.offsets).enumerate();
        let holds = |known: i8, offset: i32| {
            usize::try_from(known) == Ok(tag) && u64::try_from(offset) == Ok(row)
        };
        let (entry, _) = found.find(|(_, (known, offset))| holds(**known, **offset))?;
        Some(entry as u64)
    }

    /// Per part the values of an alternative, counted from 0.
    pub fn items(&self, alternative: usize) -> &[(usize, Range<u64>)] {
        self.items.get(alternative).unwrap_or(&self.nothing)
    }
}

/// The 12-byte elements in little-endian words.
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
    counts: Vec<usize>,
    items: Vec<Items>,
    nothing: Items,
}

impl Builder {
    fn new(length: usize) -> Result<Self> {
        let (mut tags, mut offsets) = (try_vec(length, "variants")?, try_vec(length, "variants")?);
        tags.clear();
        offsets.clear();
        Ok(Self { tags, offsets, counts: vec![0], items: Vec::new(), nothing: Vec::new() })
    }

    fn part(
        &mut self,
        cluster: usize,
        elements: impl Iterator<Item = [u8; SWITCH_SIZE]>,
        cut: bool,
    ) -> Result<()> {
        let start = |cut: bool| if cut { None } else { Some(0..0) };
        let mut ranges: Vec<Option<Range<u64>>> = vec![start(cut); self.items.len()];
        for element in elements {
            let (index, tag) = switch_parts(element);
            // The specification allows 125 alternatives.
            let tag_byte = i8::try_from(tag)
                .map_err(|_| Error::out_of_spec(format!("a variant holds alternative {tag}")))?;
            let tag = usize::from(tag_byte.unsigned_abs());
            if self.counts.len() <= tag {
                self.counts.resize(tag + 1, 0);
            }
            if ranges.len() < tag {
                ranges.resize(tag, start(cut));
            }
            if let Some(number) = tag.checked_sub(1) {
                let range = ranges[number].get_or_insert(index..index);
                if index != range.end {
                    return Err(Error::out_of_spec(format!(
                        "a variant points to value {index} of alternative {tag}, where {} is next",
                        range.end
                    )));
                }
                range.end =
                    index.checked_add(1).ok_or_else(|| Error::out_of_spec("index of 2^64"))?;
            }
            let offset = i32::try_from(self.counts[tag]).map_err(|_| {
                Error::limit(
                    "more than 2^31 values of one alternative of a variant: read fewer entries at a \
                     time",
                )
            })?;
            self.counts[tag] += 1;
            self.tags.push(tag_byte);
            self.offsets.push(offset);
        }
        // Alternatives that come up for the first time had no values in the parts before.
        while self.items.len() < ranges.len() {
            self.items.push(self.nothing.clone());
        }
        for (items, range) in self.items.iter_mut().zip(ranges) {
            items.push((cluster, range.unwrap_or(0..0)));
        }
        self.nothing.push((cluster, 0..0));
        Ok(())
    }

    fn finish(self) -> Switches {
        Switches {
            tags: self.tags.into(),
            offsets: self.offsets.into(),
            counts: self.counts,
            items: self.items,
            nothing: self.nothing,
        }
    }
}
