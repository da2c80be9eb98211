//! Keeps the unpacked forms of pages and baskets in a cache.

use std::ops::Range;

use super::entry::New;
use super::record::{Form, Record, UNPACKED_BYTES};
use super::source::Resource;
use super::unpacked::{Unpacked, UnpackedPage};

impl Unpacked for Resource {
    fn wanted(&self) -> Option<Form> {
        Some(self.form()).filter(|form| *form != Form::Stored)
    }

    fn knows(&self, ranges: &[Range<u64>]) -> Vec<bool> {
        let Some(entry) = self.entry() else { return vec![false; ranges.len()] };
        // Another process may have added forms.
        let _ = entry.refresh();
        entry.with_index(|index| {
            ranges.iter().map(|range| index.unpacked(range).is_some()).collect()
        })
    }

    fn is_in_use(&self) -> bool {
        let has_any = || self.entry().is_some_and(|entry| entry.with_index(|i| i.has_unpacked()));
        self.wanted().is_some() || has_any()
    }

    fn read(&self, ranges: &[Range<u64>]) -> Vec<Option<UnpackedPage>> {
        let Some(entry) = self.entry() else { return vec![None; ranges.len()] };
        let records: Vec<_> =
            entry.with_index(|index| ranges.iter().map(|range| index.unpacked(range)).collect());
        let blocks = entry.read(records.iter().flatten().copied().collect());
        let page = |record: Option<Record>| {
            let record = record?;
            let (bytes, start) = blocks.find(&record)?;
            let bytes = bytes.slice(start..start + record.bytes as usize);
            Some(UnpackedPage { form: record.form, size: record.size, bytes })
        };
        let pages: Vec<_> = records.into_iter().map(page).collect();
        let hits = ranges.iter().zip(&pages).filter(|(_, page)| page.is_some());
        self.count_hit(ranges.len(), hits.map(|(range, _)| range.end - range.start).sum());
        pages
    }

    fn keep(&self, pages: Vec<(Range<u64>, UnpackedPage)>) {
        let Some(entry) = self.entry() else { return };
        let new = pages
            .into_iter()
            .filter(|(_, page)| page.size.max(page.bytes.len() as u64) <= UNPACKED_BYTES);
        let new = new.map(|(range, page)| New::unpacked(&range, page.form, page.size, page.bytes));
        self.add(&entry, &new.collect::<Vec<_>>());
    }
}
