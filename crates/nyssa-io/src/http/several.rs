//! Finds which servers can answer one request for several ranges.
//!
//! Many servers cannot: they send the whole file, an error, or other ranges than those that were requested. A
//! server therefore has to prove it. Before a plan that has many short ranges, or after [`SHORT_REQUESTS`](crate::heuristics::http::SHORT_REQUESTS)
//! requests for short ranges, the server is asked for ranges whose bytes are known from requests for one range. If
//! every part of the answer is right, plans ask for several ranges at a time from then on. One wrong answer ends
//! this for the rest of the process.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use nyssa_net::PerProcess;
use url::Origin;

use crate::fetch::{Merged, coalesce};
use crate::heuristics::http;

const UNKNOWN: u8 = 0;
const PROVEN: u8 = 1;
const REFUSED: u8 = 2;
const ASKED: u8 = 3;

/// The state of one server.
#[derive(Default)]
pub(crate) struct Several {
    state: AtomicU8,
    short_requests: AtomicU32,
}

static SERVERS: PerProcess<Mutex<HashMap<Origin, Arc<Several>>>> = PerProcess::new();

impl Several {
    /// Returns the state of a server in this process.
    pub(crate) fn of(server: Origin) -> Arc<Self> {
        Arc::clone(SERVERS.lock().entry(server).or_default())
    }

    /// Returns whether the server has proven that it answers requests for several ranges.
    pub(crate) fn is_proven(&self) -> bool {
        self.state.load(Ordering::Relaxed) == PROVEN
    }

    /// Counts a request for a range of `bytes`. Returns true once, when a proof is worth a request.
    pub(crate) fn counts(&self, bytes: u64) -> bool {
        bytes <= http::SHORT_BYTES
            && self.state.load(Ordering::Relaxed) == UNKNOWN
            && self.short_requests.fetch_add(1, Ordering::Relaxed) + 1 == http::SHORT_REQUESTS
            && self.begins()
    }

    /// Begins a proof if a plan would take much longer over `connections` connections without requests for several
    /// ranges. Returns whether it has begun. `is_known` tells ranges that need no request.
    pub(crate) fn begins_for(
        &self,
        units: &[Vec<Range<u64>>],
        connections: usize,
        is_known: impl Fn(&Range<u64>) -> bool,
    ) -> bool {
        if self.state.load(Ordering::Relaxed) != UNKNOWN {
            return false;
        }
        let ranges: Vec<Range<u64>> = units.iter().flatten().cloned().collect();
        let is_short = |Merged { range, .. }: &Merged| {
            range.end - range.start <= http::SHORT_BYTES && !is_known(range)
        };
        let short = coalesce(&ranges, 0, u64::MAX).into_iter().filter(is_short).count();
        short >= http::ROUND_TRIPS * connections && self.begins()
    }

    /// Begins a proof. Returns false if it is known or being found out whether the server can answer.
    fn begins(&self) -> bool {
        let state = &self.state;
        state.compare_exchange(UNKNOWN, ASKED, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Begins the counting again, because a proof was not possible now.
    pub(crate) fn starts_anew(&self) {
        self.short_requests.store(0, Ordering::Relaxed);
        self.state.store(UNKNOWN, Ordering::Relaxed);
    }

    /// Records the result of the proof.
    pub(crate) fn proves(&self, is_right: bool) {
        self.state.store(if is_right { PROVEN } else { REFUSED }, Ordering::Relaxed);
    }

    /// Ends requests for several ranges, because an answer was wrong.
    pub(crate) fn refuse(&self) {
        self.state.store(REFUSED, Ordering::Relaxed);
    }
}
