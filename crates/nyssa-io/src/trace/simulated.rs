//! Simulates a file behind a link.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::link::SharedLink;
use crate::heuristics::http;
use crate::known::read_unknown;
use crate::{Cost, Limits, OpenOptions, Result, Source};

/// A file behind a link. All its bytes are zero.
pub(super) struct Simulated {
    name: String,
    size: u64,
    server: usize,
    /// The ranges that came when it was opened.
    ends: Vec<Range<u64>>,
    shared: Arc<SharedLink>,
}

impl Simulated {
    /// Opens a file of `size` bytes on server number `server`, with as many bytes of its ends as a real file by
    /// `options`.
    pub(super) fn open(
        name: String,
        size: u64,
        server: usize,
        shared: &Arc<SharedLink>,
        options: &OpenOptions,
    ) -> Self {
        let ends = match shared.link.opens_with_ends() {
            true => ends(&name, size, options),
            false => Vec::new(),
        };
        let file = Self { name, size, server, ends, shared: Arc::clone(shared) };
        match &file.ends[..] {
            [] => shared.wait(server, 1, 0),
            // Both ends are requested at the same time.
            ends => std::thread::scope(|scope| {
                for end in ends {
                    scope.spawn(|| file.wait(std::slice::from_ref(end)));
                }
            }),
        }
        file
    }

    /// Waits for the answer to a request for `ranges`.
    fn wait(&self, ranges: &[Range<u64>]) {
        self.shared.wait(self.server, ranges.len(), ranges.iter().map(length).sum());
    }

    /// Waits for the answer by which a server proves that it answers requests for several ranges.
    fn prove(&self) {
        let Some(several) = self.shared.several(self.server) else { return };
        self.shared.wait(self.server, 3, 3 * http::PROOF_BYTES);
        several.proves(true);
    }

    /// Waits for the answers to requests for one range each.
    fn wait_for_each(&self, ranges: &[Range<u64>]) {
        for range in ranges {
            self.wait(std::slice::from_ref(range));
            if self.shared.several(self.server).is_some_and(|several| several.counts(length(range)))
            {
                self.prove();
            }
        }
    }

    fn is_known(&self, range: &Range<u64>) -> bool {
        self.ends.iter().any(|end| end.start <= range.start && range.end <= end.end)
    }
}

impl Source for Simulated {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn limits(&self) -> Limits {
        let limits = self.shared.link.limits();
        if !self.shared.several(self.server).is_some_and(|several| several.is_proven()) {
            return limits;
        }
        let cost = Cost { range: limits.cost.range.max(http::RANGE_TIME), ..limits.cost };
        Limits { max_ranges: http::MAX_RANGES, cost, ..limits }
    }

    fn limits_of(&self, units: &[Vec<Range<u64>>]) -> Limits {
        let connections = self.limits().concurrency;
        let begins = self.shared.several(self.server).is_some_and(|several| {
            several.begins_for(units, connections, |range| self.is_known(range))
        });
        if begins {
            self.prove();
        }
        self.limits()
    }

    fn opened_with(&self) -> Vec<Range<u64>> {
        self.ends.clone()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        // Ranges are at most as long as the limits allow.
        let zeros = |range: &Range<u64>| Bytes::from(vec![0; length(range) as usize]);
        let find = |range: &Range<u64>| self.is_known(range).then(|| zeros(range));
        read_unknown(ranges, find, |unknown| {
            match unknown.len() <= 1 || self.limits().max_ranges == 1 {
                true => self.wait_for_each(unknown),
                false => self.wait(unknown),
            }
            Ok(unknown.iter().map(zeros).collect())
        })
    }
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// Returns the ranges that come when a file is opened.
fn ends(name: &str, size: u64, options: &OpenOptions) -> Vec<Range<u64>> {
    let wanted = options.ends.wanted(name);
    let (first, last) = (wanted.first.min(size), size.saturating_sub(wanted.last));
    if first >= last {
        return std::iter::once(0..size).collect();
    }
    [0..first, last..size].into_iter().filter(|range| !range.is_empty()).collect()
}
