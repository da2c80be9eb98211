//! Fills the baskets of one branch, and keeps the table of those that are stored.

use std::ops::Range;

use super::basket::{Basket, Capacity};
use super::columns::{BranchValues, Values};
use super::form::{BranchForm, Content};
use super::numbers;
use super::options::TreeWriteOptions;
use super::seal::{HEADER, MAX_PAYLOAD};
use crate::compression::Compression;
use crate::error::{Error, Result};
use crate::rootfile::encode;
use crate::rootfile::writer::RootFileWriter;

/// The largest size of a basket after the first cluster, so that it compresses as one block.
const MAX_OPTIMIZED: u64 = 16_000_000;
/// Baskets have sizes that are multiples of this number of bytes after the first cluster.
const OPTIMIZED_STEP: u64 = 512;

/// A branch that is written.
#[derive(Debug)]
pub(super) struct BranchWriter {
    pub form: BranchForm,
    pub compression: Compression,
    /// The size of a basket with its key, in bytes.
    pub basket_size: usize,
    /// The size of the key of a basket, in bytes.
    pub keylen: usize,
    open: Basket,
    /// The stored baskets.
    pub places: Vec<Place>,
    /// The number of bytes of all baskets with their keys, before compression.
    pub tot_bytes: u64,
    /// The number of bytes of all baskets with their keys.
    pub zip_bytes: u64,
    /// The largest count or the length of the longest string.
    pub maximum: i64,
}

/// The place of a basket in the file, and its first entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub seek: u64,
    pub bytes: u64,
    pub first: u64,
}

impl BranchWriter {
    /// Starts a branch of the tree `tree`.
    pub fn new(form: BranchForm, tree: &str, options: &TreeWriteOptions) -> Self {
        Self {
            compression: options.compression_of(&form.name),
            basket_size: options.basket_size_of(&form.name),
            keylen: RootFileWriter::basket_keylen(&form.name, tree, HEADER),
            open: Basket::new(0, form.is_variable()),
            places: Vec::new(),
            tot_bytes: 0,
            zip_bytes: 0,
            maximum: 0,
            form,
        }
    }

    fn capacity(&self) -> Capacity {
        Capacity { bytes: self.basket_size, keylen: self.keylen }
    }

    /// Appends rows. Returns the baskets that are full.
    ///
    /// # Errors
    /// `LimitExceeded` for an entry of more than 1 GiB.
    pub fn fill(&mut self, values: &BranchValues, rows: Range<usize>) -> Result<Vec<Basket>> {
        match (&values.values, &values.items) {
            (Values::Text(ends, bytes), _) => {
                let text = |row: usize| &bytes[ends[row] as usize..ends[row + 1] as usize];
                if let Some(longest) = rows.clone().map(|row| text(row).len()).max() {
                    self.maximum = self.maximum.max(longest as i64);
                }
                let size = |row: usize| text(row).len() + 5;
                self.fill_each(rows, size, |row, out| encode::text_bytes(out, text(row)))
            }
            (Values::Vectors(vectors), _) => {
                let Content::Vector(form) = self.form.content else { return Ok(Vec::new()) };
                let size = |row| form.size(vectors, row);
                self.fill_each(rows, size, |row, out| form.put(vectors, row, out))
            }
            (Values::Leaves(leaves), Some(items)) => {
                self.fill_lists(leaves.first().map(AsRef::as_ref), items, rows)
            }
            _ => Ok(self.fill_fixed(values, rows)),
        }
    }

    /// Appends entries that all have the same size.
    fn fill_fixed(&mut self, values: &BranchValues, rows: Range<usize>) -> Vec<Basket> {
        let mut full = Vec::new();
        let capacity = self.capacity().entries(self.form.item_size());
        let mut row = rows.start;
        while row < rows.end {
            let room = capacity.saturating_sub(self.open.entries as usize).max(1);
            let end = rows.end.min(row.saturating_add(room));
            self.put_fixed(values, row..end);
            self.open.entries += (end - row) as u32;
            if self.open.entries as usize >= capacity {
                full.push(self.open.take());
            }
            row = end;
        }
        full
    }

    fn put_fixed(&mut self, values: &BranchValues, rows: Range<usize>) {
        let data = &mut self.open.data;
        match (&self.form.content, &values.values, &values.items) {
            (Content::Counter(number), _, Some(items)) => {
                for row in rows {
                    let count = items[row + 1] - items[row];
                    self.maximum = self.maximum.max(count);
                    numbers::put_count(count, *number, data);
                }
            }
            (Content::Leaves(forms), Values::Leaves(arrays), _) => {
                if let ([form], [array]) = (&forms[..], &arrays[..]) {
                    let size = form.elements();
                    return numbers::put(
                        array,
                        form.number,
                        rows.start * size..rows.end * size,
                        data,
                    );
                }
                for row in rows {
                    for (form, array) in forms.iter().zip(arrays) {
                        let size = form.elements();
                        numbers::put(array, form.number, row * size..(row + 1) * size, data);
                    }
                }
            }
            _ => {}
        }
    }

    /// Appends entries with the items of lists.
    fn fill_lists(
        &mut self,
        array: Option<&dyn arrow_array::Array>,
        items: &[i64],
        rows: Range<usize>,
    ) -> Result<Vec<Basket>> {
        let Content::Leaves(forms) = &self.form.content else { return Ok(Vec::new()) };
        let (Some(form), Some(array)) = (forms.first(), array) else { return Ok(Vec::new()) };
        let (elements, size) = (form.elements(), form.size());
        let number = form.number;
        let capacity = self.capacity();
        let mut full = Vec::new();
        let mut row = rows.start;
        while row < rows.end {
            // The sizes of entries say how many of them the basket takes. They are then copied at once.
            let start = row;
            let first = items[start];
            let before = self.open.data.len();
            let mut is_full = false;
            while row < rows.end && !is_full {
                let bytes = (items[row + 1] - items[row]) as usize * size;
                let end = before + (items[row + 1] - first) as usize * size;
                check_size(end)?;
                row += 1;
                self.open.entries += 1;
                if let Some(ends) = &mut self.open.ends {
                    ends.push(end as u32);
                }
                let offsets = self.open.entries as usize * 8;
                is_full = capacity.keylen + end + offsets + bytes >= capacity.bytes;
            }
            let range = first as usize * elements..items[row] as usize * elements;
            numbers::put(array, number, range, &mut self.open.data);
            if is_full {
                full.push(self.open.take());
            }
        }
        Ok(full)
    }

    /// Appends entries one by one. `size` is the largest size in bytes that an entry may have.
    fn fill_each(
        &mut self,
        rows: Range<usize>,
        size: impl Fn(usize) -> usize,
        put: impl Fn(usize, &mut Vec<u8>) -> Result<()>,
    ) -> Result<Vec<Basket>> {
        let capacity = self.capacity();
        let mut full = Vec::new();
        for row in rows {
            let data = &mut self.open.data;
            let before = data.len();
            check_size(before.saturating_add(size(row)))?;
            put(row, data)?;
            let end = data.len();
            self.open.entries += 1;
            if let Some(ends) = &mut self.open.ends {
                ends.push(end as u32);
            }
            if capacity.is_full(&self.open, end - before) {
                full.push(self.open.take());
            }
        }
        Ok(full)
    }

    /// Returns the open basket, if it has entries.
    pub fn flush(&mut self) -> Option<Basket> {
        (self.open.entries > 0).then(|| self.open.take())
    }

    /// Continues with an empty basket that starts with the entry `first`.
    pub fn restart(&mut self, first: u64) {
        self.open = Basket::new(first, self.form.is_variable());
    }

    /// Sets the size of baskets so that the next one has all entries of a cluster like the first, which had `entries`.
    pub fn optimize(&mut self, entries: u64) {
        // Clusters differ a little. Offsets count twice for the decision whether a basket is full.
        let offsets = if self.form.is_variable() { entries.saturating_mul(8) } else { 0 };
        let wanted = (self.tot_bytes + self.tot_bytes / 4).saturating_add(offsets);
        let wanted = wanted.clamp(OPTIMIZED_STEP, MAX_OPTIMIZED);
        self.basket_size = wanted.next_multiple_of(OPTIMIZED_STEP) as usize;
    }
}

fn check_size(bytes: usize) -> Result<()> {
    if bytes > MAX_PAYLOAD {
        return Err(Error::limit("an entry of more than 1 GiB in one branch"));
    }
    Ok(())
}
