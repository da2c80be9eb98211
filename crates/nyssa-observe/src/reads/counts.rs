//! Declares the counters of what was opened and read. The names are those that JCache prints.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// Returns the value of a counter: times are counted in nanoseconds.
macro_rules! value {
    (seconds, $count:expr) => {
        $count as f64 / 1e9
    };
    (rate, $count:expr) => {
        $count as f64
    };
    ($kind:ident, $count:expr) => {
        $count
    };
}

/// Returns the value of a counter for two groups of resources together.
macro_rules! together {
    (longest, $one:expr, $other:expr) => {
        $one.max($other)
    };
    ($kind:ident, $one:expr, $other:expr) => {
        $one + $other
    };
}

/// Makes [`Counters`] and [`IoCounts`] of the declarations of all counters, with their kinds and meanings. Values that
/// follow from others are `derived`. They have the order of the JSON form.
macro_rules! counters {
    ($(
        counted { $($(#[doc = $meaning:literal])+ $counter:ident: $type:ty = $kind:ident,)+ }
        derived { $($(#[doc = $result:literal])+ $derived:ident: $derived_type:ty,)* }
    )+) => {
        /// The counters, which threads share.
        #[derive(Debug, Default)]
        pub(super) struct Counters {
            $($(pub(super) $counter: AtomicU64,)+)+
        }

        /// The counts of an [`IoStats`](crate::IoStats). Sizes are in bytes, and times in seconds.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[non_exhaustive]
        pub struct IoCounts {
            $(
                $($(#[doc = $meaning])+ pub $counter: $type,)+
                $($(#[doc = $result])+ pub $derived: $derived_type,)*
            )+
        }

        impl Counters {
            /// Returns the counts after a time in seconds.
            pub(super) fn counts(&self, seconds: f64) -> IoCounts {
                let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
                let counts = IoCounts {
                    $($($counter: value!($kind, get(&self.$counter)),)+)+
                    ..IoCounts::default()
                };
                counts.after(seconds)
            }
        }

        impl IoCounts {
            /// Returns the sum with the counts of other resources. Times in which both were busy count twice.
            #[must_use]
            pub fn plus(&self, other: &Self) -> Self {
                let sum = Self {
                    $($($counter: together!($kind, self.$counter, other.$counter),)+)+
                    ..Self::default()
                };
                sum.after(self.seconds.max(other.seconds))
            }
        }
    };
}

counters! {
    counted {
        /// The number of times that a resource was opened.
        open_files: u64 = number,
        /// The number of different resources that were opened.
        open_unique_files: u64 = number,
        /// The sum of the sizes of the different resources.
        unique_files_bytes: u64 = bytes,
        /// The number of requests for one range.
        iops_read: u64 = number,
        /// The number of requests for several ranges.
        iops_readv: u64 = number,
        /// The number of ranges in the requests for several ranges.
        iops_readvread: u64 = number,
        /// The number of bytes that requests for one range brought from the origin.
        bytes_read: u64 = bytes,
        /// The number of bytes that requests for several ranges brought from the origin.
        bytes_readv: u64 = bytes,
        /// The number of bytes of requests for one range that a cache had.
        hit_bytes_read: u64 = bytes,
        /// The number of bytes of requests for several ranges that a cache had.
        hit_bytes_readv: u64 = bytes,
        /// The number of bytes between the ranges of plans that were read because that is faster than to skip them.
        over_read_bytes: u64 = bytes,
        /// The length of the longest chain of opens and requests in which each began after the previous one had
        /// ended.
        round_trips: u64 = longest,
        /// The time in which at least one open or request was under way.
        busy_seconds: f64 = seconds,
        /// The sum of the times that all opens and requests took.
        request_seconds: f64 = seconds,
    }
    derived {
        /// The time since the counting began.
        seconds: f64,
        /// The number of bytes that came from the origin or from a cache, divided by the time since the counting
        /// began.
        bytes_per_second: f64,
    }
    counted {
        /// The largest number of bytes that came within one second.
        peak_bytes_per_second: f64 = rate,
    }
    derived {
        /// The part of all bytes that a cache had, from 0 to 1. It is `None` if no byte was read.
        hit_rate: Option<f64>,
    }
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

    /// Returns the counts after a time in seconds, with the values that follow from it.
    fn after(self, seconds: f64) -> Self {
        let all = (self.bytes() + self.hit_bytes()) as f64;
        let bytes_per_second = if seconds > 0.0 { all / seconds } else { 0.0 };
        // In the first second, the peak is the average so far. Later it is the peak of a whole second.
        let is_early = seconds < 1.0;
        let peak = if is_early { bytes_per_second } else { self.peak_bytes_per_second };
        Self {
            seconds,
            bytes_per_second,
            peak_bytes_per_second: peak,
            hit_rate: (all > 0.0).then(|| self.hit_bytes() as f64 / all),
            ..self
        }
    }
}
