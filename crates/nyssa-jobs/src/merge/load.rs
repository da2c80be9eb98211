//! Reads the pages of an input cluster by cluster, in large reads, and checks them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use nyssa_io::fetch::coalesce;
use nyssa_rntuple::page;
use nyssa_rntuple::read::Reader;
use nyssa_rntuple::schema::{Cluster, ColumnId, PageInfo};
use nyssa_root::Context;
use nyssa_root::compression::{Compression, Compressor};
use nyssa_root::error::{Error, Result};
use nyssa_root::fetch::{FetchUnit, in_order};
use rayon::prelude::*;

use super::mapping::ColumnMapping;
use super::reseal::seal_again;
use crate::heuristics::merge;

/// The size of a page checksum in bytes.
const CHECKSUM: u64 = 8;

/// The range of a page in its file, with its checksum.
pub(super) type Place = Range<u64>;

/// The pages that are read together, as runs of bytes that follow each other in the output.
pub(super) struct Load {
    pub runs: Vec<Bytes>,
    pub pages: Vec<LoadedPage>,
    /// The size of the pages before compression, in bytes.
    pub uncompressed: u64,
}

/// A page of a load.
pub(super) struct LoadedPage {
    /// The place of the page in its file.
    pub place: Place,
    /// The number of earlier bytes of the load.
    pub before: u64,
    /// The size of the page without its checksum, in bytes.
    pub size: u64,
}

/// One step of moving the pages of an input.
pub(super) enum Step {
    /// The input is open. The pages are named by several page lists.
    Open(Arc<Reader>, HashSet<Place>),
    /// A cluster begins. Its loads follow.
    Begin(usize),
    Load(Load),
    /// A cluster ends. All its loads came before.
    End(usize),
}

/// A step whose pages have not been read.
enum LoadStep {
    Begin(usize),
    /// The pages of a cluster.
    Pages(usize, Vec<PageToLoad>),
    End(usize),
}

/// A page to be moved.
#[derive(Clone)]
struct PageToLoad {
    place: Place,
    info: PageInfo,
    /// Whether the page is in several keys, so that it is read and written separately.
    split: bool,
    column: ColumnId,
    number: usize,
    checksummed: bool,
    uncompressed: u64,
}

/// Reads the pages of one input.
pub(super) struct Loader<'a> {
    reader: &'a Reader,
    /// The columns that are moved.
    columns: HashSet<ColumnId>,
    /// The pages that several page lists name. The value is `true` once the page was planned.
    repeated: HashMap<Place, bool>,
    verify: bool,
    /// The compression of the pages in the output, if it changes.
    compression: Option<Compression>,
    /// The approximate size of one load in bytes.
    load_bytes: u64,
    /// The size in bytes of the loads that are fetched ahead from a source with latency.
    ahead_bytes: u64,
    context: &'a Context,
}

impl<'a> Loader<'a> {
    pub(super) fn new(
        reader: &'a Reader,
        mapping: &ColumnMapping,
        (verify, compression): (bool, Option<Compression>),
        (load_bytes, ahead_bytes): (u64, u64),
        context: &'a Context,
    ) -> Result<Self> {
        let representations = mapping.fields.iter().flat_map(|field| &field.representations);
        let columns = representations.flat_map(|(from, _)| from).copied().collect();
        let repeated = HashMap::new();
        let mut loader = Self {
            reader,
            columns,
            repeated,
            verify,
            compression,
            load_bytes,
            ahead_bytes,
            context,
        };
        let mut places = Vec::new();
        for cluster in reader.clusters_info()? {
            places.extend(loader.pages_to_load(cluster)?.into_iter().map(|page| page.place));
        }
        places.sort_unstable_by_key(|place| (place.start, place.end));
        for pair in places.windows(2).filter(|pair| pair[0] == pair[1]) {
            loader.repeated.insert(pair[0].clone(), false);
        }
        Ok(loader)
    }

    /// Returns the pages that several page lists name.
    pub(super) fn repeated(&self) -> HashSet<Place> {
        self.repeated.keys().cloned().collect()
    }

    /// Passes the pages to `take`, cluster by cluster in the order of the file, except pages that were already
    /// passed. Later loads are fetched ahead. Stops when `take` returns `false`.
    ///
    /// # Errors
    /// `Checksum` with the page; `OutOfSpecification` for pages beyond the file; `Cancelled`.
    pub(super) fn load_all(&mut self, mut take: impl FnMut(Step) -> bool) -> Result<()> {
        let clusters = self.reader.clusters_info()?.iter().enumerate();
        let mut clusters = clusters.filter(|(_, cluster)| cluster.entries > 0).peekable();
        while clusters.peek().is_some() {
            let mut units: Vec<FetchUnit<LoadStep>> = Vec::new();
            let mut pages = 0;
            while let Some((number, cluster)) = clusters.next_if(|_| pages < merge::PLANNED_PAGES) {
                units.push((Vec::new(), LoadStep::Begin(number)));
                pages += self.plan(number, cluster, &mut units)?;
                units.push((Vec::new(), LoadStep::End(number)));
            }
            if !self.run(units, &mut take)? {
                break;
            }
        }
        Ok(())
    }

    /// Passes the planned pages to `take`. Returns `false` if `take` stops.
    fn run(
        &self,
        units: Vec<FetchUnit<LoadStep>>,
        take: &mut impl FnMut(Step) -> bool,
    ) -> Result<bool> {
        let context = self.context.clone().with_fetch_bytes(self.ahead_bytes);
        let mut listening = true;
        let done = in_order(self.reader.source(), units, Some(&context), |planned, bytes| {
            let step = match planned {
                LoadStep::Begin(number) => Step::Begin(number),
                LoadStep::End(number) => Step::End(number),
                LoadStep::Pages(number, pages) => {
                    let load = bytes.and_then(|runs| self.check(&pages, runs));
                    let load = load.map_err(|e| e.at(|place| place.cluster = Some(number as u64)));
                    Step::Load(load?)
                }
            };
            listening = take(step);
            if listening { Ok(()) } else { Err(Error::cancelled()) }
        });
        if listening { done.map(|()| true) } else { Ok(false) }
    }

    /// Plans the loads of one cluster. Returns the number of its pages.
    fn plan(
        &mut self,
        number: usize,
        cluster: &Cluster,
        units: &mut Vec<FetchUnit<LoadStep>>,
    ) -> Result<usize> {
        let mut wanted = self.pages_to_load(cluster)?;
        wanted.retain(|page| match self.repeated.get_mut(&page.place) {
            Some(sent) => !std::mem::replace(sent, true),
            None => true,
        });
        wanted.sort_by_key(|page| (page.place.start, page.place.end));
        let size = |page: &PageToLoad| page.place.end - page.place.start;
        let mut rest = wanted.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |page: &&PageToLoad| {
                bytes += size(page);
                bytes <= self.load_bytes && !page.split
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (now, later) = rest.split_at(count);
            units.push((runs(now), LoadStep::Pages(number, now.to_vec())));
            rest = later;
        }
        Ok(wanted.len())
    }

    fn pages_to_load(&self, cluster: &Cluster) -> Result<Vec<PageToLoad>> {
        let schema = self.reader.schema();
        let mut wanted = Vec::new();
        for (column, range) in (0u32..).map(ColumnId).zip(&cluster.columns) {
            if range.suppressed || !self.columns.contains(&column) {
                continue;
            }
            let bits = u64::from(schema.column(column).bits);
            for (number, page) in range.pages.iter().enumerate() {
                wanted.push(PageToLoad {
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

    /// Checks fetched pages and returns them as a load.
    fn check(&self, pages: &[PageToLoad], read: &[Bytes]) -> Result<Load> {
        let (places, read) = match pages {
            [page] if page.split => {
                let bytes = self.reader.read_page(page.column, &page.info)?;
                (vec![page.place.clone()], vec![bytes])
            }
            pages => (runs(pages), read.to_vec()),
        };
        if self.verify {
            self.verify(pages, &places, &read)?;
        }
        let uncompressed = pages.iter().map(|page| page.uncompressed).sum();
        if let Some(compression) = self.compression {
            let (runs, pages) = self.seal_again(pages, &places, &read, compression)?;
            return Ok(Load { runs, pages, uncompressed });
        }
        let page = |(page, before): (&PageToLoad, u64)| {
            let (place, size) = (page.place.clone(), page.info.locator.size);
            LoadedPage { place, before, size }
        };
        let pages = pages.iter().zip(bytes_before(&places, pages)).map(page).collect();
        Ok(Load { pages, uncompressed, runs: read })
    }

    /// Compresses pages in another way. Returns the bytes of each with its checksum, and their places in the load.
    fn seal_again(
        &self,
        pages: &[PageToLoad],
        runs: &[Place],
        read: &[Bytes],
        compression: Compression,
    ) -> Result<(Vec<Bytes>, Vec<LoadedPage>)> {
        let one = |known: &mut Option<Compressor>, page: &PageToLoad| {
            let size = usize::try_from(page.info.locator.size).ok();
            let stored = bytes_of(page, runs, read)?;
            let stored = size.and_then(|size| stored.get(..size));
            let stored = stored.ok_or_else(|| Error::out_of_spec("a page was not read"))?;
            seal_again(stored, page.uncompressed, compression, known)
                .map_err(|error| self.at(error, page))
        };
        let sealed: Vec<Bytes> = self
            .context
            .pool()
            .install(|| pages.par_iter().map_init(|| None, one).collect::<Result<_>>())?;
        let mut before = 0;
        let place = |(page, sealed): (&PageToLoad, &Bytes)| {
            let (place, bytes) = (page.place.clone(), sealed.len() as u64);
            let loaded = LoadedPage { place, before, size: bytes.saturating_sub(CHECKSUM) };
            before += bytes;
            loaded
        };
        let places = pages.iter().zip(&sealed).map(place).collect();
        Ok((sealed, places))
    }

    /// Adds the place of a page to an error.
    fn at(&self, error: Error, page: &PageToLoad) -> Error {
        let schema = self.reader.schema();
        error.at(|place| {
            place.field = Some(schema.path(schema.column(page.column).field));
            place.column = Some(u64::from(page.column.0));
            place.page = Some(page.number as u64);
            place.offset = Some(page.place.start);
        })
    }

    fn verify(&self, pages: &[PageToLoad], runs: &[Place], read: &[Bytes]) -> Result<()> {
        let check = |page: &PageToLoad| {
            let split = bytes_of(page, runs, read)?.split_last_chunk();
            let (stored, checksum) =
                split.ok_or_else(|| Error::out_of_spec("a page without room for its checksum"))?;
            page::verify(stored, Some(u64::from_le_bytes(*checksum)))
        };
        let check = |page: &PageToLoad| check(page).map_err(|error| self.at(error, page));
        let pages = || pages.iter().filter(|page| page.checksummed);
        // A few pages are checked faster than threads wake up.
        if pages().count() < 4 {
            return pages().try_for_each(check);
        }
        let pages: Vec<_> = pages().collect();
        self.context.pool().install(|| pages.par_iter().try_for_each(|page| check(page)))
    }
}

/// Returns the bytes of a page with its checksum.
fn bytes_of<'b>(page: &PageToLoad, runs: &[Place], read: &'b [Bytes]) -> Result<&'b [u8]> {
    let (run, start) = position(runs, page);
    let start = start as usize;
    let len = (page.place.end - page.place.start) as usize;
    let bytes = read.get(run).and_then(|run| run.get(start..start.saturating_add(len)));
    bytes.ok_or_else(|| Error::out_of_spec("a page was not read"))
}

/// Returns the runs of bytes that follow each other. A page in several keys has no runs.
fn runs(pages: &[PageToLoad]) -> Vec<Place> {
    let whole = pages.iter().filter(|page| !page.split);
    let places: Vec<Place> = whole.map(|page| page.place.clone()).collect();
    coalesce(&places, 0, u64::MAX).into_iter().map(|merged| merged.range).collect()
}

/// Returns the number of bytes before each page, where the `runs` follow each other. Pages of damaged files can
/// overlap, so this number does not follow from their sizes.
fn bytes_before(runs: &[Place], pages: &[PageToLoad]) -> Vec<u64> {
    let mut total = 0;
    let mut before = Vec::with_capacity(runs.len());
    for run in runs {
        before.push(total);
        total += run.end - run.start;
    }
    let of_page = |page: &PageToLoad| {
        let (run, start) = position(runs, page);
        before.get(run).map_or(0, |before| before + start)
    };
    pages.iter().map(of_page).collect()
}

/// Returns the run that has a page, and the number of bytes of this run before the page.
fn position(runs: &[Place], page: &PageToLoad) -> (usize, u64) {
    let run = runs.partition_point(|run| run.start <= page.place.start).saturating_sub(1);
    (run, runs.get(run).map_or(0, |run| page.place.start.saturating_sub(run.start)))
}

/// Returns the range of a page in its file, with its checksum.
pub(super) fn place(page: &PageInfo) -> Place {
    let checksum = if page.checksummed { CHECKSUM } else { 0 };
    page.locator.offset..page.locator.offset + page.locator.size + checksum
}

#[cfg(test)]
mod tests {
    use super::*;
    use nyssa_rntuple::schema::Locator;

    #[test]
    fn pages_that_overlap_keep_their_bytes() {
        let page = |place: Place| PageToLoad {
            info: PageInfo {
                elements: 1,
                checksummed: false,
                locator: Locator { offset: place.start, size: place.end - place.start },
            },
            place,
            split: false,
            column: ColumnId(0),
            number: 0,
            checksummed: false,
            uncompressed: 0,
        };
        let pages = [100..200, 150..250, 400..410, 410..450].map(page);
        let runs = runs(&pages);
        assert_eq!(runs, [100..250, 400..450]);
        assert_eq!(bytes_before(&runs, &pages), [0, 50, 150, 160]);
    }
}
