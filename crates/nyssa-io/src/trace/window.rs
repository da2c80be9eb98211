//! Computes the congestion window of a TCP connection: how many bytes a sender has under way. It does no I/O.
//!
//! A connection begins with ten segments (RFC 6928). As long as the window is used up, it doubles in each round
//! trip, until the bandwidth or the largest window is reached. After an idle time a connection begins again
//! (RFC 5681). Losses are not simulated.

use std::time::{Duration, Instant};

/// The window of a new connection: ten segments of 1460 bytes.
pub(super) const INITIAL: u64 = 10 * 1460;
/// The time without a byte, in addition to a round trip, after which a connection begins again. It is the
/// shortest time after which Linux sends bytes again.
const IDLE: Duration = Duration::from_millis(200);

/// The window of one connection.
#[derive(Clone, Debug)]
pub(super) struct Window {
    trip: Duration,
    /// The largest number of bytes under way.
    most: u64,
    /// The number of bytes that may be under way at the begin, and now.
    start: u64,
    bytes: u64,
    /// The begin of the round trip for which `sent` counts.
    round: Instant,
    sent: u64,
    last: Instant,
}

impl Window {
    /// Makes the window of a connection that is open at `now`, with round trips of `trip`. It has at most
    /// `most` bytes.
    pub(super) fn new(trip: Duration, most: u64, now: Instant) -> Self {
        let start = INITIAL.min(most);
        Self { trip, most, start, bytes: start, round: now, sent: 0, last: now }
    }

    /// Makes a window that is never used up.
    pub(super) fn unlimited(trip: Duration, now: Instant) -> Self {
        Self { start: u64::MAX, bytes: u64::MAX, ..Self::new(trip, u64::MAX, now) }
    }

    /// Returns the number of bytes that may be sent at `now`, which must not decrease. If this is zero, the
    /// error is the time at which there will be more.
    pub(super) fn room(&mut self, now: Instant) -> Result<u64, Instant> {
        if now >= self.last + self.trip + IDLE {
            (self.round, self.sent) = (now, 0);
            self.bytes = self.start;
        }
        if now >= self.round + self.trip {
            if self.sent >= self.bytes {
                self.bytes = self.bytes.saturating_mul(2).min(self.most);
            }
            (self.round, self.sent) = (now, 0);
        }
        if self.sent == 0 {
            self.round = now;
        }
        match self.bytes.saturating_sub(self.sent) {
            0 => Err(self.round + self.trip),
            room => Ok(room),
        }
    }

    /// Counts bytes whose sending ends at `end`.
    pub(super) fn sent(&mut self, bytes: u64, end: Instant) {
        self.sent = self.sent.saturating_add(bytes);
        self.last = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many round trips the bytes take over a line without limit.
    fn trips(window: &mut Window, mut bytes: u64, begin: Instant) -> u32 {
        let (mut now, mut trips) = (begin, 0);
        while bytes > 0 {
            match window.room(now) {
                Ok(room) => {
                    let part = room.min(bytes);
                    window.sent(part, now);
                    bytes -= part;
                }
                Err(later) => (now, trips) = (later, trips + 1),
            }
        }
        trips
    }

    #[test]
    fn a_window_doubles_in_each_round_trip() {
        let (trip, begin) = (Duration::from_millis(50), Instant::now());
        // After n round trips, 10 * 1460 * (2^(n+1) - 1) bytes are sent.
        for (bytes, expected) in
            [(1, 0), (14_600, 0), (14_601, 1), (43_800, 1), (43_801, 2), (1_000_000, 6)]
        {
            let mut window = Window::new(trip, u64::MAX, begin);
            assert_eq!(trips(&mut window, bytes, begin), expected, "{bytes} bytes");
        }
        // With a largest window of 20,000 bytes: 14,600, then 20,000 in each round trip.
        let mut window = Window::new(trip, 20_000, begin);
        assert_eq!(trips(&mut window, 14_600 + 5 * 20_000, begin), 5);
    }

    #[test]
    fn an_idle_connection_begins_anew() {
        let (trip, begin) = (Duration::from_millis(50), Instant::now());
        let mut window = Window::new(trip, u64::MAX, begin);
        assert_eq!(trips(&mut window, 1_000_000, begin), 6);
        let end = begin + 6 * trip;
        assert!(window.clone().room(end + trip).unwrap() >= 64 * INITIAL / 2);
        assert_eq!(window.room(end + trip + IDLE), Ok(INITIAL));
        // A connection that sends little keeps its window, which does not grow.
        let mut window = Window::new(trip, u64::MAX, begin);
        for round in 0..10 {
            assert_eq!(window.room(begin + round * trip), Ok(INITIAL));
            window.sent(100, begin + round * trip);
        }
    }
}
