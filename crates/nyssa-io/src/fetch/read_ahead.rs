//! Fetches announced units before they are read.
//!
//! Work that is planned in pieces, such as a conversion, cannot give all its units to one [`Fetcher`]. It
//! announces the ranges of several units at a time. It holds the bytes of a unit while it reads them from
//! this source.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use nyssa_observe::RecordedPlan;

use super::{Fetched, Fetcher, read_all};
use crate::cache::Unpacked;
use crate::known::read_unknown;
use crate::source::{check_range, same_resource};
use crate::{Limits, Result, Source};

/// A source with bytes that were fetched ahead. Other bytes are read from the inner source.
pub struct ReadAhead {
    source: Arc<dyn Source>,
    /// The held bytes by their offset, with a number that distinguishes equal ranges.
    held: Mutex<BTreeMap<(u64, u64), Bytes>>,
    next: AtomicU64,
}

/// The units whose ranges were announced.
pub struct Announced {
    source: Arc<ReadAhead>,
    units: Vec<Vec<Range<u64>>>,
    fetcher: Fetcher,
}

/// The bytes of a unit. They are read without a request until this is dropped.
pub struct Held {
    source: Arc<ReadAhead>,
    pieces: Vec<(u64, u64)>,
    /// A guard that releases the memory of the bytes. `None` for a copy.
    _fetched: Option<Fetched>,
}

impl ReadAhead {
    /// Makes the source that reads from `source`.
    pub fn new(source: Arc<dyn Source>) -> Arc<Self> {
        Arc::new(Self { source, held: Mutex::default(), next: AtomicU64::new(0) })
    }

    /// Begins to fetch `units`, in their order. At most `ahead_bytes` are fetched and neither held nor
    /// dropped.
    pub fn announce(self: &Arc<Self>, units: Vec<Vec<Range<u64>>>, ahead_bytes: u64) -> Announced {
        let fetcher = Fetcher::new(&self.source, units.clone(), ahead_bytes);
        Announced { source: Arc::clone(self), units, fetcher }
    }

    fn pieces(&self) -> MutexGuard<'_, BTreeMap<(u64, u64), Bytes>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the bytes at an offset, and returns their key.
    fn insert(&self, offset: u64, bytes: Bytes) -> (u64, u64) {
        let key = (offset, self.next.fetch_add(1, Ordering::Relaxed));
        self.pieces().insert(key, bytes);
        key
    }

    /// Returns the bytes of a range, if all of them are held.
    fn find(&self, range: &Range<u64>) -> Option<Bytes> {
        let pieces = self.pieces();
        let mut joined = BytesMut::new();
        let mut place = range.start;
        while place < range.end {
            let before = pieces.range(..=(place, u64::MAX)).rev();
            let mut covering = before.take_while(|((start, _), _)| range.end > *start);
            let ((start, _), bytes) =
                covering.find(|((start, _), bytes)| start + bytes.len() as u64 > place)?;
            let end = range.end.min(start + bytes.len() as u64);
            // Both numbers are at most the length of `bytes`, which is a `usize`.
            let part = (place - start) as usize..(end - start) as usize;
            if place == range.start && end == range.end {
                return Some(bytes.slice(part));
            }
            joined.extend_from_slice(&bytes[part]);
            place = end;
        }
        Some(joined.freeze())
    }
}

impl Announced {
    /// Waits for the bytes of a unit and holds them. Returns `None` if they cannot be fetched, if they were
    /// held before, or if `stopped` returns true. Reading then uses the source, which reports any error.
    pub fn hold(&self, unit: usize, stopped: &dyn Fn() -> bool) -> Option<Held> {
        let fetched = self.fetcher.take(unit, stopped)?.ok()?;
        let ranges = self.units.get(unit)?;
        let bytes = ranges.iter().zip(fetched.bytes.iter().cloned());
        let pieces = bytes.map(|(range, bytes)| self.source.insert(range.start, bytes)).collect();
        Some(Held { source: Arc::clone(&self.source), pieces, _fetched: Some(fetched) })
    }

    /// Keeps a copy of bytes that are held. It does not count as fetched and not yet decoded. Returns `None` if
    /// not all bytes of the range are held.
    pub fn keep(&self, range: &Range<u64>) -> Option<Held> {
        // A slice would keep the whole answer in memory.
        let bytes = Bytes::copy_from_slice(&self.source.find(range)?);
        let pieces = vec![self.source.insert(range.start, bytes)];
        Some(Held { source: Arc::clone(&self.source), pieces, _fetched: None })
    }
}

impl Held {
    /// Returns a copy of the bytes, and releases the memory of the bytes that were fetched with them. The copy does not count
    /// as fetched and not yet decoded.
    pub fn into_copy(self) -> Self {
        let pieces = self.pieces.iter().filter_map(|key| {
            let bytes = self.source.pieces().get(key).map(|bytes| Bytes::copy_from_slice(bytes))?;
            Some(self.source.insert(key.0, bytes))
        });
        Self { source: Arc::clone(&self.source), pieces: pieces.collect(), _fetched: None }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = self.source.pieces();
        for key in &self.pieces {
            held.remove(key);
        }
    }
}

impl Source for ReadAhead {
    same_resource!(source);

    /// Returns no limits, because most reads find their bytes here.
    fn limits(&self) -> Limits {
        Limits::NONE
    }

    fn limits_of(&self, _: &[Vec<Range<u64>>]) -> Limits {
        self.limits()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.check_open()?;
        for range in ranges {
            check_range(self.name(), self.size(), range)?;
        }
        let find = |range: &Range<u64>| self.find(range);
        read_unknown(ranges, find, |unknown| read_all(&self.source, unknown))
    }

    /// Returns nothing, because the bytes that are fetched ahead are compressed.
    fn unpacked(&self) -> Option<Arc<dyn Unpacked>> {
        None
    }

    /// Records nothing. The plan by which bytes are fetched ahead is recorded.
    fn record_plan(&self, _: &[Vec<Range<u64>>], _: u64) -> Option<RecordedPlan> {
        None
    }
}
