//! Packs entries into the baskets of one branch.

use std::borrow::Cow;
use std::ops::Range;

use nyssa_root::compression::Compression;
use nyssa_root::effort::Effort;
use nyssa_root::error::{Error, Result};
use nyssa_root::guard::to_usize;
use nyssa_root::rootfile::writer::RootFileWriter;
use nyssa_root::streamer::rebase;

use super::opened::OpenedBasket;
use super::references::may_refer;
use crate::read::basket::Contents;
use crate::write::basket::{Basket, Capacity};
use crate::write::codec::BranchCodec;
use crate::write::compress::{CompressedPayload, Compressors, HEADER};

/// The reason why an entry cannot move. ROOT could be told its old position (`TBasket::fDisplacement`), but takes null pointers
/// in such an entry for references to objects.
const REFERENCES: &str = "an entry may have references between its objects, which nyssa cannot find, so that it cannot be moved \
                          to another place in a basket: leave the branch out, or leave its baskets as they are";

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
pub struct PackingMemory(pub(super) Compressors);

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

    /// Appends entries of a basket: the ranges `cuts`, in order. `counted` are the places of its entries, and the end of the
    /// last entry, if only a counter says them ([`OpenedBasket::is_counted`]).
    ///
    /// # Errors
    /// `OutOfSpecification` if they are damaged; `Unsupported` if only another branch says where they begin;
    /// `LimitExceeded` for a basket of more than 1 GiB.
    pub fn add(
        &mut self,
        basket: &OpenedBasket,
        cuts: &[Range<u64>],
        counted: Option<&[usize]>,
    ) -> Result<()> {
        let mut scratch = Vec::new();
        let contents = basket.contents(&mut scratch)?;
        let row = |entry| to_usize(entry, "entry");
        let (Some(first), Some(last)) = (cuts.first(), cuts.last()) else { return Ok(()) };
        // The places are read once for all cuts.
        let span = row(first.start)?..row(last.end)?;
        let offsets = match counted {
            Some(all) if all.last() != Some(&contents.data.len()) => {
                return Err(Error::out_of_spec(
                    "its counter says another number of bytes than the basket has",
                ));
            }
            Some(all) => Some(Cow::from(all.get(span.start..=span.end).ok_or_else(short)?)),
            None => contents.offsets(span.clone())?.map(Cow::from),
        };
        let Some(offsets) = offsets else {
            let size = contents.entry_size()?;
            return cuts.iter().try_for_each(|cut| {
                self.add_fixed(contents.data, row(cut.start)?..row(cut.end)?, size)
            });
        };
        let ends: Vec<i64> = offsets.iter().map(|&at| at as i64).collect();
        for cut in cuts {
            let rows = row(cut.start)?..row(cut.end)?;
            let of_cut =
                rows.start.saturating_sub(span.start)..=rows.end.saturating_sub(span.start);
            let offsets = (offsets.get(of_cut.clone()), ends.get(of_cut));
            let (Some(offsets), Some(ends)) = offsets else { return Err(short()) };
            self.add_variable(&contents, rows, (offsets, ends))?;
        }
        Ok(())
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
        (offsets, ends): (&[usize], &[i64]),
    ) -> Result<()> {
        let places = self.form.may_refer.then(|| contents.places(rows, offsets));
        let mut row = 0;
        while row + 1 < offsets.len() {
            self.begin(None)?;
            let start = self.open.data.len();
            let (taken, is_full) = self.open.add_entries(self.capacity, 1, &ends[row..]);
            let next = row + taken;
            let (first, end) = (offsets[row], offsets[next]);
            self.open.data.extend_from_slice(contents.data.get(first..end).ok_or_else(short)?);
            if let Some(places) = &places {
                let displaced = contents.is_displaced();
                self.settle_references(
                    &places[row..next],
                    &offsets[row..=next],
                    (start, displaced),
                )?;
            }
            if is_full {
                self.flush()?;
            }
            row = next;
        }
        Ok(())
    }

    /// Changes the references in entries that have come to the open basket, whose data had `start` bytes. References that may
    /// lead to objects stay, if the basket says for which position their entry was streamed.
    fn settle_references(
        &mut self,
        places: &[u32],
        offsets: &[usize],
        (start, displaced): (usize, bool),
    ) -> Result<()> {
        let first = offsets.first().copied().unwrap_or(0);
        for (&place, entry) in places.iter().zip(offsets.windows(2)) {
            let range = start + entry[0] - first..start + entry[1] - first;
            let now = self.capacity.keylen + range.start;
            let bytes = self.open.data.get_mut(range).ok_or_else(short)?;
            let mut known = now as u32;
            if place as usize != now && may_refer(bytes, place) {
                match rebase(bytes, place as usize, now) {
                    Ok(()) => {}
                    Err(_) if displaced => (known, self.has_moved) = (place, true),
                    Err(_) => return Err(Error::unsupported(REFERENCES)),
                }
            }
            self.places.push(known);
        }
        Ok(())
    }
}

fn short() -> Error {
    Error::out_of_spec("the entries of the basket end beyond its data")
}
