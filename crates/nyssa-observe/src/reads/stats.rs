//! Counts what is opened and read.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use nyssa_net::PerProcess;

use super::counts::{Counters, IoCounts};
use crate::time::nanoseconds;

/// The counters of opens and reads of resources. A clone uses the same counters.
#[derive(Clone, Debug, Default)]
pub struct IoStats(Arc<Counting>);

/// The time at which counters were made.
#[derive(Debug)]
struct Start(Instant);

/// The counters, and what is needed to count. Times are nanoseconds since the start.
#[derive(Debug, Default)]
struct Counting {
    start: Start,
    counters: Counters,
    /// The sizes of the resources that were opened, by their names.
    files: Mutex<HashMap<String, u64>>,
    /// The number of requests that are under way.
    under_way: AtomicU64,
    /// The time since when requests are under way.
    busy_since: AtomicU64,
    /// The second in which bytes came last, and the bytes of this second.
    second: AtomicU64,
    second_bytes: AtomicU64,
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
pub struct Opened {
    /// The path or URL.
    pub name: String,
    /// The size in bytes.
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
        self.0.counters.counts(self.0.start.0.elapsed().as_secs_f64())
    }

    /// Counts the bytes of a request for `ranges` ranges that a cache had, here and for the process.
    pub fn add_hit(&self, ranges: usize, bytes: u64) {
        self.with_process(|counting| {
            let Counters { hit_bytes_read, hit_bytes_readv, .. } = &counting.counters;
            add(if ranges > 1 { hit_bytes_readv } else { hit_bytes_read }, bytes);
            counting.came(bytes);
        });
    }

    /// Counts bytes between the ranges of a plan that are read, here and for the process.
    pub fn add_over_read(&self, bytes: u64) {
        if bytes > 0 {
            self.with_process(|counting| add(&counting.counters.over_read_bytes, bytes));
        }
    }

    /// Opens a resource by `open`, and counts it here and for the process, with the bytes that came with it.
    /// `opened` describes the resource.
    pub(super) fn open<T, E>(
        &self,
        open: impl FnOnce() -> Result<T, E>,
        opened: impl Fn(&T) -> Opened,
    ) -> Result<T, E> {
        self.time(open, |counting, resource| counting.opened(opened(resource)))
    }

    /// Makes a request for `bytes` bytes in `ranges` ranges by `read`, and counts it here and for the process.
    pub(super) fn read<T, E>(
        &self,
        ranges: u64,
        bytes: u64,
        read: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.time(read, |counting, _| counting.read(ranges, bytes))
    }

    /// Runs `work` and counts its time here and for the process. If it succeeds, `count` counts the result.
    fn time<T, E>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
        count: impl Fn(&Counting, &T),
    ) -> Result<T, E> {
        let process = Self::of_process();
        let both = [&*self.0, &*process.0];
        let began = both.map(Counting::begin);
        let done = work();
        for (counting, began) in both.into_iter().zip(began) {
            counting.end(began);
            if let Ok(done) = &done {
                count(counting, done);
            }
        }
        done
    }

    /// Calls `work` for these counters and for the counters of the process.
    fn with_process(&self, work: impl Fn(&Counting)) {
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

impl Counting {
    fn begin(&self) -> UnderWay {
        let begin = self.now();
        if self.under_way.fetch_add(1, Ordering::Relaxed) == 0 {
            self.busy_since.store(begin, Ordering::Relaxed);
        }
        UnderWay { begin, round_trips: self.counters.round_trips.load(Ordering::Relaxed) + 1 }
    }

    fn end(&self, began: UnderWay) {
        let now = self.now();
        // It changes only while nothing is under way.
        let since = self.busy_since.load(Ordering::Relaxed);
        if self.under_way.fetch_sub(1, Ordering::Relaxed) == 1 {
            add(&self.counters.busy_seconds, now.saturating_sub(since));
        }
        add(&self.counters.request_seconds, now.saturating_sub(began.begin));
        self.counters.round_trips.fetch_max(began.round_trips, Ordering::Relaxed);
    }

    fn opened(&self, Opened { name, size, known }: Opened) {
        let counters = &self.counters;
        add(&counters.open_files, 1);
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let before = files.insert(name, size);
        add(&counters.open_unique_files, u64::from(before.is_none()));
        // The sum wraps where a file has become smaller.
        add(&counters.unique_files_bytes, size.wrapping_sub(before.unwrap_or(0)));
        drop(files);
        for range in known {
            self.read(1, range.end - range.start);
        }
    }

    fn read(&self, ranges: u64, bytes: u64) {
        let counters = &self.counters;
        if ranges > 1 {
            add(&counters.iops_readv, 1);
            add(&counters.iops_readvread, ranges);
            add(&counters.bytes_readv, bytes);
        } else {
            add(&counters.iops_read, 1);
            add(&counters.bytes_read, bytes);
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
        self.counters.peak_bytes_per_second.fetch_max(sum, Ordering::Relaxed);
    }

    /// Returns the nanoseconds since the start.
    fn now(&self) -> u64 {
        nanoseconds(self.start.0.elapsed())
    }
}

impl Default for Start {
    fn default() -> Self {
        Self(Instant::now())
    }
}
