//! A link that only exists as numbers.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::{Cost, Limits, Result, Source};

/// Largest number of ranges of one request, and of bytes in one of them.
const VECTOR: (usize, u64) = (1024, 2 << 20);

/// A link with servers behind it, all of which share its bandwidth.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Time of a round trip.
    pub latency: Duration,
    /// Bytes per second.
    pub bandwidth: u64,
    /// Number of requests that are under way at the same time.
    pub connections: usize,
    /// Time that a server needs for each range, such as the seek time of a disk. It does one after the other.
    pub seek: Duration,
    /// Number of servers. Files are spread over them.
    pub servers: usize,
}

/// The state of a link: until when it, and each server, is busy.
pub(super) struct Shared {
    link: Link,
    busy: Mutex<(Instant, Vec<Instant>)>,
}

impl Shared {
    pub fn new(link: Link) -> Arc<Self> {
        let now = Instant::now();
        Arc::new(Self { link, busy: Mutex::new((now, vec![now; link.servers.max(1)])) })
    }

    /// Waits for the answer of server number `server` to a request.
    pub fn wait(&self, server: usize, ranges: usize, bytes: u64) {
        let Link { latency, bandwidth, seek, .. } = self.link;
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let (line, servers) = &mut *busy;
        let server = server % servers.len();
        let arrived = Instant::now() + latency / 2;
        let ranges = u32::try_from(ranges).unwrap_or(u32::MAX);
        servers[server] = servers[server].max(arrived) + seek.saturating_mul(ranges);
        let seconds = bytes as f64 / bandwidth.max(1) as f64;
        let transfer = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        *line = (*line).max(servers[server]) + transfer;
        let answered = *line + latency / 2;
        drop(busy);
        std::thread::sleep(answered.saturating_duration_since(Instant::now()));
    }
}

/// A file behind a link. All its bytes are zero.
pub(super) struct Simulated {
    pub name: String,
    pub size: u64,
    pub server: usize,
    pub shared: Arc<Shared>,
}

impl Source for Simulated {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn limits(&self) -> Limits {
        let Link { latency, bandwidth, connections, seek, .. } = self.shared.link;
        let (max_ranges, max_range_bytes) = VECTOR;
        let cost = Cost { latency, range: seek.max(Duration::from_micros(2)), bandwidth };
        Limits { max_ranges, max_range_bytes, concurrency: connections.max(1), cost }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let length = |range: &Range<u64>| range.end.saturating_sub(range.start);
        self.shared.wait(self.server, ranges.len(), ranges.iter().map(length).sum());
        // Ranges are at most as long as the limits say.
        let zeros = |range: &Range<u64>| Bytes::from(vec![0; length(range) as usize]);
        Ok(ranges.iter().map(zeros).collect())
    }
}
