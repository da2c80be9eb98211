//! Defines the limits and the cost of one request to a source.

use nyssa_net::Cost;

use crate::heuristics::limits;

/// The value of [`Limits::over_read`] for sources at the other end of a network. The line has other users too, so
/// little more is read than what is needed, even where reading over gaps would be faster.
pub const NETWORK_OVER_READ: Option<u64> = Some(2);

/// The limits of one request to a source, and its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest number of ranges in one vectored request.
    pub max_ranges: usize,
    /// The largest number of bytes in one range.
    pub max_range_bytes: u64,
    /// The number of requests that the source answers at the same time.
    pub concurrency: usize,
    /// The largest number of requests at the same time where each brings so few bytes that more of them are faster. A number
    /// below `concurrency` changes nothing.
    pub short_concurrency: usize,
    /// The stated or measured cost of a request.
    pub cost: Cost,
    /// The largest gap between two ranges that is read over, in bytes. `None` computes it from the cost.
    pub gap: Option<u64>,
    /// The largest number of bytes that a plan reads over in gaps, in percent of the bytes that it needs. `None`
    /// sets no limit.
    pub over_read: Option<u64>,
}

impl Limits {
    /// The limits of bytes in memory: no limits and no cost.
    pub const NONE: Self = Self {
        max_ranges: usize::MAX,
        max_range_bytes: u64::MAX,
        concurrency: 1,
        short_concurrency: 0,
        cost: Cost::NOTHING,
        gap: None,
        over_read: None,
    };

    /// Returns whether the latency is so short that nothing has to be fetched ahead.
    pub fn is_near(&self) -> bool {
        self.cost.latency < limits::NEAR
    }

    /// Returns the largest gap between two ranges, in bytes, that is cheaper to read than to skip. Skipping it
    /// costs one more range and its part of a request.
    pub fn coalesce_gap(&self) -> u64 {
        if let Some(gap) = self.gap {
            return gap;
        }
        let shared = self.max_ranges.max(1).saturating_mul(self.concurrency.max(1)) as u128;
        let nanos = self.cost.range.as_nanos() + self.cost.latency.as_nanos() / shared;
        self.bytes_in(nanos)
    }

    /// Returns the number of bytes that a plan may read over in gaps if it needs `needed` bytes.
    pub(crate) fn over_read_bytes(&self, needed: u64) -> u64 {
        match self.over_read {
            Some(percent) => (needed / 100).saturating_mul(percent).max(limits::LEAST_OVER_READ),
            None => u64::MAX,
        }
    }

    /// Returns the number of bytes that one request should fetch: as many as the source sends during its
    /// latency, or less if many requests are in flight.
    pub fn request_bytes(&self) -> u64 {
        let (least, most) = limits::REQUEST_BYTES;
        let parts = (self.concurrency / limits::MANY_REQUESTS).max(1) as u64;
        (self.latency_bytes() / parts).clamp(least, most)
    }

    /// Returns how many of `requests` requests for `bytes` bytes are made at the same time: as many as fill the line, and
    /// at least as many as usual.
    pub(crate) fn requests_at_once(&self, requests: usize, bytes: u64) -> usize {
        let each = (bytes / requests.max(1) as u64).max(1);
        let filling = usize::try_from(self.latency_bytes() / each).unwrap_or(usize::MAX);
        let least = self.concurrency.max(1);
        filling.clamp(least, self.short_concurrency.max(least)).min(requests)
    }

    /// Returns the number of bytes that the source sends during its latency.
    pub(crate) fn latency_bytes(&self) -> u64 {
        self.bytes_in(self.cost.latency.as_nanos())
    }

    /// Returns the size of the largest range into which several ranges are merged.
    pub fn merged_bytes(&self) -> u64 {
        let most = if self.is_near() { limits::NEAR_MERGED_BYTES } else { self.request_bytes() };
        most.min(self.max_range_bytes)
    }

    /// Returns the limits of two sources that are read as one.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        Self {
            max_ranges: self.max_ranges.min(other.max_ranges),
            max_range_bytes: self.max_range_bytes.min(other.max_range_bytes),
            concurrency: self.concurrency.min(other.concurrency),
            short_concurrency: self.short_concurrency.min(other.short_concurrency),
            cost: Cost {
                latency: self.cost.latency.max(other.cost.latency),
                range: self.cost.range.max(other.cost.range),
                bandwidth: self.cost.bandwidth.min(other.cost.bandwidth),
            },
            gap: self.gap.into_iter().chain(other.gap).min(),
            over_read: self.over_read.into_iter().chain(other.over_read).min(),
        }
    }

    fn bytes_in(&self, nanos: u128) -> u64 {
        let bytes = nanos.saturating_mul(self.cost.bandwidth.into()) / 1_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn gaps_follow_from_latency_and_bandwidth() {
        assert_eq!(Limits::NONE.coalesce_gap(), 0);
        let cost = Cost {
            latency: Duration::from_millis(20),
            range: Duration::ZERO,
            bandwidth: 100_000_000,
        };
        let remote =
            |max_ranges, concurrency| Limits { max_ranges, concurrency, cost, ..Limits::NONE };
        // 2 MB arrive in 20 ms.
        assert_eq!(remote(1, 1).coalesce_gap(), 2_000_000);
        assert_eq!(remote(1, 8).coalesce_gap(), 250_000);
        assert_eq!(remote(1000, 8).coalesce_gap(), 250);
        assert_eq!(remote(1000, 8).request_bytes(), 2_000_000);
        assert_eq!(remote(1000, 64).request_bytes(), 1 << 20);
        assert_eq!(Limits { gap: Some(7), ..remote(1, 1) }.coalesce_gap(), 7);
        assert!(!remote(1, 1).is_near() && Limits::NONE.is_near());
    }

    #[test]
    fn two_sources_as_one_are_as_slow_as_the_slower() {
        let cost = Cost {
            latency: Duration::from_millis(1),
            range: Duration::from_micros(3),
            bandwidth: 7,
        };
        let remote =
            Limits { max_ranges: 5, max_range_bytes: 9, concurrency: 1, cost, ..Limits::NONE };
        assert_eq!(Limits { concurrency: 4, ..Limits::NONE }.stricter(remote), remote);
    }

    #[test]
    fn short_requests_fill_the_line() {
        let cost = Cost {
            latency: Duration::from_millis(50),
            range: Duration::ZERO,
            bandwidth: 20_000_000,
        };
        let limits = Limits { concurrency: 8, short_concurrency: 32, cost, ..Limits::NONE };
        // 1 MB arrives in 50 ms: 10 requests for 100 kB.
        assert_eq!(limits.requests_at_once(100, 10_000_000), 10);
        assert_eq!(limits.requests_at_once(100, 1_000_000), 32);
        assert_eq!(limits.requests_at_once(100, 100_000_000), 8);
        assert_eq!(limits.requests_at_once(3, 3000), 3);
        assert_eq!(limits.requests_at_once(0, 0), 0);
        assert_eq!(Limits::NONE.requests_at_once(100, 1000), 1);
    }
}
