//! What one request to a source may ask, and what it costs.

use std::time::Duration;

/// Latencies below this are those of a disk in this machine: the thread that needs bytes reads them itself.
const NEAR: Duration = Duration::from_micros(100);
/// Smallest and largest number of bytes that one request to a far source should bring.
const REQUEST_BYTES: (u64, u64) = (1 << 20, 16 << 20);
/// Largest range that a near source reads at once: ranges that are read together share a buffer, which
/// lives as long as any of them.
const NEAR_MERGED_BYTES: u64 = 8 << 20;

/// What a source can do in one request, and what a request costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most ranges in one vectored request.
    pub max_ranges: usize,
    /// Most bytes in one range.
    pub max_range_bytes: u64,
    /// Number of requests that the source answers at the same time.
    pub concurrency: usize,
    /// Stated or measured cost of a request.
    pub cost: Cost,
}

/// The time that a request takes: `latency`, `range` for each of its ranges, and its bytes divided by
/// `bandwidth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Time until the first byte of an answer comes.
    pub latency: Duration,
    /// Time that each range of a request takes, whatever its size.
    pub range: Duration,
    /// Bytes in a second, of one request.
    pub bandwidth: u64,
}

impl Cost {
    /// Reading costs nothing: the bytes are in memory.
    pub const NOTHING: Self =
        Self { latency: Duration::ZERO, range: Duration::ZERO, bandwidth: u64::MAX };
}

impl Limits {
    /// No limits and no cost: the bytes are in memory.
    pub const NONE: Self = Self {
        max_ranges: usize::MAX,
        max_range_bytes: u64::MAX,
        concurrency: 1,
        cost: Cost::NOTHING,
    };

    /// Whether waiting for an answer costs so little that nothing has to be fetched ahead.
    pub fn is_near(&self) -> bool {
        self.cost.latency < NEAR
    }

    /// A gap between two ranges of up to this many bytes is cheaper to read over than to skip. To skip
    /// it takes one more range, and its share of a request.
    pub fn coalesce_gap(&self) -> u64 {
        let shared = self.max_ranges.max(1).saturating_mul(self.concurrency.max(1)) as u128;
        let nanos = self.cost.range.as_nanos() + self.cost.latency.as_nanos() / shared;
        self.bytes_in(nanos)
    }

    /// Bytes that one request should bring: as many as come in the time that it waits.
    pub(crate) fn request_bytes(&self) -> u64 {
        let (least, most) = REQUEST_BYTES;
        self.bytes_in(self.cost.latency.as_nanos()).clamp(least, most)
    }

    /// Largest range that several ranges are merged into.
    pub(crate) fn merged_bytes(&self) -> u64 {
        let most = if self.is_near() { NEAR_MERGED_BYTES } else { self.request_bytes() };
        most.min(self.max_range_bytes)
    }

    /// The limits of two sources that are read as one.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        Self {
            max_ranges: self.max_ranges.min(other.max_ranges),
            max_range_bytes: self.max_range_bytes.min(other.max_range_bytes),
            concurrency: self.concurrency.min(other.concurrency),
            cost: Cost {
                latency: self.cost.latency.max(other.cost.latency),
                range: self.cost.range.max(other.cost.range),
                bandwidth: self.cost.bandwidth.min(other.cost.bandwidth),
            },
        }
    }

    fn bytes_in(&self, nanos: u128) -> u64 {
        let bytes = nanos.saturating_mul(self.cost.bandwidth.into()) / 1_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_follow_from_latency_and_bandwidth() {
        assert_eq!(Limits::NONE.coalesce_gap(), 0);
        let cost = Cost {
            latency: Duration::from_millis(20),
            range: Duration::ZERO,
            bandwidth: 100_000_000,
        };
        let far =
            |max_ranges, concurrency| Limits { max_ranges, concurrency, cost, ..Limits::NONE };
        // In 20 ms come 2 MB.
        assert_eq!(far(1, 1).coalesce_gap(), 2_000_000);
        assert_eq!(far(1, 8).coalesce_gap(), 250_000);
        assert_eq!(far(1000, 8).coalesce_gap(), 250);
        assert_eq!(far(1000, 8).request_bytes(), 2_000_000);
        assert!(!far(1, 1).is_near() && Limits::NONE.is_near());
    }

    #[test]
    fn two_sources_as_one_are_as_slow_as_the_slower() {
        let cost = Cost {
            latency: Duration::from_millis(1),
            range: Duration::from_micros(3),
            bandwidth: 7,
        };
        let far = Limits { max_ranges: 5, max_range_bytes: 9, concurrency: 1, cost };
        assert_eq!(Limits { concurrency: 4, ..Limits::NONE }.stricter(far), far);
    }
}
