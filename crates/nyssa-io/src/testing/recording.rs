//! Records the requests to a source.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::source::same_resource;
use crate::{Limits, Result, Source, Stop};

/// A source that records the requests to an inner source.
pub struct RecordingSource {
    inner: Arc<dyn Source>,
    requests: Mutex<Vec<Vec<Range<u64>>>>,
}

/// The counts of requests to a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of vectored reads.
    pub requests: u64,
    /// The number of ranges in them.
    pub ranges: u64,
    /// The number of bytes in these ranges.
    pub bytes: u64,
}

impl RecordingSource {
    /// Makes a source that records the requests to `inner`.
    pub fn new(inner: Arc<dyn Source>) -> Self {
        Self { inner, requests: Mutex::default() }
    }

    /// Returns the counts since the start or the last [`RecordingSource::reset`].
    pub fn counters(&self) -> Counters {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let ranges = || requests.iter().flatten();
        Counters {
            requests: requests.len() as u64,
            ranges: ranges().count() as u64,
            bytes: ranges().map(|range| range.end.saturating_sub(range.start)).sum(),
        }
    }

    /// Returns the requests in order, each with its ranges.
    pub fn trace(&self) -> Vec<Vec<Range<u64>>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Deletes the recorded requests.
    pub fn reset(&self) {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Source for RecordingSource {
    same_resource!(inner);

    fn limits(&self) -> Limits {
        self.inner.limits()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(ranges.to_vec());
        self.inner.read_ranges(ranges)
    }

    fn read_ranges_until(&self, ranges: &[Range<u64>], stop: &Stop) -> Result<Vec<Bytes>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(ranges.to_vec());
        self.inner.read_ranges_until(ranges, stop)
    }

    fn read_ranges_again(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(ranges.to_vec());
        self.inner.read_ranges_again(ranges)
    }
}
