//! Counts what is opened and read.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use nyssa_net::PerProcess;

use crate::error::Result;
use crate::io_counts::IoCounts;

/// The counters of opens and reads of resources. A clone uses the same counters.
#[derive(Clone, Debug, Default)]
pub struct IoStats(Arc<Counters>);

/// The time at which counters were made.
#[derive(Debug)]
struct Start(Instant);

/// The counters have the names of [`IoCounts`]. Times are nanoseconds since the start.
#[derive(Debug, Default)]
struct Counters {
    start: Start,
    /// The sizes of the resources that were opened, by their names.
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
    round_trips: AtomicU64,
    /// The number of requests that are under way.
    under_way: AtomicU64,
    /// The time since when requests are under way.
    busy_since: AtomicU64,
    busy: AtomicU64,
    requests: AtomicU64,
    /// The second in which bytes came last, the bytes of this second, and the most bytes of a second.
    second: AtomicU64,
    second_bytes: AtomicU64,
    peak: AtomicU64,
}

/// The counters of all that the process opens. A child of `fork` begins with its own.
static PROCESS: PerProcess<IoStats> = PerProcess::new();

/// An open or a request that is under way.
#[derive(Clone, Copy)]
struct UnderWay {
    begin: u64,
    round_trips: u64,
}

/// A resource that was opened.
pub(crate) struct Opened {
    pub name: String,
    pub size: u64,
    /// The ranges whose bytes came with the requests that opened it.
    pub known: Vec<Range<u64>>,
}

impl IoStats {
    /// Returns the counters of all that this process opens.
    pub fn of_process() -> Self {
        PROCESS.get(Self::default).clone()
    }

    /// Returns whether both use the same counters.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> IoCounts {
        let all = &*self.0;
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let seconds = |counter: &AtomicU64| get(counter) as f64 / 1e9;
        let files = all.files();
        let counts = IoCounts {
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
            request_seconds: seconds(&all.requests),
            seconds: all.start.0.elapsed().as_secs_f64(),
            peak_bytes_per_second: get(&all.peak) as f64,
            ..IoCounts::default()
        };
        counts.with_rates()
    }

    /// Counts the bytes of a request for `ranges` ranges that a cache had, here and for the process.
    pub fn add_hit(&self, ranges: usize, bytes: u64) {
        self.with_process(|counters| {
            let several = ranges > 1;
            let counter =
                if several { &counters.hit_bytes_readv } else { &counters.hit_bytes_read };
            add(counter, bytes);
            counters.came(bytes);
        });
    }

    /// Counts bytes between the ranges of a plan that are read, here and for the process.
    pub(crate) fn add_over_read(&self, bytes: u64) {
        if bytes > 0 {
            self.with_process(|counters| add(&counters.over_read_bytes, bytes));
        }
    }

    /// Opens a resource by `open`, and counts it here and for the process, with the bytes that came with it.
    /// `opened` describes the resource.
    pub(crate) fn open<T>(
        &self,
        open: impl FnOnce() -> Result<T>,
        opened: impl Fn(&T) -> Opened,
    ) -> Result<T> {
        self.time(open, |counters, resource| {
            let Opened { name, size, known } = opened(resource);
            add(&counters.open_files, 1);
            counters.files().insert(name, size);
            for range in known {
                counters.read(1, range.end - range.start);
            }
        })
    }

    /// Makes a request for `bytes` bytes in `ranges` ranges by `read`, and counts it here and for the process.
    pub(crate) fn read<T>(
        &self,
        ranges: u64,
        bytes: u64,
        read: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.time(read, |counters, _| counters.read(ranges, bytes))
    }

    /// Runs `work` and counts its time here and for the process. If it succeeds, `count` counts the result.
    fn time<T>(
        &self,
        work: impl FnOnce() -> Result<T>,
        count: impl Fn(&Counters, &T),
    ) -> Result<T> {
        let process = Self::of_process();
        let both = [&*self.0, &*process.0];
        let began = both.map(Counters::begin);
        let done = work();
        for (counters, began) in both.into_iter().zip(began) {
            counters.end(began);
            if let Ok(done) = &done {
                count(counters, done);
            }
        }
        done
    }

    /// Calls `work` for these counters and for the counters of the process.
    fn with_process(&self, work: impl Fn(&Counters)) {
        let process = Self::of_process();
        work(&self.0);
        if !self.is_same(&process) {
            work(&process.0);
        }
    }
}

fn add(counter: &AtomicU64, value: u64) {
    counter.fetch_add(value, Ordering::Relaxed);
}

impl Counters {
    fn begin(&self) -> UnderWay {
        let begin = self.now();
        if self.under_way.fetch_add(1, Ordering::Relaxed) == 0 {
            self.busy_since.store(begin, Ordering::Relaxed);
        }
        UnderWay { begin, round_trips: self.round_trips.load(Ordering::Relaxed) + 1 }
    }

    fn end(&self, began: UnderWay) {
        let now = self.now();
        // It changes only while nothing is under way.
        let since = self.busy_since.load(Ordering::Relaxed);
        if self.under_way.fetch_sub(1, Ordering::Relaxed) == 1 {
            add(&self.busy, now.saturating_sub(since));
        }
        add(&self.requests, now.saturating_sub(began.begin));
        self.round_trips.fetch_max(began.round_trips, Ordering::Relaxed);
    }

    fn read(&self, ranges: u64, bytes: u64) {
        if ranges > 1 {
            add(&self.iops_readv, 1);
            add(&self.iops_readvread, ranges);
            add(&self.bytes_readv, bytes);
        } else {
            add(&self.iops_read, 1);
            add(&self.bytes_read, bytes);
        }
        self.came(bytes);
    }

    /// Adds bytes that arrived now to the bytes of the current second.
    fn came(&self, bytes: u64) {
        let second = self.now() / 1_000_000_000;
        let sum = match self.second.swap(second, Ordering::Relaxed) == second {
            true => self.second_bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes),
            false => {
                self.second_bytes.store(bytes, Ordering::Relaxed);
                bytes
            }
        };
        self.peak.fetch_max(sum, Ordering::Relaxed);
    }

    fn files(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the nanoseconds since the start.
    fn now(&self) -> u64 {
        u64::try_from(self.start.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Default for Start {
    fn default() -> Self {
        Self(Instant::now())
    }
}
