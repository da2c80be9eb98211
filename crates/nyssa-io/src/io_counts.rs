//! Defines the counts of what was opened and read. The names are those that JCache prints.

use serde::Serialize;

/// The counts of an [`IoStats`](crate::IoStats). Sizes are in bytes, and times in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct IoCounts {
    /// The number of times that a resource was opened.
    pub open_files: u64,
    /// The number of different resources that were opened.
    pub open_unique_files: u64,
    /// The sum of the sizes of the different resources.
    pub unique_files_bytes: u64,
    /// The number of requests for one range.
    pub iops_read: u64,
    /// The number of requests for several ranges.
    pub iops_readv: u64,
    /// The number of ranges in the requests for several ranges.
    pub iops_readvread: u64,
    /// The number of bytes that requests for one range brought from the origin.
    pub bytes_read: u64,
    /// The number of bytes that requests for several ranges brought from the origin.
    pub bytes_readv: u64,
    /// The number of bytes of requests for one range that a cache had.
    pub hit_bytes_read: u64,
    /// The number of bytes of requests for several ranges that a cache had.
    pub hit_bytes_readv: u64,
    /// The number of bytes between the ranges of plans that were read because that is faster than to skip them.
    pub over_read_bytes: u64,
    /// The length of the longest chain of opens and requests in which each began after the one before it had
    /// ended.
    pub round_trips: u64,
    /// The time in which at least one open or request was under way.
    pub busy_seconds: f64,
    /// The sum of the times that all opens and requests took.
    pub request_seconds: f64,
    /// The time since the counting began.
    pub seconds: f64,
    /// The number of bytes that came from the origin or from a cache, divided by the time since the counting
    /// began.
    pub bytes_per_second: f64,
    /// The largest number of bytes that came within one second.
    pub peak_bytes_per_second: f64,
    /// The part of all bytes that a cache had, from 0 to 1. It is `None` if no byte was read.
    pub hit_rate: Option<f64>,
}

impl IoCounts {
    /// Returns the bytes that came from the origin.
    pub fn bytes(&self) -> u64 {
        self.bytes_read + self.bytes_readv
    }

    /// Returns the bytes that a cache had.
    pub fn hit_bytes(&self) -> u64 {
        self.hit_bytes_read + self.hit_bytes_readv
    }

    /// Returns the counts with the rates that follow from them.
    pub(crate) fn with_rates(self) -> Self {
        let all = (self.bytes() + self.hit_bytes()) as f64;
        let bytes_per_second = if self.seconds > 0.0 { all / self.seconds } else { 0.0 };
        // The first second is not over, or the peak is that of a whole second.
        let early = self.seconds < 1.0;
        let peak = if early { bytes_per_second } else { self.peak_bytes_per_second };
        Self {
            bytes_per_second,
            peak_bytes_per_second: peak,
            hit_rate: (all > 0.0).then(|| self.hit_bytes() as f64 / all),
            ..self
        }
    }

    /// Returns the sum with the counts of other resources. Times in which both were busy count twice.
    #[must_use]
    pub fn plus(self, other: &Self) -> Self {
        Self {
            open_files: self.open_files + other.open_files,
            open_unique_files: self.open_unique_files + other.open_unique_files,
            unique_files_bytes: self.unique_files_bytes + other.unique_files_bytes,
            iops_read: self.iops_read + other.iops_read,
            iops_readv: self.iops_readv + other.iops_readv,
            iops_readvread: self.iops_readvread + other.iops_readvread,
            bytes_read: self.bytes_read + other.bytes_read,
            bytes_readv: self.bytes_readv + other.bytes_readv,
            hit_bytes_read: self.hit_bytes_read + other.hit_bytes_read,
            hit_bytes_readv: self.hit_bytes_readv + other.hit_bytes_readv,
            over_read_bytes: self.over_read_bytes + other.over_read_bytes,
            round_trips: self.round_trips.max(other.round_trips),
            busy_seconds: self.busy_seconds + other.busy_seconds,
            request_seconds: self.request_seconds + other.request_seconds,
            seconds: self.seconds.max(other.seconds),
            peak_bytes_per_second: self.peak_bytes_per_second + other.peak_bytes_per_second,
            ..self
        }
        .with_rates()
    }
}
