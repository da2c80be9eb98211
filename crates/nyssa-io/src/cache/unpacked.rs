//! Keeps the unpacked forms of pages and baskets of a source in a cache.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::entry::New;
use super::record::{Form, UNPACKED_BYTES};
use super::source::{CachedSource, Shared};
use crate::Source;

/// The unpacked pages and baskets of a source. A page or basket is known by the range of its packed bytes.
/// Clones share it.
#[derive(Clone)]
pub struct Unpacked(Arc<Shared>);

/// The unpacked form of the bytes of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnpackedPage {
    /// The form: [`Form::Raw`] or [`Form::Lz4`].
    pub form: Form,
    /// The number of bytes before they were compressed.
    pub size: u64,
    /// The bytes, which are compressed if the form says so.
    pub bytes: Bytes,
}

impl Unpacked {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self(Arc::clone(shared))
    }

    /// Returns the form in which new pages are kept, or `None` if they are not kept unpacked.
    pub fn wanted(&self) -> Option<Form> {
        Some(self.0.form()).filter(|form| *form != Form::Stored)
    }

    /// Returns for each range whether its unpacked form is known.
    pub fn knows(&self, ranges: &[Range<u64>]) -> Vec<bool> {
        let Some(entry) = self.0.entry() else { return vec![false; ranges.len()] };
        // Another process may have added forms.
        let _ = entry.refresh();
        entry.with_index(|index| {
            ranges.iter().map(|range| index.unpacked(range).is_some()).collect()
        })
    }

    /// Returns whether any unpacked form is known or wanted.
    pub fn is_in_use(&self) -> bool {
        let has_any = || self.0.entry().is_some_and(|entry| entry.with_index(|i| i.has_unpacked()));
        self.wanted().is_some() || has_any()
    }

    /// Reads the unpacked forms of ranges. An element is `None` if its range is not known, or is damaged in the
    /// cache.
    pub fn read(&self, ranges: &[Range<u64>]) -> Vec<Option<UnpackedPage>> {
        let Some(entry) = self.0.entry() else { return vec![None; ranges.len()] };
        let records: Vec<_> =
            entry.with_index(|index| ranges.iter().map(|range| index.unpacked(range)).collect());
        let blocks = entry.read(records.iter().flatten().copied().collect());
        let page = |record: Option<super::record::Record>| {
            let record = record?;
            let (bytes, start) = blocks.find(&record)?;
            let bytes = bytes.slice(start..start + record.bytes as usize);
            Some(UnpackedPage { form: record.form, size: record.size, bytes })
        };
        let pages: Vec<_> = records.into_iter().map(page).collect();
        let found = ranges.iter().zip(&pages).filter(|(_, page)| page.is_some());
        self.0.count_hit(ranges.len(), found.map(|(range, _)| range.end - range.start).sum());
        pages
    }

    /// Keeps the unpacked forms of ranges. If they cannot be written, they are not kept.
    pub fn keep(&self, pages: Vec<(Range<u64>, UnpackedPage)>) {
        let Some(entry) = self.0.entry() else { return };
        let new = pages
            .into_iter()
            .filter(|(_, page)| page.size.max(page.bytes.len() as u64) <= UNPACKED_BYTES);
        let new = new.map(|(range, page)| New::unpacked(&range, page.form, page.size, page.bytes));
        self.0.add(&entry, &new.collect::<Vec<_>>());
    }

    /// Returns a source of the packed bytes that does not keep them.
    pub fn source(&self) -> Arc<dyn Source> {
        CachedSource::passing(&self.0)
    }
}
