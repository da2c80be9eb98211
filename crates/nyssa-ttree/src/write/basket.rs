//! Fills the open basket of a branch. A basket is full when an entry of the size of the last entry would not fit
//! (`TBranch::FillImpl`).

use std::mem;

/// A basket before compression.
#[derive(Clone, Debug, Default)]
pub(crate) struct Basket {
    /// The first entry.
    pub first: u64,
    /// The number of entries.
    pub entries: u32,
    /// The entries, big-endian.
    pub data: Vec<u8>,
    /// The ends of the entries in `data`, if entries may differ in size.
    pub ends: Option<Vec<u32>>,
    /// The positions for which the entries were streamed, counted from the start of the key, if references in them count
    /// from there (`TBasket::fDisplacement`).
    pub streamed_at: Option<Vec<u32>>,
}

impl Basket {
    /// Starts a basket with the entry `first`.
    pub(crate) fn new(first: u64, variable: bool) -> Self {
        Self {
            first,
            entries: 0,
            data: Vec::new(),
            ends: variable.then(Vec::new),
            streamed_at: None,
        }
    }

    /// Returns the number of the entry after the last entry.
    pub(crate) fn end(&self) -> u64 {
        self.first + u64::from(self.entries)
    }

    /// Returns the number of bytes that the entries and their offsets have in the payload of a stored basket.
    pub(crate) fn len_with_offsets(&self) -> usize {
        // The number of offsets, the start of each entry, and a zero.
        let offsets = self.ends.as_ref().map_or(0, |ends| ends.len() + 2);
        self.data.len() + offsets * size_of::<u32>()
    }

    /// Adds entries with items of `size` bytes between `offsets`, until the basket is full. Returns the number of
    /// entries, and whether it is full. The caller appends the bytes of the items.
    pub(crate) fn add_entries(
        &mut self,
        capacity: Capacity,
        size: usize,
        offsets: &[i64],
    ) -> (usize, bool) {
        let (before, first) = (self.data.len(), offsets[0]);
        let ends = self.ends.get_or_insert_default();
        let mut last = 0;
        for (at, offset) in offsets[1..].iter().enumerate() {
            let end = (offset - first) as usize * size;
            ends.push((before + end) as u32);
            if capacity.is_reached(before + end, Some(ends.len()), end - last) {
                self.entries += at as u32 + 1;
                return (at + 1, true);
            }
            last = end;
        }
        self.entries += offsets.len() as u32 - 1;
        (offsets.len() - 1, false)
    }

    /// Drops the entries from `end` on. Returns whether entries are left.
    pub(crate) fn truncate(&mut self, end: u64) -> bool {
        let entries = end.saturating_sub(self.first).min(self.entries.into()) as u32;
        let bytes = match &mut self.ends {
            Some(ends) => {
                ends.truncate(entries as usize);
                ends.last().copied().unwrap_or(0) as usize
            }
            None => self.data.len() / self.entries.max(1) as usize * entries as usize,
        };
        self.data.truncate(bytes);
        self.entries = entries;
        entries > 0
    }

    /// Returns the basket, and continues with an empty basket.
    pub(crate) fn take(&mut self) -> Self {
        let next = Self::new(self.end(), self.ends.is_some());
        mem::replace(self, next)
    }
}

/// The largest size of a basket that holds a cluster, so that it compresses as one block.
const MAX_OPTIMIZED: u64 = 16_000_000;
/// Baskets that hold a cluster have sizes that are multiples of this number of bytes.
const OPTIMIZED_STEP: u64 = 512;

/// Returns the size in bytes of baskets that hold all entries of a cluster, whose `entries` have `bytes` bytes. Entries of
/// `is_variable` sizes have offsets.
pub fn optimized_size(bytes: u64, entries: u64, is_variable: bool) -> usize {
    // Clusters differ a little. Offsets count twice when ROOT decides whether a basket is full.
    let offsets = if is_variable { entries.saturating_mul(8) } else { 0 };
    let wanted = bytes.saturating_add(bytes / 4).saturating_add(offsets);
    wanted.clamp(OPTIMIZED_STEP, MAX_OPTIMIZED).next_multiple_of(OPTIMIZED_STEP) as usize
}

/// The sizes that decide when a basket is full.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    /// The size of a basket with its key, in bytes.
    pub bytes: usize,
    /// The size of the key.
    pub keylen: usize,
}

impl Capacity {
    /// Returns whether a basket whose last entry has `last` bytes is full.
    pub(crate) fn is_full(self, basket: &Basket, last: usize) -> bool {
        self.is_reached(basket.data.len(), basket.ends.as_ref().map(Vec::len), last)
    }

    /// Returns whether a basket with this number of bytes and of offsets is full.
    fn is_reached(self, bytes: usize, offsets: Option<usize>, last: usize) -> bool {
        // An offset has 4 bytes, and ROOT counts each offset twice.
        self.keylen + bytes + offsets.unwrap_or(0) * 8 + last >= self.bytes
    }

    /// Returns the number of entries of `size` bytes that a basket has when it is full.
    pub(crate) fn entries(self, size: usize) -> usize {
        self.bytes.saturating_sub(self.keylen + size).div_ceil(size.max(1)).max(1)
    }
}
