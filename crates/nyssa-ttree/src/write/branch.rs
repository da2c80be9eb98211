//! Fills the baskets of one branch.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nyssa_root::error::{Error, Result};
use nyssa_root::rootfile::encode;
use nyssa_root::rootfile::writer::RootFileWriter;

use super::basket::{Basket, Capacity, optimized_size};
use super::columns::{BranchValues, Values};
use super::compress::{HEADER, MAX_PAYLOAD};
use super::form::{BranchForm, Content};
use super::leaf_list::LeafList;
use super::numbers;
use super::options::BranchSettings;
use super::spare::Spare;
use super::target::BranchState;

/// A branch that is filled.
#[derive(Debug)]
pub(super) struct BranchFiller {
    pub form: BranchForm,
    /// The size of a basket with its key, in bytes.
    pub basket_size: usize,
    /// The size of the key of a basket, in bytes.
    pub keylen: usize,
    open: Basket,
    /// The memory for baskets. Those that compress give it back.
    pub spare: Arc<Mutex<Spare>>,
    /// The number of bytes of all finished baskets with their keys, before compression.
    pub tot_bytes: u64,
    /// The largest count or the length of the longest string.
    maximum: i64,
    /// Whether an entry has an object behind a pointer.
    has_objects: bool,
}

impl BranchFiller {
    /// Starts a branch of the tree `tree`.
    pub(super) fn new(form: BranchForm, tree: &str, settings: BranchSettings) -> Self {
        Self {
            basket_size: settings.basket_size,
            keylen: RootFileWriter::basket_keylen(&form.name, tree, HEADER),
            open: Basket::new(0, form.is_variable()),
            spare: Arc::default(),
            tot_bytes: 0,
            maximum: 0,
            has_objects: false,
            form,
        }
    }

    /// Restarts without entries. The size of baskets stays.
    pub(super) fn fork(&self) -> Self {
        Self {
            form: self.form.clone(),
            open: Basket::new(0, self.form.is_variable()),
            spare: Arc::default(),
            tot_bytes: 0,
            maximum: 0,
            has_objects: false,
            ..*self
        }
    }

    /// Returns the numbers about the entries so far, for the metadata.
    pub(super) fn state(&self) -> BranchState {
        let Self { basket_size, maximum, has_objects, .. } = *self;
        BranchState { basket_size, maximum, has_objects }
    }

    /// Takes a count of other entries.
    pub(super) fn raise_maximum(&mut self, maximum: i64) {
        self.maximum = self.maximum.max(maximum);
    }

    fn capacity(&self) -> Capacity {
        Capacity { bytes: self.basket_size, keylen: self.keylen }
    }

    /// Appends rows. Returns the baskets that are full.
    ///
    /// # Errors
    /// `LimitExceeded` for an entry of more than 1 GiB.
    pub(super) fn fill(
        &mut self,
        values: &BranchValues,
        rows: Range<usize>,
    ) -> Result<Vec<Basket>> {
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
            (Values::Objects(array), items) => {
                let Some(layout) = self.form.layout() else { return Ok(Vec::new()) };
                if matches!(self.form.content, Content::LeafList(_)) {
                    self.maximum = self.maximum.max(LeafList::longest(array, &rows));
                }
                let entries = layout.encode_entries(
                    array,
                    items.as_deref(),
                    rows.clone(),
                    self.form.process,
                )?;
                self.has_objects |= entries.has_objects();
                let (first, keylen, name) = (rows.start, self.keylen, self.form.class_name());
                let size = |row: usize| name.len() + entries.size(row - first);
                self.fill_each(rows, size, |row, out| {
                    out.extend_from_slice(&name);
                    entries.put(row - first, keylen, out)
                })
            }
            (Values::Counts, Some(items)) if matches!(self.form.content, Content::Items) => {
                let count = |row: usize| items[row + 1] - items[row];
                let largest = rows.clone().map(count).max().unwrap_or(0);
                self.maximum = self.maximum.max(largest);
                self.fill_each(
                    rows,
                    |_| size_of::<i32>(),
                    |row, out| {
                        out.extend_from_slice(&(count(row) as i32).to_be_bytes());
                        Ok(())
                    },
                )
            }
            (Values::Nothing, _) => Ok(Vec::new()),
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
            self.begin();
            let room = capacity.saturating_sub(self.open.entries as usize).max(1);
            let end = rows.end.min(row.saturating_add(room));
            let before = self.open.data.len();
            self.put_fixed(values, row..end);
            if let Some(ends) = &mut self.open.ends {
                let size = (self.open.data.len() - before) / (end - row).max(1);
                ends.extend((1..=end - row).map(|count| (before + count * size) as u32));
            }
            self.open.entries += (end - row) as u32;
            if self.open.entries as usize >= capacity {
                full.push(self.take());
            }
            row = end;
        }
        full
    }

    fn put_fixed(&mut self, values: &BranchValues, rows: Range<usize>) {
        let data = &mut self.open.data;
        match (&self.form.content, &values.values, &values.items) {
            (Content::Counter(leaf), _, Some(items)) => {
                let offsets = &items[rows.start..=rows.end];
                let largest = offsets.windows(2).map(|pair| pair[1] - pair[0]).max();
                self.maximum = self.maximum.max(largest.unwrap_or(0));
                numbers::put_counts(offsets, leaf.number, data);
            }
            (Content::Leaves(forms), Values::Leaves(arrays), _) => {
                if let ([form], [array]) = (&forms[..], &arrays[..]) {
                    return form.put(array, rows, data);
                }
                let counters = forms.iter().zip(arrays).filter(|(form, _)| form.counts);
                for (_, array) in counters {
                    self.maximum = self.maximum.max(numbers::largest(array, &rows));
                }
                for row in rows {
                    for (form, array) in forms.iter().zip(arrays) {
                        form.put(array, row..row + 1, data);
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
        let (Some(form), Some(array)) = (forms.first().cloned(), array) else {
            return Ok(Vec::new());
        };
        let size = form.stored_size();
        let capacity = self.capacity();
        let mut full = Vec::new();
        let mut row = rows.start;
        while row < rows.end {
            self.begin();
            // The sizes of entries tell how many of them the basket takes. These are then copied at once.
            let first = items[row];
            let (taken, is_full) = self.open.add_entries(capacity, size, &items[row..=rows.end]);
            row += taken;
            check_size(self.open.data.len() + (items[row] - first) as usize * size)?;
            form.put(array, first as usize..items[row] as usize, &mut self.open.data);
            if is_full {
                full.push(self.take());
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
            self.begin();
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
                full.push(self.take());
            }
        }
        Ok(full)
    }

    /// Returns the open basket, if it has entries.
    pub(super) fn flush(&mut self) -> Option<Basket> {
        (self.open.entries > 0).then(|| self.take())
    }

    /// Returns the open basket, and continues with an empty basket.
    fn take(&mut self) -> Basket {
        let full = self.open.take();
        // A basket has about the size of the previous basket.
        self.spare().set_room(full.len_with_offsets());
        full
    }

    /// Gives the open basket memory before its first entry. By then, the memory of earlier baskets may be free.
    fn begin(&mut self) {
        if self.open.entries == 0 && self.open.data.capacity() == 0 {
            let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            self.open.data = spare.entries();
            self.open.ends = self.open.ends.is_some().then(|| spare.ends());
        }
    }

    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Continues with an empty basket that starts with the entry `first`.
    pub(super) fn restart(&mut self, first: u64) {
        self.open = Basket::new(first, self.form.is_variable());
    }

    /// Continues a branch of `entries` entries. Its baskets in the open cluster have `tot_bytes` bytes.
    pub(super) fn resume(&mut self, entries: u64, tot_bytes: u64) {
        self.restart(entries);
        self.tot_bytes = tot_bytes;
    }

    /// Sets the size of baskets so that the next basket has all entries of a cluster like the first cluster, which
    /// had `entries`.
    pub(super) fn optimize(&mut self, entries: u64) {
        self.basket_size = optimized_size(self.tot_bytes, entries, self.form.is_variable());
        let mut spare = self.spare();
        spare.clear();
        spare.set_room(self.basket_size);
    }
}

fn check_size(bytes: usize) -> Result<()> {
    if bytes > MAX_PAYLOAD {
        return Err(Error::limit("an entry of more than 1 GiB in one branch"));
    }
    Ok(())
}
