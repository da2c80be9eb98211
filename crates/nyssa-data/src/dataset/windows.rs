//! Reads some entries of some columns, in windows that fit into memory.

use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use nyssa_root::Context;
use nyssa_root::error::{Result, ResultExt};
use nyssa_root::guard::to_usize;

use super::{Dataset, LeftOut, ReadableColumns};

use crate::heuristics::dataset;

/// A reader of a range of entries, one window after the other.
pub struct Windows<'a> {
    dataset: &'a dyn Dataset,
    names: Vec<String>,
    /// The columns, if unreadable columns are left out.
    readable: Option<ReadableColumns<'a>>,
    /// The entries that are not yet read.
    rest: Range<u64>,
    /// The number of entries of the next window.
    step: u64,
}

/// The values of consecutive entries.
#[derive(Debug)]
pub struct Window {
    /// The names of the columns.
    pub names: Vec<String>,
    /// An array for each column.
    pub arrays: Vec<ArrayRef>,
    /// The number of entries, which is the length of the arrays.
    pub rows: usize,
    /// The columns, and parts of columns, that are left out from this window on.
    pub left_out: Vec<LeftOut>,
}

impl<'a> Windows<'a> {
    /// Prepares to read the columns `names`. With `skip_unreadable`, a column is left out from the first window
    /// in which it cannot be read.
    ///
    /// # Errors
    /// Returns an error if the dataset cannot be opened without unreadable parts.
    pub fn new(
        dataset: &'a dyn Dataset,
        names: &[&str],
        entries: Range<u64>,
        skip_unreadable: bool,
        context: &Context,
    ) -> Result<Self> {
        let readable = match skip_unreadable {
            true => Some(ReadableColumns::new(dataset, names, context)?),
            false => None,
        };
        let names = names.iter().map(|&name| name.to_owned()).collect();
        Ok(Self { dataset, names, readable, rest: entries, step: dataset::FIRST_ENTRIES })
    }

    /// Reads the next window. Returns `None` after the last window.
    ///
    /// # Errors
    /// `NotFound`, `Unsupported`, `Cancelled`; an error if the file is damaged or cannot be read.
    pub fn next(&mut self, context: &Context) -> Result<Option<Window>> {
        let Range { start, end } = self.rest;
        if start >= end {
            return Ok(None);
        }
        let end = end.min(start.saturating_add(self.step));
        let mut left_out = Vec::new();
        let arrays = match &mut self.readable {
            None => {
                let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
                self.dataset.read(&names, start..end, context).in_file(self.dataset.file())?
            }
            Some(readable) => {
                let arrays = readable.read(start..end, context).in_file(self.dataset.file())?;
                self.names = readable.names().into_iter().map(str::to_owned).collect();
                left_out = readable.take_left_out();
                arrays
            }
        };
        let bytes: usize = arrays.iter().map(|array| array.get_array_memory_size()).sum();
        let bytes_per_entry = (bytes as u64 / (end - start)).max(1);
        self.step = (dataset::WINDOW_BYTES / bytes_per_entry).max(1);
        self.rest.start = end;
        let rows = to_usize(end - start, "entry")?;
        Ok(Some(Window { names: self.names.clone(), arrays, rows, left_out }))
    }
}
