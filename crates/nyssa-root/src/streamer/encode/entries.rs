//! Holds the streamed entries of a branch, which may refer to names of classes.

use std::ops::Range;

use crate::error::Result;
use crate::streamer::wire::{CLASS, too_far};

/// The streamed entries of a branch.
#[derive(Debug)]
pub struct Entries {
    pub(super) bytes: Vec<u8>,
    /// The end of each entry in `bytes`.
    pub(super) ends: Vec<usize>,
    /// The places in `bytes` of the references to names of classes, which count from the start of the entry.
    pub(super) references: Vec<usize>,
    pub(super) has_objects: bool,
}

impl Entries {
    /// Returns whether an entry has an object behind a pointer, so that ROOT notes its class (`TBufferFile::MapObject`).
    pub fn has_objects(&self) -> bool {
        self.has_objects
    }

    /// Returns the size of an entry in bytes.
    pub fn size(&self, entry: usize) -> usize {
        self.span(entry).len()
    }

    /// Appends an entry to the entries of a basket, whose key has `keylen` bytes. References count from the start of the
    /// key.
    ///
    /// # Errors
    /// `LimitExceeded` for a reference to a place that its bits cannot hold.
    pub fn put(&self, entry: usize, keylen: usize, basket: &mut Vec<u8>) -> Result<()> {
        let (span, start) = (self.span(entry), basket.len());
        basket.extend_from_slice(self.bytes.get(span.clone()).unwrap_or_default());
        let first = self.references.partition_point(|&place| place < span.start);
        let own = self.references.iter().skip(first).take_while(|&&place| place < span.end);
        for place in own {
            let at = start + place - span.start;
            let tag = basket.get_mut(at..).and_then(<[u8]>::first_chunk_mut);
            let moved = tag.and_then(|tag: &mut [u8; 4]| {
                let place = (u32::from_be_bytes(*tag) & !CLASS) as usize + keylen + start;
                let moved = u32::try_from(place).ok().filter(|place| place & CLASS == 0)?;
                *tag = (moved | CLASS).to_be_bytes();
                Some(())
            });
            moved.ok_or_else(too_far)?;
        }
        Ok(())
    }

    fn span(&self, entry: usize) -> Range<usize> {
        let start = entry.checked_sub(1).and_then(|before| self.ends.get(before));
        let start = start.copied().unwrap_or(0);
        start..self.ends.get(entry).copied().unwrap_or(start)
    }
}
