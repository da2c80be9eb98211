//! Puts the bytes of a changed object together. What depends on positions changes with them: byte counts, and references.
//! A class or an object that is described in bytes that are replaced is described where it is referred to next.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::apart::Reference;
use crate::cursor::BYTE_COUNT;
use crate::error::{Error, Result};
use crate::streamer::wire::{CLASS, NEW_CLASS, TAG_OFFSET};

/// The bytes that are replaced, by their first byte.
pub(super) type Edits = BTreeMap<usize, (Range<usize>, Vec<u8>)>;

/// Items that are added to an array.
#[derive(Debug)]
pub(super) struct Addition {
    /// The place behind the last item.
    pub at: usize,
    /// The place of the byte count of the array.
    pub inside: usize,
    pub bytes: Vec<u8>,
    /// The places of references in the bytes, and what they refer to.
    pub references: Vec<(usize, Reference)>,
}

/// The place of an object with a label.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spot {
    /// A place in the payload.
    Old(usize),
    /// The number of an addition, and the place in its bytes.
    Added(usize, usize),
}

/// The largest depth of objects that are described in each other at another place.
const MAX_DEPTH: usize = 64;

/// The new bytes, as far as they are complete.
pub(super) struct Emitter<'a> {
    pub payload: &'a [u8],
    /// The size of the key before, in bytes.
    pub keylen: u16,
    pub edits: &'a Edits,
    additions: &'a [Addition],
    labels: &'a HashMap<usize, Spot>,
    /// The new place of each addition.
    added: HashMap<usize, usize>,
    /// The places of byte counts, and the ends of the bytes that they count, in order.
    pub counts: Vec<(usize, usize)>,
    /// The places of references, in order.
    pub references: Vec<usize>,
    pub out: Vec<u8>,
    /// The bytes of the payload that are in the output: their end, and their new place, by their first byte.
    pieces: BTreeMap<usize, (usize, usize)>,
    /// The new places of references.
    tags: Vec<(usize, u32)>,
    /// The new places of byte counts, and the new ends of the bytes that they count.
    counted: Vec<(usize, usize)>,
    depth: usize,
}

impl<'a> Emitter<'a> {
    /// Starts with no bytes. `counts` are the places of byte counts with the ends of what they count, and `references`
    /// the places of references.
    pub(super) fn new(
        (payload, keylen): (&'a [u8], u16),
        (edits, (additions, labels)): (&'a Edits, (&'a [Addition], &'a HashMap<usize, Spot>)),
        mut counts: Vec<(usize, usize)>,
        mut references: Vec<usize>,
    ) -> Self {
        counts.sort_unstable();
        counts.dedup_by_key(|(place, _)| *place);
        references.sort_unstable();
        references.dedup();
        Self {
            payload,
            keylen,
            edits,
            additions,
            labels,
            added: HashMap::new(),
            counts,
            references,
            out: Vec::with_capacity(payload.len()),
            pieces: BTreeMap::new(),
            tags: Vec::new(),
            counted: Vec::new(),
            depth: 0,
        }
    }

    /// Returns the bytes for a key of `keylen` bytes.
    ///
    /// # Errors
    /// `Unsupported` if a reference leads to something that was replaced; `LimitExceeded` for an object of more than 1
    /// GiB.
    pub(super) fn finish(mut self, keylen: usize) -> Result<Vec<u8>> {
        self.emit(0..self.payload.len())?;
        for (at, end) in std::mem::take(&mut self.counted) {
            let count = u32::try_from(end - at - 4).ok().filter(|count| count & BYTE_COUNT == 0);
            let count = count.ok_or_else(|| Error::limit("an object of more than 1 GiB"))?;
            put(&mut self.out, at, count | BYTE_COUNT);
        }
        for (at, tag) in std::mem::take(&mut self.tags) {
            let target = self.target(tag).and_then(|target| self.moved(target));
            self.refer(at, target.ok_or_else(replaced)?, tag & CLASS, keylen)?;
        }
        for (number, addition) in self.additions.iter().enumerate() {
            let base = *self.added.get(&number).ok_or_else(replaced)?;
            for (at, reference) in &addition.references {
                let (target, mark) = match reference {
                    Reference::Class(place) => (base + place, CLASS),
                    Reference::Object(label) => (self.labelled(*label).ok_or_else(replaced)?, 0),
                };
                self.refer(base + at, target, mark, keylen)?;
            }
        }
        Ok(self.out)
    }

    /// Sets the reference at a place of the output.
    fn refer(&mut self, at: usize, target: usize, mark: u32, keylen: usize) -> Result<()> {
        let new = u32::try_from(target + TAG_OFFSET as usize + keylen).ok();
        let new = new.filter(|new| new & CLASS == 0);
        let new = new.ok_or_else(|| Error::limit("a reference beyond 2 GiB"))?;
        put(&mut self.out, at, mark | new);
        Ok(())
    }

    /// Returns the new place of the object with a label.
    fn labelled(&self, label: usize) -> Option<usize> {
        match *self.labels.get(&label)? {
            Spot::Old(place) => self.moved(place),
            Spot::Added(number, place) => Some(self.added.get(&number)? + place),
        }
    }

    /// Appends the bytes `range` with the edits in it.
    fn emit(&mut self, range: Range<usize>) -> Result<()> {
        let all = self.edits;
        let inside = |edit: &Range<usize>| edit.start > range.start || edit.end < range.end;
        let mut edits = all
            .range(range.clone())
            .map(|(_, edit)| edit)
            .filter(|(edit, _)| inside(edit) && edit.end <= range.end)
            .peekable();
        let mut reference = self.references.partition_point(|&place| place < range.start);
        let mut count = self.counts.partition_point(|&(place, _)| place < range.start);
        let within =
            |(_, item): &(usize, &Addition)| range.start <= item.inside && item.at <= range.end;
        let additions = self.additions.iter().enumerate().filter(within);
        let mut additions: Vec<(usize, &Addition)> = additions.collect();
        additions.sort_by_key(|(_, addition)| addition.at);
        let mut additions = additions.into_iter().peekable();
        // The ends of the byte counts that are open, their new places, and their old places.
        let mut open: Vec<(usize, usize, usize)> = Vec::new();
        let mut at = range.start;
        loop {
            // New items come behind the last item, and the array counts them.
            while let Some((number, addition)) = additions.next_if(|(_, item)| item.at == at) {
                while let Some((_, place, _)) =
                    open.pop_if(|(end, _, old)| *end <= at && *old > addition.inside)
                {
                    self.counted.push((place, self.out.len()));
                }
                self.added.insert(number, self.out.len());
                self.out.extend_from_slice(&addition.bytes);
            }
            while let Some((_, place, _)) = open.pop_if(|(end, ..)| *end <= at) {
                self.counted.push((place, self.out.len()));
            }
            if at >= range.end {
                return if open.is_empty() { Ok(()) } else { Err(replaced()) };
            }
            // A part of what was replaced may be edited as well, which changes nothing.
            while edits.next_if(|(edit, _)| edit.start < at).is_some() {}
            let next_place = |place: Option<usize>| place.unwrap_or(range.end);
            while self.references.get(reference).is_some_and(|&place| place < at) {
                reference += 1;
            }
            while self.counts.get(count).is_some_and(|&(place, _)| place < at) {
                count += 1;
            }
            if let Some((edit, bytes)) = edits.next_if(|(edit, _)| edit.start == at) {
                self.out.extend_from_slice(bytes);
                at = edit.end;
                continue;
            }
            if let Some(&(_, end)) = self.counts.get(count).filter(|(place, _)| *place == at) {
                if self.moved(at).is_some() {
                    return Err(replaced());
                }
                open.push((end, self.out.len(), at));
                count += 1;
            }
            if self.references.get(reference) == Some(&at) {
                self.reference(at)?;
                at += 4;
                continue;
            }
            let edit = next_place(edits.peek().map(|(edit, _)| edit.start));
            let tag = next_place(self.references.get(reference).copied());
            let counted = next_place(self.counts.get(count).map(|(place, _)| *place));
            let end = next_place(open.last().map(|(end, ..)| *end));
            let next = edit.min(tag).min(counted).min(end).min(range.end);
            self.copy(at..next)?;
            at = next;
        }
    }

    /// Appends the reference at a place, or what it refers to, if that is in no bytes before.
    fn reference(&mut self, place: usize) -> Result<()> {
        let tag = self.payload.get(place..).and_then(<[u8]>::first_chunk);
        let tag = u32::from_be_bytes(*tag.ok_or_else(replaced)?);
        let target = self.target(tag).ok_or_else(replaced)?;
        if self.moved(target).is_some() {
            self.tags.push((self.out.len(), tag));
            return self.copy(place..place + 4);
        }
        if tag & CLASS != 0 {
            let described = self.payload.get(target..).unwrap_or_default();
            let name = described.strip_prefix(&NEW_CLASS.to_be_bytes()).ok_or_else(replaced)?;
            let end = name.iter().position(|byte| *byte == 0).ok_or_else(replaced)?;
            return self.copy(target..target + 4 + end + 1);
        }
        let object = self.counts.binary_search_by_key(&target, |(place, _)| *place);
        let (_, end) = object.ok().and_then(|at| self.counts.get(at)).ok_or_else(replaced)?;
        if self.depth >= MAX_DEPTH {
            return Err(replaced());
        }
        self.depth += 1;
        self.emit(target..*end)?;
        self.depth -= 1;
        Ok(())
    }

    fn copy(&mut self, range: Range<usize>) -> Result<()> {
        let bytes = self.payload.get(range.clone()).ok_or_else(replaced)?;
        self.pieces.entry(range.start).or_insert((range.end, self.out.len()));
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    /// Returns the byte to which a tag leads.
    fn target(&self, tag: u32) -> Option<usize> {
        let start = TAG_OFFSET + u32::from(self.keylen);
        (tag & !CLASS).checked_sub(start).map(|target| target as usize)
    }

    /// Returns the new place of a byte that is in the output.
    fn moved(&self, position: usize) -> Option<usize> {
        // Only a description of a class may be within another piece, and these are few.
        let mut before = self.pieces.range(..=position).rev().take(MAX_DEPTH);
        let (start, (_, new)) = before.find(|(_, (end, _))| *end > position)?;
        Some(new + (position - start))
    }
}

fn replaced() -> Error {
    Error::unsupported("something refers to a part of it that has to be replaced")
}

fn put(bytes: &mut [u8], at: usize, value: u32) {
    if let Some(room) = bytes.get_mut(at..at + 4) {
        room.copy_from_slice(&value.to_be_bytes());
    }
}
