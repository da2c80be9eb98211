//! Reuses the memory of stored baskets for the next baskets of their branch.

use crate::heuristics::write;

/// The memory of stored baskets. Fresh memory costs a page fault for each page.
#[derive(Debug, Default)]
pub(super) struct Spare {
    entries: Vec<Vec<u8>>,
    ends: Vec<Vec<u32>>,
    /// The number of bytes that new memory for entries has, with room for their offsets.
    room: usize,
}

impl Spare {
    /// Returns memory for entries and their offsets.
    pub(super) fn entries(&mut self) -> Vec<u8> {
        self.entries.pop().unwrap_or_else(|| Vec::with_capacity(self.room))
    }

    /// Returns memory for the ends of entries.
    pub(super) fn ends(&mut self) -> Vec<u32> {
        self.ends.pop().unwrap_or_default()
    }

    /// Sets the number of bytes that new memory for entries has.
    pub(super) fn set_room(&mut self, bytes: usize) {
        self.room = if bytes <= write::MAX_REUSED { bytes } else { 0 };
    }

    /// Takes the memory of entries.
    pub(super) fn put_entries(&mut self, mut data: Vec<u8>) {
        if data.capacity() <= write::MAX_REUSED {
            data.clear();
            self.entries.push(data);
        }
    }

    /// Takes the memory of the ends of entries.
    pub(super) fn put_ends(&mut self, mut ends: Vec<u32>) {
        ends.clear();
        self.ends.push(ends);
    }

    /// Frees all memory. Later baskets have another size.
    pub(super) fn clear(&mut self) {
        *self = Self { room: self.room, ..Self::default() };
    }
}
