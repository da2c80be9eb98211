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
use crate::model::Basket as Place;
use crate::read::basket::Contents;
use crate::read::{EntryReferences, Referring, cannot_move};
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

/// Where a basket comes from, to find the references in its entries.
#[derive(Clone, Copy)]
pub struct BasketSource<'a> {
    /// The finder for its tree.
    pub references: &'a EntryReferences,
    /// The path of the branch.
    pub path: &'a str,
    /// The place of the basket.
    pub place: &'a Place,
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
    /// `OutOfSpecification` if they are damaged; `Unsupported` if only another branch says where they begin, and if nyssa
    /// cannot know the references in an entry; `LimitExceeded` for a basket of more than 1 GiB.
    pub fn add(
        &mut self,
        (basket, source): (&OpenedBasket, Option<BasketSource<'_>>),
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
        let referring = match source.filter(|_| self.form.may_refer) {
            Some(BasketSource { references, path, place }) => {
                let rows = (span.clone(), &*offsets);
                references
                    .of((path, place), &contents, rows, cuts)
                    .map_err(|it| cannot_move(&it))?
            }
            None => Vec::new(),
        };
        let ends: Vec<i64> = offsets.iter().map(|&at| at as i64).collect();
        for cut in cuts {
            let rows = row(cut.start)?..row(cut.end)?;
            let of_cut =
                rows.start.saturating_sub(span.start)..=rows.end.saturating_sub(span.start);
            let offsets = (offsets.get(of_cut.clone()), ends.get(of_cut));
            let (Some(offsets), Some(ends)) = offsets else { return Err(short()) };
            self.add_variable(&contents, rows, (offsets, ends), &referring)?;
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
        referring: &[Referring],
    ) -> Result<()> {
        let before = rows.start;
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
                let from = referring.partition_point(|entry| entry.row < before + row);
                let to = referring.partition_point(|entry| entry.row < before + next);
                self.settle_references(
                    (&places[row..next], before + row),
                    &offsets[row..=next],
                    (start, displaced),
                    &referring[from..to],
                )?;
            }
            if is_full {
                self.flush()?;
            }
            row = next;
        }
        Ok(())
    }

    /// Changes the references in entries that have come to the open basket, whose data had `start` bytes. The first of them was
    /// the entry `first` of its basket. References that are not known stay, if the basket says for which position their entry
    /// was streamed. ROOT could be told an old position in any basket (`TBasket::fDisplacement`), but takes null pointers in such
    /// an entry for references to objects.
    fn settle_references(
        &mut self,
        (places, first): (&[u32], usize),
        offsets: &[usize],
        (start, displaced): (usize, bool),
        mut referring: &[Referring],
    ) -> Result<()> {
        let before = offsets.first().copied().unwrap_or(0);
        for (row, (&place, entry)) in (first..).zip(places.iter().zip(offsets.windows(2))) {
            let range = start + entry[0] - before..start + entry[1] - before;
            let now = self.capacity.keylen + range.start;
            let mut known = now as u32;
            if let Some((Referring { places, .. }, rest)) =
                referring.split_first().filter(|(next, _)| next.row == row)
            {
                referring = rest;
                let bytes = self.open.data.get_mut(range).ok_or_else(short)?;
                match places {
                    _ if place as usize == now => {}
                    Ok(places) => rebase(bytes, places, place as usize, now)?,
                    Err(_) if displaced => (known, self.has_moved) = (place, true),
                    Err(error) => return Err(cannot_move(error)),
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
