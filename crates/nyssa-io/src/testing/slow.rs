//! Makes a source slow, like a remote one.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use crate::source::same_resource;
use crate::{Limits, Result, Source};

/// A source with the given limits and latency: each request sleeps. It counts requests, and panics for a
/// request beyond its limits.
pub struct SlowSource {
    inner: Arc<dyn Source>,
    limits: Limits,
    /// The time that a request takes.
    delay: Duration,
    /// The counts that it shares with the sources behind the same link.
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    observed: Observed,
    in_flight: usize,
    /// The length of the longest chain of requests that have ended.
    ended: usize,
}

/// The counts of the requests to a [`SlowSource`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// The number of requests.
    pub requests: usize,
    /// The number of requested bytes.
    pub bytes: u64,
    /// The largest number of requests that were in flight at the same time.
    pub in_flight: usize,
    /// The length of the longest chain of requests in which each began after the previous one had ended. This
    /// is the number of round trips that a reader has to wait for.
    pub round_trips: usize,
}

impl SlowSource {
    /// Makes a source that gives `inner` other limits. A request takes their latency.
    pub fn new(inner: Arc<dyn Source>, limits: Limits) -> Self {
        Self { inner, limits, delay: limits.cost.latency, seen: Arc::default() }
    }

    /// Returns the same source with requests that take another time. The limits, by which readers plan, stay.
    #[must_use]
    pub fn with_delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// Returns another source behind the same link: the link counts the requests of both.
    #[must_use]
    pub fn beside(&self, inner: Arc<dyn Source>) -> Self {
        let (limits, delay) = (self.limits, self.delay);
        Self { inner, limits, delay, seen: Arc::clone(&self.seen) }
    }

    /// Returns the counts since the start, or since the last [`SlowSource::reset`].
    pub fn observed(&self) -> Observed {
        self.seen().observed
    }

    /// Resets the counts.
    pub fn reset(&self) {
        *self.seen() = Seen::default();
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for SlowSource {
    same_resource!(inner);

    fn limits(&self) -> Limits {
        self.limits
    }

    fn limits_of(&self, _: &[Vec<Range<u64>>]) -> Limits {
        self.limits
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        assert!(ranges.len() <= self.limits.max_ranges, "{} ranges in a request", ranges.len());
        let lengths = || ranges.iter().map(|range| range.end.saturating_sub(range.start));
        let longest = lengths().max().unwrap_or_default();
        assert!(longest <= self.limits.max_range_bytes, "a range of {longest} bytes");
        let mut seen = self.seen();
        seen.in_flight += 1;
        let chain = seen.ended + 1;
        let in_flight = seen.in_flight;
        let observed = &mut seen.observed;
        observed.requests += 1;
        observed.bytes += lengths().sum::<u64>();
        observed.in_flight = observed.in_flight.max(in_flight);
        observed.round_trips = observed.round_trips.max(chain);
        drop(seen);
        std::thread::sleep(self.delay);
        let answer = self.inner.read_ranges(ranges);
        let mut seen = self.seen();
        seen.in_flight = seen.in_flight.saturating_sub(1);
        seen.ended = seen.ended.max(chain);
        answer
    }
}
