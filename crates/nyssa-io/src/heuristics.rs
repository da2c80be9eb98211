//! Lists the constants of heuristics: numbers that measurements or experience gave, not a protocol and not a limit that
//! protects. Each has its unit and its reason. Numbers in parentheses are pages of docs/decisions.

/// What sources say about their requests.
pub(crate) mod limits {
    use std::time::Duration;

    /// The latency below which a source is near, such as a disk in this machine. The thread that needs bytes of it
    /// reads them itself.
    pub(crate) const NEAR: Duration = Duration::from_micros(100);
    /// The smallest and largest number of bytes that one request to a remote source should fetch: a smaller one waits
    /// mostly for its latency, and a larger one is lost when a connection breaks.
    pub(crate) const REQUEST_BYTES: (u64, u64) = (1 << 20, 16 << 20);
    /// The number of requests in flight from which on each of them has fewer bytes than the source sends during its
    /// latency.
    pub(crate) const MANY_REQUESTS: usize = 8;
    /// The largest range that is read at once from a near source. Ranges that are read together share a buffer,
    /// which stays in memory as long as any of them.
    pub(crate) const NEAR_MERGED_BYTES: u64 = 8 << 20;
    /// The number of bytes that every plan may read over. They are fewer than what a connection carries in one round
    /// trip when it is new.
    pub(crate) const LEAST_OVER_READ: u64 = 8 << 10;
}

/// Reading ahead.
pub(crate) mod fetch {
    /// The number of bytes that are fetched ahead divided by this is the size of the window in which ranges are
    /// merged in any order.
    pub(crate) const WINDOWS: u64 = 2;
    /// The smallest number of requests whose bytes fit in memory together. Some of them are in flight while others
    /// are decoded.
    pub(crate) const LEAST_REQUESTS: u64 = 16;
    /// The smallest number of bytes that are requested at each end of the first file of a server.
    pub(crate) const LEAST_OF_FIRST: u64 = 16 << 10;
    /// The number of bytes up to which a file is read whole, so that it needs one request.
    pub(crate) const SMALL_BYTES: u64 = 512 << 10;
    /// The divisor of the number of bytes that the source sends during its latency. The quotient is read ahead at each
    /// end.
    pub(crate) const LATENCY_PARTS: u64 = 4;
    /// The largest number of bytes of ends of files that stay in memory for the next opening.
    pub(crate) const KEPT_BYTES: u64 = 32 << 20;
    /// The largest number of bytes that are requested at an end. A new connection of TCP carries the largest ends in three
    /// round trips. Most RNTuples have less metadata.
    pub(crate) const MOST_OF_END: u64 = 48 << 10;
    /// The smallest number of bytes that are requested at an end: fewer bytes save no time.
    pub(crate) const LEAST_OF_END: u64 = 4 << 10;
    /// The divisor of the bytes that earlier files needed at an end. The quotient is requested in addition, because files
    /// are alike but not equal.
    pub(crate) const END_MARGIN: u64 = 8;
}

/// Requests that are made again before they are answered.
pub(crate) mod hedge {
    use std::time::Duration;

    /// The shortest time after which a request is made again.
    pub(crate) const LEAST: Duration = Duration::from_secs(1);
    /// The number of times the expected time after which a request is made again.
    pub(crate) const TIMES: u32 = 3;
    /// The number of requests among which one may be made again, after the first one.
    pub(crate) const PART: u64 = 20;
}

/// Requests of HTTP.
pub(crate) mod http {
    use std::time::Duration;

    /// The largest number of ranges of one request. It is small enough for the limits of servers, and for headers
    /// of usual sizes.
    pub(crate) const MAX_RANGES: usize = 32;
    /// The time that one more range in a request takes: its headers are sent, and the server seeks.
    pub(crate) const RANGE_TIME: Duration = Duration::from_micros(20);
    /// The number of bytes of each range with which a server proves that it answers requests for several ranges.
    pub(crate) const PROOF_BYTES: u64 = 32;
    /// The number of round trips that a plan must need for its short ranges, so that it is worth one more round trip
    /// to ask for a proof first.
    pub(crate) const ROUND_TRIPS: usize = 3;
    /// The number of requests for short ranges after which a server is asked for a proof.
    pub(crate) const SHORT_REQUESTS: u32 = 16;
    /// The number of bytes up to which a range is short.
    pub(crate) const SHORT_BYTES: u64 = 64 << 10;
    /// The largest range of one request. So many bytes are in memory, and are lost when a connection breaks.
    pub(crate) const MAX_RANGE_BYTES: u64 = 16 << 20;
    /// The number of latencies that a plan waits for a proof at the longest, in addition to [`PROOF_TIME`].
    pub(crate) const PROOF_LATENCIES: u32 = 4;
    /// The time that a plan waits for a proof at the longest, in addition to [`PROOF_LATENCIES`].
    pub(crate) const PROOF_TIME: Duration = Duration::from_millis(100);
    /// The number of bytes that count as progress when requests break or bring only a part. Without it, the client would
    /// wait forever for a very slow server.
    pub(crate) const PROGRESS_BYTES: usize = 64 << 10;
    /// The first and the longest pause before a request is made again.
    pub(crate) const WAIT: (Duration, Duration) =
        (Duration::from_millis(100), Duration::from_secs(5));
    /// The maximum number of wrong answers to one request.
    pub(crate) const WRONG_ANSWERS: u32 = 4;
}

/// Local files.
pub(crate) mod local {
    /// The smallest buffer that is reused. The allocator itself reuses the memory of smaller ones.
    pub(crate) const MIN_BYTES: usize = 128 << 10;
    /// The unit to which sizes are rounded up, so that reads of similar sizes can reuse buffers.
    pub(crate) const STEP_BYTES: usize = 1 << 20;
    /// The largest number of bytes in buffers that wait for another read, in the whole process.
    pub(crate) const IDLE_BYTES: usize = 32 << 20;
    /// The number of bytes below which a plan of one range is read by one request, whether it is cached or not.
    pub(crate) const LEAST_BYTES: u64 = 512 << 10;
    /// The number of bytes of a plan that are checked.
    pub(crate) const SAMPLES: usize = 32;
    /// The divisor of the number of checked bytes. A plan is not cached if more than the quotient is not cached.
    pub(crate) const PART: usize = 8;
    /// The size of the buffer that collects small writes, so that thousands of small keys do not need thousands of
    /// system calls.
    pub(crate) const BUFFER_SIZE: usize = 1 << 20;
}

/// The folder of a cache.
pub(crate) mod cache {
    use std::time::Duration;

    /// The largest gap between two records that is read over. Another call takes as long as reading so many bytes.
    pub(crate) const GAP: u64 = 16 << 10;
    /// The largest number of bytes that one call reads, if they are of several records.
    pub(crate) const RUN_BYTES: u64 = 8 << 20;
    /// The longest time that bytes wait until they can be added. They are not kept if others add all the time.
    pub(crate) const PATIENCE: Duration = Duration::from_millis(500);
    /// The pause before a lock is tried again.
    pub(crate) const PAUSE: Duration = Duration::from_micros(500);
    /// The number of ranges of a plan that are checked.
    pub(crate) const LOOKS: usize = 64;
    /// The divisor of the limit. When one process has added the quotient, it measures the folder again.
    pub(crate) const PARTS: u64 = 64;
    /// The divisor of the limit. The quotient is free after resources were removed.
    pub(crate) const FREED: u64 = 10;
    /// The time for which a full folder is not measured again.
    pub(crate) const FULL_TIME: Duration = Duration::from_secs(1);
}
