//! Packs entries into the baskets of one branch.

use std::ops::Range;

use nyssa_root::compression::Compression;
use nyssa_root::effort::Effort;
use nyssa_root::error::{Error, Result};
use nyssa_root::guard::to_usize;
use nyssa_root::rootfile::writer::RootFileWriter;

use super::opened::OpenedBasket;
use super::references::may_refer;
use crate::read::basket::Contents;
use crate::write::basket::{Basket, Capacity};
use crate::write::codec::BranchCodec;
use crate::write::compress::{CompressedPayload, Compressors, HEADER};

/// The form of the baskets of a branch.
#[derive(Clone, Debug)]
pub struct PackedForm {
    /// The name of the branch, for the keys.
    pub name: String,
    /// The name of the tree, for the keys.
    pub tree: String,
    /// The compression.
    pub compression: Compression,
    /// The effort of the compression.
    pub effort: Effort,
    /// The size of a basket with its key before compression, in bytes.
    pub basket_size: usize,
    /// Whether entries may have references between their objects.
    pub may_refer: bool,
}

/// Compressors and memory that all threads share.
#[derive(Default)]
pub struct PackingMemory(Compressors);

/// A basket that is ready to be written.
#[derive(Debug)]
pub struct PackedBasket {
    /// The first entry.
    pub first: u64,
    /// The header of the basket, behind the header of the key.
    pub header: [u8; HEADER],
    /// The payload, as stored.
    pub payload: Vec<u8>,
    /// The size of the payload when it is uncompressed, in bytes.
    pub objlen: u64,
}

/// Fills the open basket of a branch.
pub struct Packer<'a> {
    form: &'a PackedForm,
    memory: &'a PackingMemory,
    capacity: Capacity,
    codec: BranchCodec,
    open: Basket,
    /// The size of the entries of the open basket, if all have one size.
    size: Option<usize>,
    /// The positions for which the entries of the open basket were streamed, if they may have references.
    places: Vec<u32>,
    /// Whether an entry of the open basket with references has moved.
    has_moved: bool,
    full: Vec<PackedBasket>,
}

impl PackedForm {
    /// Returns the size in bytes of the key of a basket.
    pub fn keylen(&self) -> usize {
        RootFileWriter::basket_keylen(&self.name, &self.tree, HEADER)
    }
}

impl<'a> Packer<'a> {
    /// Starts with the entry `first` of the output.
    pub fn new(form: &'a PackedForm, first: u64, memory: &'a PackingMemory) -> Self {
        Self {
            form,
            memory,
            capacity: Capacity { bytes: form.basket_size, keylen: form.keylen() },
            codec: BranchCodec::new(form.compression, form.effort),
            open: Basket::new(first, false),
            size: None,
            places: Vec::new(),
            has_moved: false,
            full: Vec::new(),
        }
    }

    /// Appends the entries `rows` of a basket.
    ///
    /// # Errors
    /// `OutOfSpecification` if they are damaged; `Unsupported` if only another branch says where they begin;
    /// `LimitExceeded` for a basket of more than 1 GiB.
    pub fn add(&mut self, basket: &OpenedBasket, rows: Range<u64>) -> Result<()> {
        let mut scratch = Vec::new();
        let contents = basket.contents(&mut scratch)?;
        let rows = to_usize(rows.start, "entry")?..to_usize(rows.end, "entry")?;
        match contents.offsets(rows.clone())? {
            Some(offsets) => self.add_variable(&contents, rows, &offsets),
            None => self.add_fixed(contents.data, rows, contents.entry_size()?),
        }
    }

    /// Ends the open basket.
    ///
    /// # Errors
    /// `LimitExceeded` for a basket of more than 1 GiB.
    pub fn flush(&mut self) -> Result<()> {
        if self.open.entries == 0 {
            return Ok(());
        }
        let mut basket = self.open.take();
        if std::mem::take(&mut self.has_moved) {
            basket.streamed_at = Some(std::mem::take(&mut self.places));
        }
        self.places.clear();
        if self.codec.wants(&basket) {
            self.codec.choose(&basket)?;
        }
        let (codecs, first) = (self.codec.of(&basket), basket.first);
        let compressed = self.memory.0.compress(&mut basket, self.capacity.keylen, &codecs)?;
        let CompressedPayload { header, compressed, objlen } = compressed;
        let payload = compressed.unwrap_or(basket.data);
        self.full.push(PackedBasket { first, header, payload, objlen: objlen as u64 });
        Ok(())
    }

    /// Ends the open basket, and returns all baskets.
    ///
    /// # Errors
    /// `LimitExceeded` for a basket of more than 1 GiB.
    pub fn finish(mut self) -> Result<Vec<PackedBasket>> {
        self.flush()?;
        Ok(self.full)
    }

    /// Prepares the open basket for entries of one size, or of several sizes (`None`).
    fn begin(&mut self, size: Option<usize>) -> Result<()> {
        if self.open.entries > 0 && self.size != size {
            self.flush()?;
        }
        if self.open.entries == 0 {
            self.open.ends = size.is_none().then(Vec::new);
            self.size = size;
        }
        Ok(())
    }

    fn add_fixed(&mut self, data: &[u8], rows: Range<usize>, size: usize) -> Result<()> {
        let capacity = self.capacity.entries(size);
        let mut row = rows.start;
        while row < rows.end {
            self.begin(Some(size))?;
            let room = capacity.saturating_sub(self.open.entries as usize).max(1);
            let end = rows.end.min(row.saturating_add(room));
            let bytes = data.get(row.saturating_mul(size)..end.saturating_mul(size));
            self.open.data.extend_from_slice(bytes.ok_or_else(short)?);
            self.open.entries += (end - row) as u32;
            if self.open.entries as usize >= capacity {
                self.flush()?;
            }
            row = end;
        }
        Ok(())
    }

    fn add_variable(
        &mut self,
        contents: &Contents<'_>,
        rows: Range<usize>,
        offsets: &[usize],
    ) -> Result<()> {
        let places = self.form.may_refer.then(|| contents.places(rows, offsets));
        let ends: Vec<i64> = offsets.iter().map(|&at| at as i64).collect();
        let mut row = 0;
        while row + 1 < offsets.len() {
            self.begin(None)?;
            let start = self.open.data.len();
            let (taken, is_full) = self.open.add_entries(self.capacity, 1, &ends[row..]);
            let next = row + taken;
            let moved = &offsets[row..=next];
            if let Some(places) = &places {
                self.keep_places(contents.data, &places[row..next], moved, start);
            }
            let (first, end) = (offsets[row], offsets[next]);
            self.open.data.extend_from_slice(contents.data.get(first..end).ok_or_else(short)?);
            if is_full {
                self.flush()?;
            }
            row = next;
        }
        Ok(())
    }

    /// Keeps the places of entries that come to the end of the open basket, whose data have `start` bytes.
    fn keep_places(&mut self, data: &[u8], places: &[u32], offsets: &[usize], start: usize) {
        let first = offsets.first().copied().unwrap_or(0);
        self.places.extend_from_slice(places);
        let mut entries = places.iter().zip(offsets.windows(2));
        self.has_moved = self.has_moved
            || entries.any(|(&place, entry)| {
                let now = self.capacity.keylen + start + (entry[0] - first);
                let bytes = data.get(entry[0]..entry[1]).unwrap_or_default();
                place as usize != now && may_refer(bytes, place)
            });
    }
}

fn short() -> Error {
    Error::out_of_spec("the entries of the basket end beyond its data")
}
