//! Finds pages and baskets whose decompressed form is in a cache. They are read from the cache and not decompressed
//! again.
//!
//! The cache keeps a page or basket in one of two forms, which are read like compressed pages: without compression,
//! or compressed by LZ4 as in ROOT. The key of a page or basket is the range of its compressed bytes in the file.

use std::mem;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use nyssa_io::Source;
use nyssa_io::cache::{Form, Unpacked, UnpackedPage};

use crate::Context;
use crate::compression::{Algorithm, Compression, Compressor};
use crate::error::Result;
use crate::fetch::{self, FetchUnit, read_all};

/// The compression of the LZ4 form: the fast compressor of LZ4.
const LZ4: Compression = Compression { algorithm: Algorithm::Lz4, level: 1 };

/// The bytes of the pages or baskets of a unit of work, in the order of their ranges.
pub struct Pages<'a> {
    fetched: &'a mut [Bytes],
    /// The pages or baskets, if a cache is used. They replace the fetched bytes.
    all: Option<&'a mut [Page]>,
}

/// The bytes of a page or basket.
#[derive(Debug, Default)]
pub struct Page {
    /// The bytes from the file, or the form from the cache.
    pub bytes: Bytes,
    /// Whether the bytes come from the cache, which has checked them.
    pub is_unpacked: bool,
}

impl Pages<'_> {
    /// Takes the bytes of a page or basket, if it was fetched. Its memory is free when the page is dropped.
    pub fn take(&mut self, index: usize) -> Option<Page> {
        match &mut self.all {
            Some(all) => all.get_mut(index).map(mem::take),
            None => {
                let bytes = mem::take(self.fetched.get_mut(index)?);
                Some(Page { bytes, is_unpacked: false })
            }
        }
    }
}

/// The pages and baskets that a unit of work has decompressed, for the cache.
#[derive(Default)]
pub struct Keep {
    form: Option<Form>,
    pages: Vec<(Range<u64>, UnpackedPage)>,
    compressor: Option<Compressor>,
}

impl Keep {
    /// Returns whether the cache wants decompressed pages and baskets.
    pub fn is_wanted(&self) -> bool {
        self.form.is_some()
    }

    /// Records the decompressed form of a page or basket: the bytes `head` without change, and `content`, which may
    /// be compressed.
    pub fn add(&mut self, range: Range<u64>, head: &[u8], content: &[u8]) {
        // Several columns may share a page; the equal ranges then follow each other.
        if self.pages.last().is_some_and(|(last, _)| *last == range) {
            return;
        }
        let Some(form) = self.form else { return };
        let size = (head.len() + content.len()) as u64;
        let mut bytes = Vec::with_capacity(head.len() + content.len());
        bytes.extend_from_slice(head);
        let compressed = form == Form::Lz4 && self.compress(content, &mut bytes).is_ok();
        if !compressed {
            bytes.truncate(head.len());
            bytes.extend_from_slice(content);
        }
        let form = if bytes.len() as u64 == size { Form::Raw } else { Form::Lz4 };
        self.pages.push((range, UnpackedPage { form, size, bytes: bytes.into() }));
    }

    fn compress(&mut self, content: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            none => none.insert(Compressor::new(LZ4)?),
        };
        compressor.compress(content, out)
    }
}

/// The store of decompressed pages of a source, and a source of the compressed pages.
struct Store {
    unpacked: Arc<dyn Unpacked>,
    source: Arc<dyn Source>,
}

/// The ranges of a unit, whether the store has each of them, and the data that describes the work.
type StoredUnit<T> = (Vec<Range<u64>>, Vec<bool>, T);

impl Store {
    /// Returns the store of a source, if it has a decompressed page or wants pages.
    fn of(source: &Arc<dyn Source>) -> Option<Self> {
        let unpacked = source.unpacked().filter(|unpacked| unpacked.is_in_use())?;
        let source = source.without_keeping()?;
        Some(Self { unpacked, source })
    }

    /// Removes the ranges that the store has from the ranges to fetch.
    fn units<T>(&self, units: Vec<FetchUnit<T>>) -> Vec<FetchUnit<StoredUnit<T>>> {
        let unit = |(ranges, item): FetchUnit<T>| {
            let known = self.unpacked.knows(&ranges);
            let fetched = ranges.iter().zip(&known).filter(|(_, known)| !**known);
            (fetched.map(|(range, _)| range.clone()).collect(), (ranges, known, item))
        };
        units.into_iter().map(unit).collect()
    }

    /// Returns all pages of a unit. A page that is damaged in the store is fetched now.
    fn pages(
        &self,
        ranges: &[Range<u64>],
        known: &[bool],
        fetched: &mut [Bytes],
    ) -> Result<Vec<Page>> {
        let is_known = |(range, known): (&Range<u64>, &bool)| known.then(|| range.clone());
        let wanted: Vec<Range<u64>> = ranges.iter().zip(known).filter_map(is_known).collect();
        let pages = self.unpacked.read(&wanted);
        let lost = wanted.iter().zip(&pages).filter(|(_, page)| page.is_none());
        let lost: Vec<Range<u64>> = lost.map(|(range, _)| range.clone()).collect();
        let mut reread = match lost.is_empty() {
            true => Vec::new(),
            false => read_all(&self.source, &lost)?,
        }
        .into_iter();
        let (mut pages, mut fetched) = (pages.into_iter(), fetched.iter_mut().map(mem::take));
        let page = |known: &bool| {
            let unpacked = if *known { pages.next().flatten() } else { None };
            let is_unpacked = unpacked.is_some();
            let bytes = match unpacked {
                Some(page) => page.bytes,
                None if *known => reread.next().unwrap_or_default(),
                None => fetched.next().unwrap_or_default(),
            };
            Page { bytes, is_unpacked }
        };
        Ok(known.iter().map(page).collect())
    }

    /// Runs the work on a unit, and stores the pages that it has decompressed.
    fn run<T, R>(
        &self,
        (ranges, known, item): StoredUnit<T>,
        fetched: Result<&mut [Bytes]>,
        work: impl FnOnce(T, Result<Pages<'_>>, &mut Keep) -> Result<R>,
    ) -> Result<R> {
        let all = fetched.and_then(|fetched| self.pages(&ranges, &known, fetched));
        let mut keep = Keep { form: self.unpacked.wanted(), ..Keep::default() };
        let done = match all {
            Ok(mut all) => {
                work(item, Ok(Pages { fetched: &mut [], all: Some(&mut all) }), &mut keep)
            }
            Err(error) => work(item, Err(error), &mut keep),
        };
        if !keep.pages.is_empty() {
            self.unpacked.keep(keep.pages);
        }
        done
    }
}

/// Runs `work` for each unit on all threads of `context`, roughly in order. The ranges of a unit must be whole pages
/// or baskets. `start` makes the scratch data of a thread.
///
/// # Errors
/// `Cancelled`; an error if `work` fails.
pub fn on_all_threads<T, S, R>(
    source: &Arc<dyn Source>,
    units: Vec<FetchUnit<T>>,
    context: &Context,
    start: impl Fn() -> S + Send + Sync,
    work: impl Fn(&mut S, T, Result<Pages<'_>>, &mut Keep) -> Result<R> + Send + Sync,
) -> Result<Vec<R>>
where
    T: Send,
    R: Send,
{
    let Some(store) = Store::of(source) else {
        return fetch::on_all_threads(source, units, context, start, |scratch, item, fetched| {
            let pages = fetched.map(|fetched| Pages { fetched, all: None });
            work(scratch, item, pages, &mut Keep::default())
        });
    };
    let units = store.units(units);
    fetch::on_all_threads(&store.source, units, context, start, |scratch, unit, fetched| {
        store.run(unit, fetched, |item, pages, keep| work(scratch, item, pages, keep))
    })
}

/// Runs `work` for each unit in order on this thread. The ranges of a unit must be whole pages or baskets.
///
/// # Errors
/// `Cancelled`; an error if `work` fails.
pub fn in_order<T>(
    source: &Arc<dyn Source>,
    units: Vec<FetchUnit<T>>,
    context: Option<&Context>,
    mut work: impl FnMut(T, Result<Pages<'_>>, &mut Keep) -> Result<()>,
) -> Result<()> {
    let Some(store) = Store::of(source) else {
        return fetch::in_order(source, units, context, |item, fetched| {
            let pages = fetched.map(|fetched| Pages { fetched, all: None });
            work(item, pages, &mut Keep::default())
        });
    };
    let units = store.units(units);
    fetch::in_order(&store.source, units, context, |unit, fetched| {
        store.run(unit, fetched, &mut work)
    })
}
