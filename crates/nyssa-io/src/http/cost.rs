//! What requests cost, measured while they are made.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::Cost;

/// Part that a new measurement has in the mean.
const WEIGHT: f64 = 0.2;
/// Shortest latency that is stated: a server is never as near as a disk.
const LEAST_LATENCY: f64 = 200e-6;
/// Bytes of an answer from which on its bandwidth is measured.
const MEASURED_BYTES: usize = 64 << 10;
/// Bandwidth before anything is measured, in bytes in a second.
const BANDWIDTH: f64 = 50e6;

/// The mean cost of the last requests.
pub(super) struct Measured(Mutex<(f64, f64)>);

impl Measured {
    /// What the first request says, which also waited for the connection: for `round_trips` in all.
    pub fn first(latency: Duration, round_trips: f64) -> Self {
        Self(Mutex::new(((latency.as_secs_f64() / round_trips).max(LEAST_LATENCY), BANDWIDTH)))
    }

    /// A request that waited for `latency`, and then for `bytes` for `time`.
    pub fn add(&self, latency: Duration, bytes: usize, time: Duration) {
        let mut mean = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (old_latency, old_bandwidth) = *mean;
        // One that had to connect, or was stuck, says nothing about the others.
        let latency = latency.as_secs_f64().clamp(LEAST_LATENCY, 4.0 * old_latency);
        mean.0 += WEIGHT * (latency - old_latency);
        if bytes >= MEASURED_BYTES {
            let bandwidth = bytes as f64 / time.as_secs_f64().max(1e-6);
            mean.1 += WEIGHT * (bandwidth - old_bandwidth);
        }
    }

    /// The cost as it is stated.
    pub fn cost(&self) -> Cost {
        let (latency, bandwidth) = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let latency = Duration::try_from_secs_f64(latency).unwrap_or(Duration::from_secs(1));
        // A number of bytes that was measured: far from the ends of the type.
        Cost { latency, range: Duration::ZERO, bandwidth: bandwidth.max(1.0) as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_follows_what_is_measured() {
        let measured = Measured::first(Duration::from_millis(20), 2.0);
        assert_eq!(measured.cost().latency, Duration::from_millis(10));
        for _ in 0..50 {
            measured.add(Duration::from_millis(30), 1 << 20, Duration::from_millis(100));
        }
        let cost = measured.cost();
        assert_eq!(cost.latency.as_secs_f64().mul_add(1e3, 0.5) as u32, 30);
        assert!((10_000_000..11_000_000).contains(&cost.bandwidth), "{cost:?}");
        // An answer of a few bytes says nothing about the bandwidth.
        measured.add(Duration::ZERO, 100, Duration::from_secs(1));
        assert_eq!(measured.cost().bandwidth, cost.bandwidth);
        assert!(measured.cost().latency < cost.latency);
    }
}
