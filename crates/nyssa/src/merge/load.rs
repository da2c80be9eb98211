//! The pages of one cluster of an input: which bytes they are, in large reads, checked.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use bytes::Bytes;
use rayon::prelude::*;

use super::mapping::Mapping;
use crate::Context;
use crate::error::{Error, Result};
use crate::rntuple::page;
use crate::rntuple::read::Reader;
use crate::rntuple::schema::{Cluster, ColumnId, PageInfo};

/// Size of a page checksum.
const CHECKSUM: u64 = 8;

/// Where a page lies in its file, with its checksum.
pub(super) type Place = Range<u64>;

/// Pages read together: runs of bytes that follow each other in the output.
pub(super) struct Load {
    pub runs: Vec<Bytes>,
    /// Pages in the order of the runs.
    pub pages: Vec<Place>,
    /// Bytes of the pages before compression.
    pub uncompressed: u64,
}

/// A page to be moved.
#[derive(Clone)]
struct Wanted {
    place: Place,
    info: PageInfo,
    /// Over several keys: read and written alone.
    split: bool,
    column: ColumnId,
    number: usize,
    checksummed: bool,
    uncompressed: u64,
}

/// Reads the pages of one input.
pub(super) struct Loader<'a> {
    reader: &'a Reader,
    /// Columns that are moved.
    columns: HashSet<ColumnId>,
    /// Pages that several page lists name: `true` once they are on their way.
    repeated: HashMap<Place, bool>,
    verify: bool,
    /// Bytes of one load, approximately.
    load_bytes: u64,
    context: &'a Context,
}

impl<'a> Loader<'a> {
    pub fn new(
        reader: &'a Reader,
        mapping: &Mapping,
        verify: bool,
        load_bytes: u64,
        context: &'a Context,
    ) -> Result<Self> {
        let representations = mapping.fields.iter().flat_map(|field| &field.representations);
        let columns = representations.flat_map(|(from, _)| from).copied().collect();
        let repeated = HashMap::new();
        let mut loader = Self { reader, columns, repeated, verify, load_bytes, context };
        let mut places = Vec::new();
        for cluster in reader.clusters_info() {
            places.extend(loader.wanted(cluster)?.into_iter().map(|page| page.place));
        }
        places.sort_unstable_by_key(|place| (place.start, place.end));
        for pair in places.windows(2).filter(|pair| pair[0] == pair[1]) {
            loader.repeated.insert(pair[0].clone(), false);
        }
        Ok(loader)
    }

    /// Pages that several page lists name.
    pub fn repeated(&self) -> HashSet<Place> {
        self.repeated.keys().cloned().collect()
    }

    /// Gives `take` the pages of a cluster in the order of the file, but those that went before.
    /// Stops when it returns `false`.
    ///
    /// # Errors
    /// `Checksum` naming the page; `OutOfSpecification` for pages beyond the file; `Cancelled`.
    pub fn load(&mut self, number: usize, mut take: impl FnMut(Load) -> bool) -> Result<()> {
        let Some(cluster) = self.reader.clusters_info().get(number) else { return Ok(()) };
        let mut wanted = self.wanted(cluster)?;
        wanted.retain(|page| match self.repeated.get_mut(&page.place) {
            Some(sent) => !std::mem::replace(sent, true),
            None => true,
        });
        wanted.sort_by_key(|page| (page.place.start, page.place.end));
        let size = |page: &Wanted| page.place.end - page.place.start;
        let mut rest = wanted.as_slice();
        while !rest.is_empty() {
            self.context.check()?;
            let mut bytes = 0;
            let fits = |page: &&Wanted| {
                bytes += size(page);
                bytes <= self.load_bytes && !page.split
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (now, later) = rest.split_at(count);
            let load = self
                .read(now)
                .map_err(|error| error.at(|place| place.cluster = Some(number as u64)))?;
            if !take(load) {
                return Ok(());
            }
            rest = later;
        }
        Ok(())
    }

    fn wanted(&self, cluster: &Cluster) -> Result<Vec<Wanted>> {
        let schema = self.reader.schema();
        let mut wanted = Vec::new();
        for (column, range) in (0u32..).map(ColumnId).zip(&cluster.columns) {
            if range.suppressed || !self.columns.contains(&column) {
                continue;
            }
            let bits = u64::from(schema.column(column).bits);
            for (number, page) in range.pages.iter().enumerate() {
                wanted.push(Wanted {
                    place: place(page),
                    info: *page,
                    split: self.reader.page_range(column, page)?.is_none(),
                    column,
                    number,
                    checksummed: page.checksummed,
                    uncompressed: (u64::from(page.elements) * bits).div_ceil(8),
                });
            }
        }
        Ok(wanted)
    }

    fn read(&self, pages: &[Wanted]) -> Result<Load> {
        let source = self.reader.source();
        if let [page] = pages
            && page.split
        {
            let run = self.reader.read_page(page.column, &page.info)?;
            if self.verify {
                self.verify(pages, std::slice::from_ref(&page.place), std::slice::from_ref(&run))?;
            }
            let uncompressed = page.uncompressed;
            return Ok(Load { runs: vec![run], pages: vec![page.place.clone()], uncompressed });
        }
        let mut runs: Vec<Place> = Vec::new();
        for page in pages {
            match runs.last_mut() {
                Some(run) if run.end == page.place.start => run.end = page.place.end,
                _ => runs.push(page.place.clone()),
            }
        }
        let mut read = Vec::with_capacity(runs.len());
        for runs in runs.chunks(source.limits().max_ranges.max(1)) {
            read.extend(source.read_ranges(runs)?);
        }
        if self.verify {
            self.verify(pages, &runs, &read)?;
        }
        Ok(Load {
            runs: read,
            pages: pages.iter().map(|page| page.place.clone()).collect(),
            uncompressed: pages.iter().map(|page| page.uncompressed).sum(),
        })
    }

    fn verify(&self, pages: &[Wanted], runs: &[Place], read: &[Bytes]) -> Result<()> {
        let check = |page: &Wanted| {
            let run = runs.partition_point(|run| run.start <= page.place.start).saturating_sub(1);
            let start = runs.get(run).map_or(0, |run| page.place.start - run.start) as usize;
            let len = (page.place.end - page.place.start) as usize;
            let bytes = read.get(run).and_then(|run| run.get(start..start.saturating_add(len)));
            let split = bytes.and_then(|bytes| bytes.split_last_chunk());
            let (stored, checksum) =
                split.ok_or_else(|| Error::out_of_spec("a page without room for its checksum"))?;
            page::verify(stored, Some(u64::from_le_bytes(*checksum)))
        };
        let check = |page: &Wanted| {
            check(page).map_err(|error| {
                let schema = self.reader.schema();
                error.at(|place| {
                    place.field = Some(schema.path(schema.column(page.column).field));
                    place.column = Some(u64::from(page.column.0));
                    place.page = Some(page.number as u64);
                    place.offset = Some(page.place.start);
                })
            })
        };
        let pages = || pages.iter().filter(|page| page.checksummed);
        // A handful of pages is checked faster than threads wake up.
        if pages().count() < 4 {
            return pages().try_for_each(check);
        }
        let pages: Vec<_> = pages().collect();
        self.context.pool().install(|| pages.par_iter().try_for_each(|page| check(page)))
    }
}

/// Where a page of a locator lies, with its checksum.
pub(super) fn place(page: &PageInfo) -> Place {
    let checksum = if page.checksummed { CHECKSUM } else { 0 };
    page.locator.offset..page.locator.offset + page.locator.size + checksum
}
