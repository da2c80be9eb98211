//! Holds the part of the input that is open, and the columns that are read from it.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use nyssa_root::Context;
use nyssa_root::error::Result;

use super::next_part::{FirstWindow, FirstWindows, NextParts, OpenedPart};
use super::window::WindowPlan;
use super::{InputPart, Parts};
use crate::dataset::readable::leaves_others_readable;
use crate::dataset::{AnyDataset, LeftOut, ReadableColumns, fields};

/// The columns that are read from the parts. Columns that cannot be read are removed.
#[derive(Clone, Default)]
pub(super) struct Columns {
    names: Arc<[String]>,
    /// The parts of columns that are left out.
    without: Arc<[LeftOut]>,
    /// Whether columns that cannot be read are left out.
    skip_unreadable: bool,
}

/// The part with the next entries.
pub(super) struct Open {
    pub part: InputPart,
    pub clusters: Vec<Range<u64>>,
    /// The types of the columns. They are known after the first read.
    pub fields: Vec<FieldRef>,
    /// The columns that were left out and not reported yet.
    pub left_out: Vec<LeftOut>,
    /// The first window, if it was read when the part was opened.
    pub first: Option<FirstWindow>,
}

impl Columns {
    /// Starts with the columns `names`. With `skip_unreadable`, a column is left out from the time at which
    /// it cannot be read.
    pub(super) fn new(names: Vec<String>, skip_unreadable: bool) -> Self {
        Self { names: names.into(), without: Arc::default(), skip_unreadable }
    }

    /// Returns the number of columns.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns the parts of columns that are left out.
    pub(super) fn without(&self) -> &Arc<[LeftOut]> {
        &self.without
    }

    /// Opens part number `number`, unless `next` has opened it.
    pub(super) fn open(
        &mut self,
        parts: &Parts,
        number: usize,
        next: &mut NextParts,
        context: &Context,
    ) -> Result<Option<Open>> {
        let opened = match next.take(number, &self.without, context)? {
            Some(opened) => opened,
            None => {
                let part = parts(number, &self.without, context)?;
                part.map(|part| OpenedPart { part, first: None })
            }
        };
        let Some(OpenedPart { part, first }) = opened else { return Ok(None) };
        let clusters = part.dataset.clusters();
        let mut open = Open { part, clusters, fields: Vec::new(), left_out: Vec::new(), first };
        if self.skip_unreadable {
            // Columns that are known to be unreadable are left out.
            self.leave_out(&mut open, context, |_| Ok(()))?;
        }
        Ok(Some(open))
    }

    /// Returns the size of the first windows of the next parts, each of at most `most` bytes. Returns `None` if they
    /// cannot be read ahead, because columns may have to be left out or the size of entries is not known.
    pub(super) fn first_windows(&self, plan: WindowPlan, most: f64) -> Option<FirstWindows> {
        let is_planned = !self.skip_unreadable && plan.taken.is_some();
        is_planned.then(|| FirstWindows { names: Arc::clone(&self.names), plan, most })
    }

    /// Takes arrays of the open part that were read ahead.
    pub(super) fn take(&self, open: &mut Open, arrays: Vec<ArrayRef>) -> Result<Vec<ArrayRef>> {
        if open.fields.len() != self.names.len() {
            open.fields = fields(open.part.dataset.as_ref(), &self.names)?;
        }
        Ok(arrays)
    }

    /// Reads entries of the open part. With `leave_out`, columns that cannot be read are left out, if the
    /// options allow it.
    pub(super) fn read(
        &mut self,
        open: &mut Open,
        entries: &Range<u64>,
        leave_out: bool,
        context: &Context,
    ) -> Result<Vec<ArrayRef>> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let arrays = match open.part.dataset.read(&names, entries.clone(), context) {
            Err(error) if self.skip_unreadable && leave_out && leaves_others_readable(&error) => {
                self.leave_out(open, context, |readable| readable.read(entries.clone(), context))
            }
            read => read,
        }?;
        self.take(open, arrays)
    }

    /// Leaves out the columns that `read` cannot read.
    fn leave_out<R>(
        &mut self,
        open: &mut Open,
        context: &Context,
        read: impl FnOnce(&mut ReadableColumns<'_>) -> Result<R>,
    ) -> Result<R> {
        let dataset: AnyDataset = Arc::clone(&open.part.dataset);
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let mut readable = ReadableColumns::new(dataset.as_ref(), &names, context)?;
        let done = read(&mut readable)?;
        let left_out = readable.take_left_out();
        let parts = left_out.iter().filter(|item| !self.names.contains(&item.column)).cloned();
        self.without = self.without.iter().cloned().chain(parts).collect();
        self.names = readable.names().into_iter().map(str::to_owned).collect();
        open.part.dataset = readable.without().unwrap_or_else(|| Arc::clone(&dataset));
        open.fields.clear();
        open.left_out.extend(left_out);
        Ok(done)
    }
}
