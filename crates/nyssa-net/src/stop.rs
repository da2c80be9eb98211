//! Defines a signal that ends waiting for a server.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time between two checks of the signal.
const POLL: Duration = Duration::from_millis(20);

/// A signal that work must stop. Clones share the signal.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

/// The signals that stop what this process opens without a signal of its own, the newest last.
static OF_PROCESS: Mutex<Vec<Stop>> = Mutex::new(Vec::new());

/// A guard. Its signal is the signal of the process until it is dropped.
#[must_use]
pub struct StopOfProcess(Stop);

impl Drop for StopOfProcess {
    fn drop(&mut self) {
        let mut all = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|stop| !Arc::ptr_eq(&stop.0, &self.0.0));
    }
}

impl Stop {
    /// Makes a signal from a flag. Setting the flag to true gives the signal.
    pub fn of(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }

    /// Returns the signal of the process, if there is one.
    pub fn of_process() -> Option<Self> {
        OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner).last().cloned()
    }

    /// Makes this the signal of the process, as long as the returned value exists. A program with one task at a
    /// time, such as a command line, passes no signal to each thing that it opens then.
    pub fn for_process(self) -> StopOfProcess {
        OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner).push(self.clone());
        StopOfProcess(self)
    }

    /// Gives the signal.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the signal was given.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns an error if the signal was given.
    pub fn check(&self) -> io::Result<()> {
        if self.is_set() { Err(stopped()) } else { Ok(()) }
    }

    /// Sleeps for a time, but no longer than until the signal is given.
    pub fn sleep(&self, time: Duration) -> io::Result<()> {
        let begin = Instant::now();
        loop {
            self.check()?;
            match time.checked_sub(begin.elapsed()) {
                Some(left) if !left.is_zero() => std::thread::sleep(left.min(POLL)),
                _ => return Ok(()),
            }
        }
    }

    /// Runs `work` on a thread, and waits for its result until the signal is given. `work` then ends by itself.
    pub fn wait_for<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        let (sender, receiver) = channel();
        std::thread::Builder::new()
            .name("nyssa-wait".to_owned())
            // The receiver may be gone already.
            .spawn(move || drop(sender.send(work())))?;
        loop {
            self.check()?;
            match receiver.recv_timeout(POLL) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other(
                        "a thread of nyssa ended unexpectedly; this is a bug of nyssa, please \
                         report it",
                    ));
                }
            }
        }
    }
}

/// The cause of an error after the signal was given.
#[derive(Debug)]
struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it was stopped")
    }
}

impl std::error::Error for Stopped {}

/// Makes the error after the signal was given.
pub fn stopped() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, Stopped)
}

/// Returns whether an error means that the signal was given.
pub fn is_stopped(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|reason| reason.is::<Stopped>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_and_work_end_when_the_signal_is_given() {
        let stop = Stop::default();
        assert!(stop.sleep(Duration::from_millis(1)).is_ok());
        assert_eq!(stop.wait_for(|| 1).unwrap(), 1);
        let begin = Instant::now();
        std::thread::scope(|scope| {
            let sleeping = scope.spawn(|| stop.sleep(Duration::from_secs(10)));
            let waiting =
                scope.spawn(|| stop.wait_for(|| std::thread::sleep(Duration::from_secs(3))));
            std::thread::sleep(Duration::from_millis(30));
            stop.set();
            assert!(is_stopped(&sleeping.join().unwrap().unwrap_err()));
            let error = waiting.join().unwrap().unwrap_err();
            assert!(is_stopped(&error));
            assert_eq!(error.to_string(), "it was stopped");
        });
        assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    }

    #[test]
    fn the_process_has_the_newest_signal_that_is_left() {
        // Other tests of the process may have signals, too.
        let (first, second) = (Stop::default().for_process(), Stop::default().for_process());
        let has = |item: &StopOfProcess| {
            let all = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
            all.iter().any(|stop| Arc::ptr_eq(&stop.0, &item.0.0))
        };
        assert!(has(&first) && has(&second) && Stop::of_process().is_some());
        drop(first);
        assert!(has(&second));
    }
}
