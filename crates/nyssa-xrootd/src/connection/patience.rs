//! Reads a socket until bytes arrive, or until it is useless to wait.

use std::io::{self, ErrorKind, Read};
use std::time::{Duration, Instant};

/// A reader and writer of a socket, with a short time limit for each call of the system.
pub(super) struct Patient<R, F> {
    inner: R,
    /// A function that decides whether to give up, and returns the reason. It is called again and again, with
    /// the time at which the last byte arrived.
    gives_up: F,
    heard: Instant,
}

impl<R, F> Patient<R, F> {
    pub(super) fn new(inner: R, gives_up: F) -> Self {
        Self { inner, gives_up, heard: Instant::now() }
    }
}

impl<R: Read, F: FnMut(Instant) -> Option<io::Error>> Read for Patient<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.inner.read(buffer) {
                Ok(read) => {
                    self.heard = Instant::now();
                    return Ok(read);
                }
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) =>
                {
                    if let Some(error) = (self.gives_up)(self.heard) {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Returns the time between two calls of it, if it gives up after `limit`.
pub(super) fn tick(limit: Duration) -> Duration {
    (limit / 8).clamp(Duration::from_millis(10), Duration::from_secs(5))
}
