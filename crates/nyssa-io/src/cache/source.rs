//! Reads bytes from a cache if it has them, and otherwise from the source.

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use nyssa_net::PerProcess;

use super::blocks::Blocks;
use super::entry::{Added, Entry, New};
use super::folder::Cache;
use super::identity::Identity;
use super::index::RangePart;
use super::origin::{Later, Open, Origin};
use super::record::{Form, Record};
use super::seen::Seen;
use super::unpacked::Unpacked;
use crate::fetch::{check_answers, read_all};
use crate::heuristics::fetch;
use crate::source::check_range;
use crate::{Cost, Limits, OpenOptions, Result, Source, Stop};

/// The maximum number of times that a folder is opened again after another process has removed it.
const TRIES: usize = 4;

/// The limits of bytes that the cache has on a disk. A local file on a disk has the same limits, but here no gap is
/// read over, because its bytes may not be there.
const ON_DISK: Limits = Limits {
    max_ranges: 1 << 20,
    concurrency: 8,
    cost: Cost {
        latency: Duration::from_micros(200),
        range: Duration::ZERO,
        bandwidth: 1_024_000_000,
    },
    ..Limits::NONE
};

/// A source whose bytes come from a cache if it has them.
pub(super) struct CachedSource {
    resource: Arc<Resource>,
    /// Whether bytes that are read are added to the cache.
    keeps: bool,
}

/// A source and the place where its bytes are kept.
pub(super) struct Resource {
    origin: Origin,
    cache: Cache,
    identity: Identity,
    /// The folder of the resource, as each process has opened it. `None` if it cannot be used.
    entry: PerProcess<RwLock<Option<Arc<Entry>>>>,
}

type Fetch<'a> = &'a dyn Fn(&dyn Source, &[Range<u64>]) -> Result<Vec<Bytes>>;

impl Cache {
    /// Returns a source that keeps what it reads of `origin`, which is the resource of a URL, in this cache.
    pub fn source(&self, url: &str, origin: Arc<dyn Source>) -> Arc<dyn Source> {
        let identity = Identity::new(url, origin.size(), origin.version());
        self.source_of(identity, Origin::Open(origin))
    }

    /// Opens the resource of a URL by `open`, and returns a source that keeps what it reads of it in this cache. If the
    /// server has said not long ago which version it has, `open` is called only when something is missing here; see
    /// [`CacheOptions::max_age`](super::CacheOptions::max_age). `server` is the server that the URL does not name, or
    /// `None` if nobody else knows the resource by this URL.
    ///
    /// # Errors
    /// `open` fails, or the settings of the cache are wrong.
    pub(crate) fn open_source(
        &self,
        url: &str,
        server: Option<&str>,
        options: &OpenOptions,
        open: Open,
    ) -> Result<Arc<dyn Source>> {
        let Some(seen) = server.map(|server| Seen::new(self, url, server)) else {
            return Ok(self.source(url, open()?));
        };
        let age = self.options().max_age;
        if !age.is_zero()
            && let Some(identity) = seen.within(age, self)
        {
            let later = Later::new(url, identity.clone(), seen, options, open);
            return Ok(self.source_of(identity, Origin::Later(Box::new(later))));
        }
        let origin = open()?;
        if self.writes() {
            seen.note(&Identity::new(url, origin.size(), origin.version()));
        }
        Ok(self.source(url, origin))
    }

    fn source_of(&self, identity: Identity, origin: Origin) -> Arc<dyn Source> {
        let resource = Resource { origin, cache: self.clone(), identity, entry: PerProcess::new() };
        Arc::new(CachedSource { resource: Arc::new(resource), keeps: true })
    }
}

impl Resource {
    /// Returns the folder of the resource, if it can be used.
    pub(super) fn entry(&self) -> Option<Arc<Entry>> {
        let place = self.entry.get(|| RwLock::new(self.open()));
        place.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn open(&self) -> Option<Arc<Entry>> {
        let writes = self.cache.writes();
        let open = || Entry::open(self.cache.folder(), self.identity.clone(), writes);
        let is_gone = |error: &io::Error| error.kind() == ErrorKind::NotFound;
        let mut opened = open();
        for _ in 0..TRIES {
            // Another process has removed the folder while it was opened.
            if writes && opened.as_ref().is_err_and(is_gone) {
                opened = open();
            }
        }
        match opened {
            Ok(entry) => Some(Arc::new(entry)),
            Err(error) if error.kind() == ErrorKind::InvalidData => None,
            Err(error) if writes => {
                self.cache.stop_writing(&error);
                // The folder cannot be written, but its bytes can be read.
                Entry::open(self.cache.folder(), self.identity.clone(), false).ok().map(Arc::new)
            }
            Err(_) => None,
        }
    }

    /// Reads ranges. Bytes that are not kept are fetched by one call of `fetch`, and added to the cache if
    /// `keeps`.
    fn read(&self, ranges: &[Range<u64>], keeps: bool, fetch: Fetch<'_>) -> Result<Vec<Bytes>> {
        self.origin.check_open()?;
        for range in ranges {
            check_range(self.origin.name(), self.origin.size(), range)?;
        }
        let Some(entry) = self.entry() else { return fetch(self.origin.get()?.as_ref(), ranges) };
        let mut parts = entry.parts(ranges);
        if parts.iter().flatten().any(is_missing) && entry.refresh().is_ok_and(|is_new| is_new) {
            parts = entry.parts(ranges);
        }
        let known = parts.iter().flatten().filter_map(|part| match part {
            RangePart::Known(_, record) => Some(*record),
            RangePart::Missing(_) => None,
        });
        let blocks = entry.read(known.collect());
        if !blocks.damaged().is_empty() {
            parts = parts.into_iter().map(|parts| without_damaged(parts, &blocks)).collect();
        }
        let fetched = match parts.iter().flatten().any(is_missing) {
            true => {
                let origin = self.origin.get()?;
                fetch_from(origin, &missing(&parts, &origin.limits()), fetch)?
            }
            false => Vec::new(),
        };
        self.count_hit(ranges.len(), parts.iter().flatten().map(known_bytes).sum());
        let answers = ranges.iter().zip(&parts);
        let answers = answers.map(|(range, parts)| join(range, parts, &blocks, &fetched)).collect();
        if keeps && !fetched.is_empty() {
            let new = fetched.into_iter().map(|(range, bytes)| New::stored(&range, bytes));
            self.add(&entry, &new.collect::<Vec<_>>());
        }
        Ok(answers)
    }

    /// Adds bytes to the cache. If that fails, they are not kept.
    pub(super) fn add(&self, entry: &Arc<Entry>, new: &[New]) {
        if !self.cache.writes() || new.is_empty() {
            return;
        }
        match entry.add(new, |bytes| self.cache.has_room(bytes, &entry.path)) {
            Ok(Added::Done | Added::Busy | Added::Full) => {}
            Ok(Added::Gone) => self.open_again(entry),
            Ok(Added::NoLocks) => {
                let why = "its file system has no locks";
                self.cache.stop_writing(&io::Error::other(why));
            }
            Err(error) => self.cache.stop_writing(&error),
        }
    }

    /// Makes the folder again after it was removed. Reads that have begun go on with the removed one.
    fn open_again(&self, gone: &Arc<Entry>) {
        let place = self.entry.get(|| RwLock::new(self.open()));
        let mut entry = place.write().unwrap_or_else(PoisonError::into_inner);
        if entry.as_ref().is_some_and(|entry| Arc::ptr_eq(entry, gone)) {
            *entry = self.open();
        }
    }

    /// Returns the limits for units: the limits of memory or of a disk if the cache has all their bytes.
    fn limits_of(&self, units: &[Vec<Range<u64>>]) -> Limits {
        let covers = |entry: &Arc<Entry>| {
            let is_covered = || {
                entry.with_index(|index| units.iter().flatten().all(|range| index.covers(range)))
            };
            is_covered() || entry.refresh().is_ok_and(|is_new| is_new) && is_covered()
        };
        match self.entry().filter(covers) {
            Some(entry) if entry.is_in_memory(units) => Limits::NONE,
            Some(_) => ON_DISK,
            None => self.origin.limits_of(units),
        }
    }

    /// Counts bytes of a request for `ranges` ranges that came from the cache.
    pub(super) fn count_hit(&self, ranges: usize, bytes: u64) {
        if bytes == 0 {
            return;
        }
        if let Some(options) = self.origin.options() {
            options.stats.add_hit(ranges, bytes);
        }
    }

    /// Returns the form in which pages are kept.
    pub(super) fn form(&self) -> Form {
        self.cache.options().form
    }
}

/// Reads the ranges that are missing by one call of `fetch`, or by several requests if they are too many for one.
fn fetch_from(
    origin: &Arc<dyn Source>,
    missing: &[Range<u64>],
    fetch: Fetch<'_>,
) -> Result<Vec<(Range<u64>, Bytes)>> {
    let limits = origin.limits();
    let is_small = |range: &Range<u64>| range.end - range.start <= limits.max_range_bytes;
    // Requests are planned for the limits of the origin unless everything was kept when they were planned.
    let bytes = match missing.len() <= limits.max_ranges && missing.iter().all(is_small) {
        true => fetch(origin.as_ref(), missing)?,
        false => read_all(origin, missing)?,
    };
    let bytes = check_answers(origin.as_ref(), missing, bytes)?;
    Ok(missing.iter().cloned().zip(bytes).collect())
}

fn known_bytes(part: &RangePart) -> u64 {
    match part {
        RangePart::Known(range, _) => range.end - range.start,
        RangePart::Missing(_) => 0,
    }
}

fn is_missing(part: &RangePart) -> bool {
    matches!(part, RangePart::Missing(_))
}

/// Turns parts whose blocks are damaged into missing parts.
fn without_damaged(parts: Vec<RangePart>, blocks: &Blocks) -> Vec<RangePart> {
    let mut sound: Vec<RangePart> = Vec::with_capacity(parts.len());
    for part in parts {
        let range = match part {
            RangePart::Known(range, record) if blocks.find(&record).is_none() => range,
            RangePart::Missing(range) => range,
            known => {
                sound.push(known);
                continue;
            }
        };
        match sound.last_mut() {
            Some(RangePart::Missing(last)) => last.end = range.end,
            _ => sound.push(RangePart::Missing(range)),
        }
    }
    sound
}

/// Returns the ranges to fetch, which are the missing parts. Bytes between two missing parts of one range are
/// fetched, too, if that is cheaper than another range, or if the origin does not answer so many ranges at
/// once.
fn missing(parts: &[Vec<RangePart>], limits: &Limits) -> Vec<Range<u64>> {
    let mut all: Vec<Vec<Range<u64>>> = Vec::new();
    for parts in parts {
        let missing = parts.iter().filter_map(|part| match part {
            RangePart::Missing(range) => Some(range.clone()),
            RangePart::Known(..) => None,
        });
        let mut joined: Vec<Range<u64>> = Vec::new();
        for range in missing {
            match joined.last_mut() {
                Some(last) if range.start - last.end <= limits.coalesce_gap() => {
                    last.end = range.end;
                }
                _ => joined.push(range),
            }
        }
        if !joined.is_empty() {
            all.push(joined);
        }
    }
    let most = limits.max_ranges.max(all.len());
    let mut count: usize = all.iter().map(Vec::len).sum();
    if count > most {
        // The smallest gaps are read over first.
        let gaps = all.iter().enumerate().flat_map(|(number, ranges)| {
            let gap =
                move |pair: &[Range<u64>]| (pair[1].start - pair[0].end, number, pair[1].start);
            ranges.windows(2).map(gap)
        });
        let mut gaps: Vec<(u64, usize, u64)> = gaps.collect();
        gaps.sort_unstable();
        for (_, number, start) in gaps {
            if count <= most {
                break;
            }
            let ranges = &mut all[number];
            let Some(index) = ranges.iter().position(|range| range.start == start) else {
                continue;
            };
            if index > 0 {
                let range = ranges.remove(index);
                ranges[index - 1].end = range.end;
                count -= 1;
            }
        }
    }
    all.into_iter().flatten().collect()
}

/// Puts the bytes of a range together. They are not copied if they lie together in memory.
fn join(
    range: &Range<u64>,
    parts: &[RangePart],
    blocks: &Blocks,
    fetched: &[(Range<u64>, Bytes)],
) -> Bytes {
    let mut joined: Option<(&Bytes, Range<usize>)> = None;
    let mut copied = BytesMut::new();
    for part in parts {
        let (part, place) = match part {
            RangePart::Known(part, record) => (part, find_known(part, record, blocks)),
            RangePart::Missing(part) => (part, find_fetched(part, fetched)),
        };
        // All parts are either known or fetched.
        let Some((bytes, start)) = place else { continue };
        let end = start + (part.end - part.start) as usize;
        match &mut joined {
            None => joined = Some((bytes, start..end)),
            Some((last, place)) if last.as_ptr() == bytes.as_ptr() && place.end == start => {
                place.end = end;
            }
            Some((last, place)) => {
                if copied.is_empty() {
                    copied.reserve((range.end - range.start) as usize);
                }
                copied.extend_from_slice(&last[place.clone()]);
                joined = Some((bytes, start..end));
            }
        }
    }
    match joined {
        None => Bytes::new(),
        Some((bytes, place)) if copied.is_empty() => bytes.slice(place),
        Some((bytes, place)) => {
            copied.extend_from_slice(&bytes[place]);
            copied.freeze()
        }
    }
}

fn find_known<'a>(
    part: &Range<u64>,
    record: &Record,
    blocks: &'a Blocks,
) -> Option<(&'a Bytes, usize)> {
    let (bytes, start) = blocks.find(record)?;
    Some((bytes, start + (part.start - record.offset) as usize))
}

fn find_fetched<'a>(
    part: &Range<u64>,
    fetched: &'a [(Range<u64>, Bytes)],
) -> Option<(&'a Bytes, usize)> {
    let has =
        |(range, _): &&(Range<u64>, Bytes)| range.start <= part.start && part.end <= range.end;
    let (range, bytes) = fetched.iter().find(has)?;
    Some((bytes, (part.start - range.start) as usize))
}

impl CachedSource {
    fn read(&self, ranges: &[Range<u64>], fetch: Fetch<'_>) -> Result<Vec<Bytes>> {
        self.resource.read(ranges, self.keeps, fetch)
    }
}

impl Source for CachedSource {
    fn inner(&self) -> Option<&dyn Source> {
        self.resource.origin.opened().map(|origin| origin.as_ref())
    }

    fn name(&self) -> &str {
        self.resource.origin.name()
    }

    fn size(&self) -> u64 {
        self.resource.origin.size()
    }

    fn version(&self) -> Option<String> {
        self.resource.origin.version()
    }

    fn limits(&self) -> Limits {
        self.resource.origin.limits()
    }

    fn limits_of(&self, units: &[Vec<Range<u64>>]) -> Limits {
        self.resource.limits_of(units)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.read(ranges, &|origin, missing| origin.read_ranges(missing))
    }

    fn read_ranges_until(&self, ranges: &[Range<u64>], stop: &Stop) -> Result<Vec<Bytes>> {
        self.read(ranges, &|origin, missing| origin.read_ranges_until(missing, stop))
    }

    fn read_ranges_again(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.read(ranges, &|origin, missing| origin.read_ranges_again(missing))
    }

    /// Returns the ends that the cache has, too. Whoever opens the source then asks the origin for no more of them.
    fn opened_with(&self) -> Vec<Range<u64>> {
        let brought = self.inner().map_or_else(Vec::new, |origin| origin.opened_with());
        match self.resource.entry().filter(|_| brought.is_empty()) {
            Some(entry) => entry.with_index(|index| index.ends(self.size(), fetch::MOST_OF_END)),
            None => brought,
        }
    }

    fn unpacked(&self) -> Option<Arc<dyn Unpacked>> {
        Some(Arc::<Resource>::clone(&self.resource))
    }

    fn without_keeping(&self) -> Option<Arc<dyn Source>> {
        Some(Arc::new(Self { resource: Arc::clone(&self.resource), keeps: false }))
    }

    fn close(&self) {
        self.resource.origin.close();
    }

    fn check_open(&self) -> Result<()> {
        self.resource.origin.check_open()
    }

    fn options(&self) -> Option<&OpenOptions> {
        self.resource.origin.options()
    }
}
