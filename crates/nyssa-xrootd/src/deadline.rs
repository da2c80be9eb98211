//! Defines the end of a request: a time, or a signal before it.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use nyssa_net::Stop;

use super::failure::Failure;

/// The time at which a request must end, and the signal that can end it earlier.
#[derive(Clone, Debug)]
pub(super) struct Deadline {
    pub at: Instant,
    stop: Stop,
}

impl Deadline {
    /// Makes the deadline of a request that begins now and may take `time`.
    pub(crate) fn after(time: Duration) -> Self {
        Self { at: Instant::now() + time, stop: Stop::default() }
    }

    /// Sets a signal that can end the request earlier.
    pub(crate) fn until(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// Returns the time that is left.
    pub(crate) fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// Returns an error if the signal was given.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.stop.check().map_err(|error| Failure::last(ErrorKind::Interrupted, error.to_string()))
    }

    /// Sleeps for a time, but no longer than until the signal is given.
    pub(crate) fn sleep(&self, time: Duration) -> Result<(), Failure> {
        let slept = self.stop.sleep(time);
        slept.map_err(|error| Failure::last(ErrorKind::Interrupted, error.to_string()))
    }
}
