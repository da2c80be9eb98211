//! Learns how many bytes the metadata of files take at their two ends.

use std::collections::HashMap;
use std::sync::Mutex;

use nyssa_net::PerProcess;

use crate::heuristics::fetch;
use crate::location::server;

/// Numbers of bytes at the two ends of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub first: u64,
    pub last: u64,
}

/// The numbers of bytes that the metadata of earlier files took, by server.
static USED: PerProcess<Mutex<HashMap<String, Ends>>> = PerProcess::new();

impl Ends {
    /// Returns what to request when a file is opened: what the metadata of earlier files of its server took, and some more.
    /// For the first file of a server this is `unknown` at each end.
    pub(crate) fn wanted(name: &str, unknown: u64) -> Self {
        let used = server(name).and_then(|server| USED.lock().get(&server).copied());
        let wanted = |used: u64| {
            (used + used / fetch::END_MARGIN).clamp(fetch::LEAST_OF_END, fetch::MOST_OF_END)
        };
        match used {
            Some(used) => Self { first: wanted(used.first), last: wanted(used.last) },
            None => Self { first: unknown, last: unknown },
        }
    }

    /// Adds what the metadata of a file took. More bytes count at once; less bytes count as one of several files.
    pub(crate) fn add_used(self, name: &str) {
        let Some(server) = server(name) else { return };
        let mean = |old: u64, new: u64| if new > old { new } else { (3 * old + new) / 4 };
        let mut used = USED.lock();
        let known = used.entry(server).or_insert(self);
        *known = Self { first: mean(known.first, self.first), last: mean(known.last, self.last) };
    }
}
