//! Reads a socket until something comes, or until waiting makes no sense any more.

use std::io::{self, ErrorKind, Read};
use std::time::{Duration, Instant};

/// Reads and writes bytes of a socket, with a short time limit for each call of the system.
pub(super) struct Patient<R, F> {
    inner: R,
    /// Whether to give up, and why. It is asked again and again, with the time when the last byte came.
    gives_up: F,
    heard: Instant,
}

impl<R, F> Patient<R, F> {
    pub fn new(inner: R, gives_up: F) -> Self {
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

/// How often a thread asks whether to give up, where it gives up after `limit`.
pub(super) fn tick(limit: Duration) -> Duration {
    (limit / 8).clamp(Duration::from_millis(10), Duration::from_secs(5))
}
