//! Fetches the first and the last bytes of a file, which hold its metadata, in one request.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use super::read_all;
use crate::known::{Known, read_unknown};
use crate::location::server;
use crate::per_process::PerProcess;
use crate::source::{check_range, same_resource};
use crate::trace::RecordedPlan;
use crate::{Limits, Result, Source, Stop};

/// The smallest and largest number of bytes that are read ahead at each end. A new TCP connection carries the
/// largest ends in three round trips. Most RNTuples have less metadata.
const END_BYTES: (u64, u64) = (16 << 10, 48 << 10);
/// The number of bytes up to which a file is read whole.
const SMALL_BYTES: u64 = 512 << 10;
/// The divisor of the number of bytes that the source sends during its latency. The quotient is read ahead at
/// each end.
const PARTS: u64 = 4;
/// The divisor of the bytes that earlier files needed at an end. The quotient is read in addition, because
/// files are alike but not equal.
const MARGIN: u64 = 4;

/// Reads the first and the last bytes of a source with one request, and returns a source that keeps them.
/// Opening a remote file would otherwise need a request for each step of reading its metadata. A near source
/// stays unchanged. A file of a server whose earlier files needed less gets less.
///
/// # Errors
/// The errors of the source.
pub fn with_ends(source: Arc<dyn Source>) -> Result<Arc<dyn Source>> {
    let limits = source.limits();
    if limits.is_near() {
        return Ok(source);
    }
    let (least, most) = END_BYTES;
    let each = (limits.latency_bytes() / PARTS).clamp(least, most);
    let used = Used::of_earlier_files(source.name());
    let wanted = |bytes: Option<u64>| {
        bytes.map_or(each, |bytes| (bytes + bytes / MARGIN).clamp(least, most).min(each))
    };
    let size = source.size();
    let (first, last) = (wanted(used.map(|used| used.first)), wanted(used.map(|used| used.last)));
    let mut ranges = vec![0..first.min(size), size.saturating_sub(last)..size];
    if size <= (first + last).max(SMALL_BYTES.min(limits.latency_bytes())) {
        ranges.truncate(1);
        ranges[0].end = size;
    }
    let bytes = read_all(&source, &ranges)?;
    let known = Known::new(ranges.into_iter().zip(bytes));
    let (first, last) = (AtomicU64::new(0), AtomicU64::new(0));
    Ok(Arc::new(WithEnds { source, known, first, last }))
}

/// The numbers of bytes at the two ends of a file that its metadata took.
#[derive(Clone, Copy)]
struct Used {
    first: u64,
    last: u64,
}

/// The bytes that closed files needed, by server.
static USED: PerProcess<Mutex<HashMap<String, Used>>> = PerProcess::new();

impl Used {
    fn of_earlier_files(name: &str) -> Option<Self> {
        USED.lock().get(&server(name)?).copied()
    }

    /// Adds a file that is closed. More bytes count at once; less bytes count as one of several files.
    fn add(self, name: &str) {
        let Some(server) = server(name) else { return };
        let mean = |old: u64, new: u64| if new > old { new } else { (3 * old + new) / 4 };
        let mut used = USED.lock();
        let known = used.entry(server).or_insert(self);
        *known = Self { first: mean(known.first, self.first), last: mean(known.last, self.last) };
    }
}

struct WithEnds {
    source: Arc<dyn Source>,
    known: Known,
    /// The largest distances from the two ends at which metadata were read.
    first: AtomicU64,
    last: AtomicU64,
}

impl WithEnds {
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
        let (_, most) = END_BYTES;
        let size = self.size();
        let is_first = |range: &Range<u64>| range.end <= most;
        let is_last = |range: &Range<u64>| size - range.start <= most;
        if !ranges.iter().all(|range| is_first(range) || is_last(range)) {
            return;
        }
        for range in ranges.iter().filter(|range| !range.is_empty()) {
            match range.end <= size - range.start {
                true => self.first.fetch_max(range.end, Ordering::Relaxed),
                false => self.last.fetch_max(size - range.start, Ordering::Relaxed),
            };
        }
    }
}

impl Drop for WithEnds {
    fn drop(&mut self) {
        let (first, last) = (*self.first.get_mut(), *self.last.get_mut());
        Used { first, last }.add(self.source.name());
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
