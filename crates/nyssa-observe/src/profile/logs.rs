//! Keeps a log of the stages of each thread while a profiler runs.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nyssa_net::PerProcess;

use super::log::Log;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::recorder::{emit, thread};
use crate::switch;
use crate::time::nanoseconds;

/// The number of the last profile.
static LAST: AtomicU64 = AtomicU64::new(0);
/// The logs of the running profile. A child of `fork` has none.
static CURRENT: PerProcess<Mutex<Option<Arc<Logs>>>> = PerProcess::new();

thread_local! {
    /// The log of this thread.
    static LOG: RefCell<Option<ThreadLog>> = const { RefCell::new(None) };
}

/// The log of a thread, and the profile that it belongs to.
struct ThreadLog {
    log: Arc<Mutex<Log>>,
    logs: Arc<Logs>,
}

/// The logs of all threads of one profile.
struct Logs {
    number: u64,
    begun: Instant,
    logs: Mutex<Vec<Arc<Mutex<Log>>>>,
    /// The number of stages that have ended.
    ended: AtomicU64,
}

/// A stage that runs: its profile, and the number of stages around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    profile: u64,
    depth: usize,
}

/// A running profile. Ends when it is finished or dropped.
pub(super) struct RunningLogs(Arc<Logs>);

impl RunningLogs {
    /// Starts to log the stages of all threads.
    ///
    /// # Errors
    /// `Invalid` if another profiler runs.
    pub(super) fn start(begun: Instant) -> Result<Self> {
        let mut current = CURRENT.lock();
        if current.is_some() {
            let why = "a profiler runs already in this process; there can be one at a time";
            return Err(Error::Invalid(why.to_owned()));
        }
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let logs = Logs { number, begun, logs: Mutex::default(), ended: AtomicU64::new(0) };
        let logs = Arc::new(logs);
        *current = Some(Arc::clone(&logs));
        switch::set_profile(number);
        Ok(Self(logs))
    }

    /// Ends the profile. Returns the time that it took, and the logs of the threads that had stages.
    pub(super) fn finish(self) -> (Duration, Vec<Log>) {
        let passed = self.0.begun.elapsed();
        self.stop();
        let logs = std::mem::take(&mut *lock(&self.0.logs));
        (passed, logs.into_iter().map(|log| std::mem::take(&mut *lock(&log))).collect())
    }

    fn stop(&self) {
        let mut current = CURRENT.lock();
        if current.as_ref().is_some_and(|logs| Arc::ptr_eq(logs, &self.0)) {
            *current = None;
            switch::set_profile(0);
        }
    }
}

impl Drop for RunningLogs {
    fn drop(&mut self) {
        self.stop();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins a stage of this thread. Returns `None` if no profile runs.
pub(crate) fn begin(stage: &'static str, column: Option<&str>) -> Option<Place> {
    let profile = switch::profile();
    let depth = on_log(profile, |log, logs| Some(log.begin(stage, column, logs.now())))?;
    Some(Place { profile, depth })
}

/// Ends a stage of this thread, and records it if a recording runs.
pub(crate) fn end(Place { profile, depth }: Place, bytes_in: u64, bytes_out: u64) {
    let _ = on_log(profile, |log, logs| {
        let run = log.end(depth, logs.now(), bytes_in, bytes_out, &logs.ended)?;
        let node = log.nodes.get(run.node)?;
        let at = |time| logs.begun + Duration::from_nanos(time);
        emit(|recorder| Event::Stage {
            stage: Cow::Borrowed(node.stage),
            column: log.column_of(node).map(str::to_owned),
            bytes_in,
            bytes_out,
            start: recorder.time(at(run.start)),
            end: recorder.time(at(run.end)),
            thread: thread(),
        });
        Some(())
    });
}

impl Logs {
    /// Returns the nanoseconds since the start of the profile.
    fn now(&self) -> u64 {
        nanoseconds(self.begun.elapsed())
    }
}

/// Runs `work` on the log that this thread has for a profile. Returns `None` if the profile has ended.
fn on_log<T>(profile: u64, work: impl FnOnce(&mut Log, &Logs) -> Option<T>) -> Option<T> {
    if profile == 0 || profile != switch::profile() {
        return None;
    }
    // The log of a thread that ends is dropped.
    let done = LOG.try_with(|mine| {
        let mut mine = mine.borrow_mut();
        if mine.as_ref().is_none_or(|mine| mine.logs.number != profile) {
            *mine = new_log(profile);
        }
        let ThreadLog { log, logs } = mine.as_ref()?;
        work(&mut lock(log), logs)
    });
    done.ok().flatten()
}

/// Returns a log for this thread, if the profile still runs.
fn new_log(profile: u64) -> Option<ThreadLog> {
    let logs = CURRENT.lock().clone().filter(|logs| logs.number == profile)?;
    let thread = std::thread::current();
    let log = Log::new(thread.name().unwrap_or("caller").to_owned());
    let log = Arc::new(Mutex::new(log));
    lock(&logs.logs).push(Arc::clone(&log));
    Some(ThreadLog { log, logs })
}
