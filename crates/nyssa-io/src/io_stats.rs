//! Counters of what is opened and read. The names are those that JCache prints.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Serialize;

use crate::per_process::PerProcess;

/// Counts opens and reads of resources. A clone counts in the same place.
#[derive(Clone, Debug, Default)]
pub struct IoStats(Arc<Counters>);

#[derive(Debug)]
struct Counters {
    /// Time from which rates are counted.
    start: Instant,
    /// Sizes of the resources that were opened, by their names.
    files: Mutex<HashMap<String, u64>>,
    open_files: AtomicU64,
    iops_read: AtomicU64,
    iops_readv: AtomicU64,
    iops_readvread: AtomicU64,
    bytes_read: AtomicU64,
    bytes_readv: AtomicU64,
    hit_bytes_read: AtomicU64,
    hit_bytes_readv: AtomicU64,
    over_read_bytes: AtomicU64,
    /// Number of requests that are under way, and the time since when there are any.
    under_way: AtomicU64,
    busy_since: AtomicU64,
    busy: AtomicU64,
    waited: AtomicU64,
    round_trips: AtomicU64,
}

/// What an [`IoStats`] has counted. Sizes are in bytes, times in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct IoCounts {
    /// Number of times that a resource was opened.
    pub open_files: u64,
    /// Number of different resources that were opened.
    pub open_unique_files: u64,
    /// Sum of the sizes of the different resources.
    pub unique_files_bytes: u64,
    /// Number of requests for one range.
    pub iops_read: u64,
    /// Number of requests for several ranges.
    pub iops_readv: u64,
    /// Number of ranges in the requests for several ranges.
    pub iops_readvread: u64,
    /// Bytes that requests for one range brought from the origin.
    pub bytes_read: u64,
    /// Bytes that requests for several ranges brought from the origin.
    pub bytes_readv: u64,
    /// Bytes of requests for one range that a cache had.
    pub hit_bytes_read: u64,
    /// Bytes of requests for several ranges that a cache had.
    pub hit_bytes_readv: u64,
    /// Bytes between the ranges of plans that were read because that is faster than to skip them.
    pub over_read_bytes: u64,
    /// Length of the longest chain of opens and requests in which each began after the one before it had ended.
    pub round_trips: u64,
    /// Time in which at least one open or request was under way.
    pub busy_seconds: f64,
    /// Sum of the times that all opens and requests took.
    pub request_seconds: f64,
    /// Time since the counting began.
    pub seconds: f64,
}

impl IoCounts {
    /// Returns the bytes that came from the origin.
    pub fn bytes(&self) -> u64 {
        self.bytes_read + self.bytes_readv
    }

    /// Returns the bytes that a cache had.
    pub fn hit_bytes(&self) -> u64 {
        self.hit_bytes_read + self.hit_bytes_readv
    }

    /// Returns the part of all bytes that a cache had; `None` if no byte was read.
    pub fn hit_rate(&self) -> Option<f64> {
        let all = self.bytes() + self.hit_bytes();
        (all > 0).then(|| self.hit_bytes() as f64 / all as f64)
    }

    /// Adds the counts of other resources. The times in which both were busy count twice.
    #[must_use]
    pub fn plus(self, other: &Self) -> Self {
        Self {
            open_files: self.open_files + other.open_files,
            open_unique_files: self.open_unique_files + other.open_unique_files,
            unique_files_bytes: self.unique_files_bytes + other.unique_files_bytes,
            iops_read: self.iops_read + other.iops_read,
            iops_readv: self.iops_readv + other.iops_readv,
            iops_readvread: self.iops_readvread + other.iops_readvread,
            bytes_read: self.bytes_read + other.bytes_read,
            bytes_readv: self.bytes_readv + other.bytes_readv,
            hit_bytes_read: self.hit_bytes_read + other.hit_bytes_read,
            hit_bytes_readv: self.hit_bytes_readv + other.hit_bytes_readv,
            over_read_bytes: self.over_read_bytes + other.over_read_bytes,
            round_trips: self.round_trips.max(other.round_trips),
            busy_seconds: self.busy_seconds + other.busy_seconds,
            request_seconds: self.request_seconds + other.request_seconds,
            seconds: self.seconds.max(other.seconds),
        }
    }
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            files: Mutex::default(),
            open_files: AtomicU64::default(),
            iops_read: AtomicU64::default(),
            iops_readv: AtomicU64::default(),
            iops_readvread: AtomicU64::default(),
            bytes_read: AtomicU64::default(),
            bytes_readv: AtomicU64::default(),
            hit_bytes_read: AtomicU64::default(),
            hit_bytes_readv: AtomicU64::default(),
            over_read_bytes: AtomicU64::default(),
            under_way: AtomicU64::default(),
            busy_since: AtomicU64::default(),
            busy: AtomicU64::default(),
            waited: AtomicU64::default(),
            round_trips: AtomicU64::default(),
        }
    }
}

/// The counters of all that the process opens. A child of `fork` begins with its own.
static PROCESS: PerProcess<IoStats> = PerProcess::new();

/// An open or a request that is under way.
#[derive(Clone, Copy)]
pub(crate) struct UnderWay {
    begin: u64,
    round_trips: u64,
}

impl IoStats {
    /// Returns the counters of all that this process opens.
    pub fn of_process() -> Self {
        PROCESS.get(Self::default).clone()
    }

    /// Tells whether both count in the same place.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns what was counted.
    pub fn counts(&self) -> IoCounts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let seconds = |counter: &AtomicU64| get(counter) as f64 / 1e9;
        let all = &*self.0;
        let files = all.files();
        IoCounts {
            open_files: get(&all.open_files),
            open_unique_files: files.len() as u64,
            unique_files_bytes: files.values().sum(),
            iops_read: get(&all.iops_read),
            iops_readv: get(&all.iops_readv),
            iops_readvread: get(&all.iops_readvread),
            bytes_read: get(&all.bytes_read),
            bytes_readv: get(&all.bytes_readv),
            hit_bytes_read: get(&all.hit_bytes_read),
            hit_bytes_readv: get(&all.hit_bytes_readv),
            over_read_bytes: get(&all.over_read_bytes),
            round_trips: get(&all.round_trips),
            busy_seconds: seconds(&all.busy),
            request_seconds: seconds(&all.waited),
            seconds: all.start.elapsed().as_secs_f64(),
        }
    }

    /// Counts the bytes of a request for `ranges` ranges that a cache had.
    pub fn add_hit(&self, ranges: usize, bytes: u64) {
        let counters = &self.0;
        let counter = if ranges > 1 { &counters.hit_bytes_readv } else { &counters.hit_bytes_read };
        counter.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts bytes between the ranges of a plan that are read.
    pub fn add_over_read(&self, bytes: u64) {
        self.0.over_read_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Begins an open or a request.
    pub(crate) fn begin(&self) -> UnderWay {
        let counters = &self.0;
        let begin = counters.now();
        if counters.under_way.fetch_add(1, Ordering::Relaxed) == 0 {
            counters.busy_since.store(begin, Ordering::Relaxed);
        }
        UnderWay { begin, round_trips: counters.round_trips.load(Ordering::Relaxed) + 1 }
    }

    /// Ends an open or a request.
    pub(crate) fn end(&self, began: UnderWay) {
        let counters = &self.0;
        let now = counters.now();
        // It only changes while nothing is under way.
        let since = counters.busy_since.load(Ordering::Relaxed);
        if counters.under_way.fetch_sub(1, Ordering::Relaxed) == 1 {
            counters.busy.fetch_add(now.saturating_sub(since), Ordering::Relaxed);
        }
        counters.waited.fetch_add(now.saturating_sub(began.begin), Ordering::Relaxed);
        counters.round_trips.fetch_max(began.round_trips, Ordering::Relaxed);
    }

    /// Counts a resource that was opened.
    pub(crate) fn add_open(&self, name: &str, size: u64) {
        self.0.open_files.fetch_add(1, Ordering::Relaxed);
        self.0.files().insert(name.to_owned(), size);
    }

    /// Counts an answered request for `ranges` ranges.
    pub(crate) fn add_read(&self, ranges: usize, bytes: u64) {
        let counters = &self.0;
        let add = |counter: &AtomicU64, value: u64| counter.fetch_add(value, Ordering::Relaxed);
        if ranges > 1 {
            add(&counters.iops_readv, 1);
            add(&counters.iops_readvread, ranges as u64);
            add(&counters.bytes_readv, bytes);
        } else {
            add(&counters.iops_read, 1);
            add(&counters.bytes_read, bytes);
        }
    }
}

impl Counters {
    fn files(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the nanoseconds since the counting began.
    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
