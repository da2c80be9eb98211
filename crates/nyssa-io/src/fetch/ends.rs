//! Fetches the first and the last bytes of a file, which hold its metadata, in one request.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use nyssa_observe::RecordedPlan;

use super::ends_wanted::Ends;
use super::read_all;
use crate::heuristics::fetch;
use crate::known::{Known, read_unknown};
use crate::source::{check_range, same_resource};
use crate::{Limits, Result, Source, Stop};

/// Reads the first and the last bytes of a source with one request, and returns a source that keeps them.
/// Opening a remote file would otherwise need a request for each step of reading its metadata. A near source
/// stays unchanged. A file of a server whose earlier files needed less gets less. Nothing is read if the ends came with
/// the opening, or if the same file was opened with the same options before, and closed.
///
/// # Errors
/// The source cannot be read.
pub fn with_ends(source: Arc<dyn Source>) -> Result<Arc<dyn Source>> {
    let limits = source.limits();
    if limits.is_near() {
        return Ok(source);
    }
    if let Some(known) = known_ends(source.as_ref()) {
        return Ok(Arc::new(WithEnds::new(source, known)));
    }
    let ranges = ranges(source.as_ref(), &limits);
    let bytes = read_all(&source, &ranges)?;
    Ok(Arc::new(WithEnds::new(source, Known::new(ranges.into_iter().zip(bytes)))))
}

/// Returns the ends of the same file, which was open before.
fn known_ends(source: &dyn Source) -> Option<Known> {
    let version = source.version()?;
    source.options()?.ends.take(source.name(), source.size(), &version)
}

/// Returns the ranges to read: those that came with the opening if they have both ends.
fn ranges(source: &dyn Source, limits: &Limits) -> Vec<Range<u64>> {
    let size = source.size();
    let brought = source.opened_with();
    if brought.iter().any(|range| range.start == 0) && brought.iter().any(|range| range.end == size)
    {
        return brought;
    }
    let unknown = (limits.latency_bytes() / fetch::LATENCY_PARTS)
        .clamp(fetch::LEAST_OF_FIRST, fetch::MOST_OF_END);
    let Ends { first, last } = Ends::wanted(source.name(), unknown);
    if size <= (first + last).max(fetch::SMALL_BYTES.min(limits.latency_bytes())) {
        return std::iter::once(0..size).collect();
    }
    vec![0..first, size - last..size]
}

struct WithEnds {
    source: Arc<dyn Source>,
    known: Known,
    /// The largest distances from the two ends at which metadata were read.
    first: AtomicU64,
    last: AtomicU64,
    /// Becomes true when something else was read: the metadata were read before.
    is_read: AtomicBool,
}

impl WithEnds {
    fn new(source: Arc<dyn Source>, known: Known) -> Self {
        let (first, last) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { source, known, first, last, is_read: AtomicBool::new(false) }
    }

    /// Returns the numbers of bytes that the metadata took.
    fn used(&self) -> Ends {
        let get = |number: &AtomicU64| number.load(Ordering::Relaxed);
        Ends { first: get(&self.first), last: get(&self.last) }
    }

    /// Returns the bytes of ranges that are known. Remembers how far from the ends they reach.
    fn read(
        &self,
        ranges: &[Range<u64>],
        read: impl FnOnce(&[Range<u64>]) -> Result<Vec<Bytes>>,
    ) -> Result<Vec<Bytes>> {
        self.check_open()?;
        for range in ranges {
            check_range(self.name(), self.size(), range)?;
        }
        self.note(ranges);
        read_unknown(ranges, |range| self.known.find(range), read)
    }

    /// Remembers how far from the ends a request reaches. Metadata are read by requests that stay at the ends.
    /// A request that also has ranges in the middle reads the data of columns, some of which may lie at an end.
    fn note(&self, ranges: &[Range<u64>]) {
        if self.is_read.load(Ordering::Relaxed) {
            return;
        }
        let size = self.size();
        let is_first = |range: &Range<u64>| range.end <= fetch::MOST_OF_END;
        let is_last = |range: &Range<u64>| size - range.start <= fetch::MOST_OF_END;
        if !ranges.iter().all(|range| is_first(range) || is_last(range)) {
            self.end_of_metadata();
            return;
        }
        for range in ranges.iter().filter(|range| !range.is_empty()) {
            match range.end <= size - range.start {
                true => self.first.fetch_max(range.end, Ordering::Relaxed),
                false => self.last.fetch_max(size - range.start, Ordering::Relaxed),
            };
        }
    }

    /// Lets the next files of the server know what the metadata took.
    fn end_of_metadata(&self) {
        if !self.is_read.swap(true, Ordering::Relaxed) {
            self.used().add_used(self.source.name());
        }
    }

    /// Keeps the metadata for the next time that the file is opened.
    fn keep(&self) {
        let Some((options, version)) = self.source.options().zip(self.source.version()) else {
            return;
        };
        let (size, used) = (self.size(), self.used());
        let ends = [0..used.first.min(size), size.saturating_sub(used.last)..size];
        // A copy, because a slice would hold all that was read.
        let copy = |range: Range<u64>| {
            let bytes = self.known.find(&range)?;
            Some((range, Bytes::copy_from_slice(&bytes)))
        };
        // Without all of the metadata, the file is opened like others.
        if let Some(known) = ends.into_iter().map(copy).collect::<Option<Vec<_>>>() {
            options.ends.keep(self.source.name(), size, version, Known::new(known));
        }
    }
}

impl Drop for WithEnds {
    fn drop(&mut self) {
        self.end_of_metadata();
        self.keep();
    }
}

impl Source for WithEnds {
    same_resource!(source);

    fn limits(&self) -> Limits {
        self.source.limits()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.read(ranges, |unknown| self.source.read_ranges(unknown))
    }

    fn read_ranges_until(&self, ranges: &[Range<u64>], stop: &Stop) -> Result<Vec<Bytes>> {
        self.read(ranges, |unknown| self.source.read_ranges_until(unknown, stop))
    }

    fn read_ranges_again(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.read(ranges, |unknown| self.source.read_ranges_again(unknown))
    }

    fn record_plan(&self, units: &[Vec<Range<u64>>], ahead_bytes: u64) -> Option<RecordedPlan> {
        let is_unknown = |range: &&Range<u64>| self.known.find(range).is_none();
        let unknown = |unit: &Vec<Range<u64>>| unit.iter().filter(is_unknown).cloned().collect();
        self.source.record_plan(&units.iter().map(unknown).collect::<Vec<_>>(), ahead_bytes)
    }
}
