//! Decides which requests are made a second time because their answers do not come.
//!
//! A connection can get stuck: a packet is lost, a disk server hangs, a proxy forgets. The timeouts of a
//! protocol are long, because they must also suit servers that are slow. So the fetcher makes the same request
//! once more, and uses the answer that comes first. The rule is:
//!
//! - A thread waits for the request. A stuck request for which no thread waits does no harm yet.
//! - The request has taken longer than [`hedge::LEAST`], and longer than [`hedge::TIMES`] times the expected time. This
//!   is its stated cost, with all bytes that are in flight on the line, or the mean time of the answered requests of
//!   the same plan, whichever is longer. Shorter delays cost less than a second request.
//! - The request was not made a second time before.
//! - The source answers several requests at the same time. Other sources would only queue the second one.
//! - The server has credit ([`Credit`]). A server that is slow for everybody must not get twice the load: one
//!   second request is under way at a time, and one in [`hedge::PART`] requests is made twice.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nyssa_net::PerProcess;

use crate::Limits;
use crate::heuristics::hedge;
use crate::location::server;

/// A request that is under way.
pub(super) struct Flight {
    begun: Instant,
    /// The number of attempts that have not ended.
    pub attempts: usize,
    /// Whether it was made a second time.
    pub repeated: bool,
}

impl Flight {
    /// Makes the record of a request that begins now.
    pub(super) fn new() -> Self {
        Self { begun: Instant::now(), attempts: 1, repeated: false }
    }

    /// Returns the time since the request began.
    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}

/// The times of the requests of one plan that were answered at the first attempt.
#[derive(Default)]
pub(super) struct Times {
    count: u32,
    sum: Duration,
}

impl Times {
    /// Adds the time of an answered request.
    pub(super) fn add(&mut self, time: Duration) {
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.saturating_add(time);
    }

    fn mean(&self) -> Duration {
        self.sum.checked_div(self.count).unwrap_or_default()
    }

    /// Returns the time after which a request with `ranges` is overdue, while `bytes` are in flight.
    pub(super) fn limit(&self, limits: &Limits, ranges: usize, bytes: u64) -> Duration {
        let cost = limits.cost;
        let ranges = u32::try_from(ranges).unwrap_or(u32::MAX);
        let transfer = bytes as f64 / cost.bandwidth.max(1) as f64;
        let transfer = Duration::try_from_secs_f64(transfer).unwrap_or(Duration::MAX);
        let stated = cost.latency.saturating_add(cost.range.saturating_mul(ranges));
        let usual = stated.saturating_add(transfer).max(self.mean());
        usual.saturating_mul(hedge::TIMES).max(hedge::LEAST)
    }
}

/// Counts of the requests to one server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HedgeCounts {
    /// The number of requests, each counted once.
    pub requests: u64,
    /// The number of requests that were made a second time.
    pub repeated: u64,
    /// The number of requests whose second attempt was answered first.
    pub won: u64,
}

/// Returns the counts of the server of `location`, since the process started.
pub fn hedge_counts(location: &str) -> HedgeCounts {
    let credit = Credit::of(location);
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    HedgeCounts {
        requests: count(&credit.requests),
        repeated: count(&credit.repeated),
        won: count(&credit.won),
    }
}

/// The limit of second attempts at requests to one server. All plans of the process share it.
#[derive(Default)]
pub(super) struct Credit {
    requests: AtomicU64,
    repeated: AtomicU64,
    won: AtomicU64,
    /// Whether a second attempt is under way.
    busy: AtomicBool,
}

static CREDITS: PerProcess<Mutex<HashMap<String, Arc<Credit>>>> = PerProcess::new();

impl Credit {
    /// Returns the credit of the server that has a resource.
    pub(super) fn of(resource: &str) -> Arc<Self> {
        let server = server(resource).unwrap_or_else(|| resource.to_owned());
        Arc::clone(CREDITS.lock().entry(server).or_default())
    }

    /// Counts a request.
    pub(super) fn count(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes the credit for a second attempt, if there is any. [`Credit::end`] must follow.
    pub(super) fn take(&self) -> bool {
        if self.busy.swap(true, Ordering::Relaxed) {
            return false;
        }
        let allowed = 1 + self.requests.load(Ordering::Relaxed) / hedge::PART;
        // Only the thread that has set `busy` changes this number.
        if self.repeated.load(Ordering::Relaxed) >= allowed {
            self.busy.store(false, Ordering::Relaxed);
            return false;
        }
        self.repeated.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Ends a second attempt, which `won` if its answer came first.
    pub(super) fn end(&self, won: bool) {
        self.won.fetch_add(u64::from(won), Ordering::Relaxed);
        self.busy.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cost;

    #[test]
    fn a_request_is_overdue_after_three_times_its_cost() {
        let cost = Cost {
            latency: Duration::from_millis(400),
            range: Duration::from_millis(10),
            bandwidth: 10_000_000,
        };
        let limits = Limits { cost, ..Limits::NONE };
        let mut times = Times::default();
        assert_eq!(times.limit(&limits, 10, 1_000_000), Duration::from_millis(1800));
        times.add(Duration::from_secs(1));
        times.add(Duration::from_secs(3));
        assert_eq!(times.limit(&limits, 10, 1_000_000), Duration::from_secs(6));
        assert_eq!(times.limit(&limits, 10, 30_000_000), Duration::from_millis(10_500));
        assert_eq!(Times::default().limit(&Limits::NONE, 1, 0), hedge::LEAST);
    }

    #[test]
    fn one_request_in_twenty_is_made_twice() {
        let credit = Credit::default();
        assert!(credit.take());
        (0..100).for_each(|_| credit.count());
        assert!(!credit.take(), "one is under way");
        credit.end(true);
        let taken = (0..100).filter(|_| credit.take()).inspect(|_| credit.end(false)).count();
        assert_eq!(taken, 5);
    }

    #[test]
    fn all_files_of_a_server_share_its_credit() {
        let credit = Credit::of("https://host-of-a-test:8443/a.root");
        let other = Credit::of("https://host-of-a-test:8443//dir/b.root?...");
        assert!(Arc::ptr_eq(&credit, &other));
        assert!(!Arc::ptr_eq(&credit, &Credit::of("https://host-of-a-test/a.root")));
    }
}
