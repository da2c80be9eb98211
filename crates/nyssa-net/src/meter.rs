//! Measures the cost of requests to a remote source while it is read.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The smallest latency of a remote source. A source with less counts as near, and nothing is fetched ahead.
const LEAST_LATENCY: Duration = Duration::from_micros(200);
/// The latency that is assumed before the first measurement.
const FIRST_LATENCY: Duration = Duration::from_millis(1);
/// The bandwidth that is assumed before the first measurement, in bytes per second.
const FIRST_BANDWIDTH: f64 = 100e6;
/// The smallest answer whose bandwidth is measured, in bytes.
const MEASURED_BYTES: usize = 64 << 10;
/// The number of bytes after which earlier measurements of the bandwidth count half.
const HALVED_AFTER: f64 = (64 << 20) as f64;
/// The part of the difference by which the latency rises when a request waits longer. A shorter time than
/// before counts at once, because a longer one contains the time in queues.
const RISE: f64 = 0.125;
/// The factor of the usual waiting time above which a request was stuck. The time beyond it is ignored.
const STUCK: f64 = 4.0;

/// The time that a request takes: `latency`, `range` for each of its ranges, and its bytes divided by
/// `bandwidth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The time until the first byte of an answer arrives.
    pub latency: Duration,
    /// The time that each range of a request takes, independent of its size.
    pub range: Duration,
    /// The bandwidth in bytes per second, of all requests together.
    pub bandwidth: u64,
}

impl Cost {
    /// The cost of bytes in memory, which is zero.
    pub const NOTHING: Self =
        Self { latency: Duration::ZERO, range: Duration::ZERO, bandwidth: u64::MAX };
}

/// A meter of the cost of one source. Threads share it by reference.
#[derive(Debug, Default)]
pub struct Meter {
    /// The time that each range of a request takes.
    range: Duration,
    measured: Mutex<Measured>,
}

#[derive(Debug, Default)]
struct Measured {
    /// The time until the first byte of an answer, in seconds.
    latency: Option<f64>,
    /// The number of received bytes, and the seconds in which they were received.
    bytes: f64,
    seconds: f64,
    /// The end of the last answer.
    last_end: Option<Instant>,
}

impl Meter {
    /// Makes a meter for a source that needs the time `range` for each range of a request.
    pub fn new(range: Duration) -> Self {
        Self { range, measured: Mutex::default() }
    }

    /// Adds the time until the first byte of an answer. The request must not have waited for other answers.
    pub fn waited(&self, time: Duration) {
        let mut measured = self.measured();
        let time = time.as_secs_f64();
        let rise = |known: f64| RISE * (time.min(STUCK * known) - known).max(0.0);
        let latency = measured.latency.map_or(time, |known| time.min(known + rise(known)));
        measured.latency = Some(latency);
    }

    /// Adds an answer whose first byte came at `begin` and whose last byte came at `end`.
    pub fn received(&self, bytes: usize, begin: Instant, end: Instant) {
        let mut measured = self.measured();
        // Until the end of the last answer, the line was busy with that answer.
        let start = measured.last_end.map_or(begin, |last| last.max(begin));
        measured.last_end = Some(measured.last_end.map_or(end, |last| last.max(end)));
        if bytes < MEASURED_BYTES {
            return;
        }
        if measured.bytes > HALVED_AFTER {
            measured.bytes /= 2.0;
            measured.seconds /= 2.0;
        }
        measured.bytes += bytes as f64;
        measured.seconds += end.saturating_duration_since(start).as_secs_f64();
    }

    /// Returns the cost of a request. The bandwidth is the bandwidth of all requests together.
    pub fn cost(&self) -> Cost {
        let measured = self.measured();
        let latency =
            measured.latency.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let bandwidth = match measured.seconds > 0.0 {
            true => measured.bytes / measured.seconds,
            false => FIRST_BANDWIDTH,
        };
        Cost {
            latency: latency.unwrap_or(FIRST_LATENCY).max(LEAST_LATENCY),
            range: self.range,
            // The value is measured, so it is far from the ends of the type.
            bandwidth: bandwidth.max(1.0) as u64,
        }
    }

    fn measured(&self) -> MutexGuard<'_, Measured> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(meter: &Meter) -> f64 {
        (meter.cost().latency.as_secs_f64() * 1e5).round() / 1e2
    }

    #[test]
    fn the_latency_falls_at_once_and_rises_slowly() {
        let meter = Meter::default();
        assert_eq!(meter.cost().latency, FIRST_LATENCY);
        for (waited, expected) in [(60, 60.0), (50, 50.0), (58, 51.0), (10, 10.0), (900, 13.75)] {
            meter.waited(Duration::from_millis(waited));
            assert_eq!(milliseconds(&meter), expected);
        }
        meter.waited(Duration::from_micros(3));
        assert_eq!(meter.cost().latency, LEAST_LATENCY);
    }

    #[test]
    fn the_bandwidth_is_that_of_all_answers_together() {
        let meter = Meter::new(Duration::from_micros(2));
        assert_eq!((meter.cost().range.as_micros(), meter.cost().bandwidth), (2, 100_000_000));
        let begin = Instant::now();
        let at = |milliseconds| begin + Duration::from_millis(milliseconds);
        // These are 10 MB in 0.1 s, and 10 MB that arrived at the same time and ended 0.1 s later.
        meter.received(10_000_000, at(0), at(100));
        meter.received(10_000_000, at(20), at(200));
        assert_eq!(meter.cost().bandwidth, 100_000_000);
        // The time without answers does not count, nor does an answer of a few bytes.
        meter.received(100, at(500), at(900));
        meter.received(20_000_000, at(1_000), at(1_100));
        assert_eq!(meter.cost().bandwidth, 133_333_333);
    }

    #[test]
    fn old_measurements_count_less() {
        let meter = Meter::default();
        let begin = Instant::now();
        for answer in 0..1_000 {
            let speed = if answer < 500 { 1 } else { 4 };
            let start = begin + Duration::from_secs(answer);
            meter.received(1_000_000, start, start + Duration::from_millis(40 / speed));
        }
        assert!((99_000_000..=100_000_000).contains(&meter.cost().bandwidth), "{:?}", meter.cost());
    }
}
