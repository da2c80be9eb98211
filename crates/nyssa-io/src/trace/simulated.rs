//! Simulates a file behind a link.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::link::Shared;
use crate::known::read_unknown;
use crate::{Limits, Result, Source};

/// A file behind a link. All its bytes are zero.
pub(super) struct Simulated {
    name: String,
    size: u64,
    server: usize,
    shared: Arc<Shared>,
}

impl Simulated {
    /// Opens a file of `size` bytes on server number `server`.
    pub fn open(name: &str, size: u64, server: usize, shared: &Arc<Shared>) -> Self {
        let file = Self { name: name.to_owned(), size, server, shared: Arc::clone(shared) };
        let ends = file.opened_with();
        match ends.is_empty() {
            true => shared.wait(server, 1, 0),
            // Both ends are requested at the same time.
            false => std::thread::scope(|scope| {
                for end in ends {
                    scope.spawn(move || shared.wait(server, 1, end.end - end.start));
                }
            }),
        }
        file
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
        self.shared.link.limits()
    }

    fn opened_with(&self) -> Vec<Range<u64>> {
        match self.shared.link.ends() {
            0 => Vec::new(),
            bytes => vec![0..bytes.min(self.size), self.size.saturating_sub(bytes)..self.size],
        }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let length = |range: &Range<u64>| range.end.saturating_sub(range.start);
        // Ranges are at most as long as the limits allow.
        let zeros = |range: &Range<u64>| Bytes::from(vec![0; length(range) as usize]);
        let ends = self.opened_with();
        let is_known = |range: &Range<u64>| {
            ends.iter().any(|end| end.start <= range.start && range.end <= end.end)
        };
        let find = |range: &Range<u64>| is_known(range).then(|| zeros(range));
        read_unknown(ranges, find, |unknown| {
            self.shared.wait(self.server, unknown.len(), unknown.iter().map(length).sum());
            Ok(unknown.iter().map(zeros).collect())
        })
    }
}
