//! What a connection costs, measured while it is used.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::Cost;

/// Answers of up to this many bytes tell the latency.
const SMALL: u64 = 4 << 10;
/// Answers of at least this many bytes tell the bandwidth.
const LARGE: u64 = 256 << 10;
/// Least latency that is stated: below, a source counts as near, and nothing is fetched ahead.
const LEAST_LATENCY: Duration = Duration::from_micros(100);
/// Bandwidth until it was measured.
const FIRST_BANDWIDTH: f64 = 100e6;
/// What one range of a vector costs: its 32 bytes of headers, and the server's read.
const RANGE: Duration = Duration::from_micros(2);
/// How much of what was measured is kept when more is measured.
const KEPT: f64 = 0.8;

/// Measures one connection.
#[derive(Debug, Default)]
pub(super) struct Meter(Mutex<Measured>);

#[derive(Debug, Default)]
struct Measured {
    latency: Option<Duration>,
    /// Bytes and the seconds they took; old ones count less.
    bytes: f64,
    seconds: f64,
    last_end: Option<Instant>,
}

impl Meter {
    /// A small answer has come this long after its request.
    pub fn waited(&self, time: Duration) {
        let mut measured = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // What is more than the shortest was spent by the server, or in a queue.
        let latency = measured
            .latency
            .map_or(time, |known| if time < known { time } else { known + (time - known) / 64 });
        measured.latency = Some(latency);
    }

    /// An answer of `bytes` has come, whose request was sent at `sent`.
    pub fn came(&self, bytes: u64, sent: Instant) {
        let now = Instant::now();
        if bytes <= SMALL {
            return self.waited(now - sent);
        }
        let mut measured = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let latency = measured.latency.unwrap_or_default();
        // Before the end of the answer before, the line was busy with that one.
        let start = measured.last_end.map_or(sent + latency, |end| end.max(sent + latency));
        measured.last_end = Some(now);
        let time = now.saturating_duration_since(start).as_secs_f64();
        if bytes >= LARGE && time > 0.0 {
            measured.bytes = measured.bytes * KEPT + bytes as f64;
            measured.seconds = measured.seconds * KEPT + time;
        }
    }

    /// What a request costs.
    pub fn cost(&self) -> Cost {
        let measured = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let latency = measured.latency.unwrap_or_default().max(LEAST_LATENCY);
        let bandwidth = match measured.seconds > 0.0 {
            true => measured.bytes / measured.seconds,
            false => FIRST_BANDWIDTH,
        };
        Cost { latency, range: RANGE, bandwidth: (bandwidth as u64).max(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_follows_from_what_was_seen() {
        let meter = Meter::default();
        assert_eq!((meter.cost().latency, meter.cost().bandwidth), (LEAST_LATENCY, 100_000_000));
        meter.waited(Duration::from_millis(60));
        meter.waited(Duration::from_millis(50));
        assert_eq!(meter.cost().latency, Duration::from_millis(50));
        // 10 MB in 0.1 s, after the latency.
        let ago = Instant::now().checked_sub(Duration::from_millis(150)).unwrap();
        meter.came(10_000_000, ago);
        let bandwidth = meter.cost().bandwidth;
        assert!((80_000_000..101_000_000).contains(&bandwidth), "{bandwidth}");
    }
}
