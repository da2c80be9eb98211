//! Receives the spans of all threads from the crate `tracing`.

use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, Subscriber, set_global_default};
use tracing::{Event, Metadata};

use super::log::{Log, Values};
use super::{nanoseconds, runs_already};
use crate::error::{Error, Result};

/// The crates whose spans are recorded.
const OURS: &str = "nyssa";

/// The number of the running profile, or 0.
static RUNNING: AtomicU64 = AtomicU64::new(0);
/// The running profile.
static CURRENT: Mutex<Option<Arc<Logs>>> = Mutex::new(None);
/// The number of the last span.
static LAST_SPAN: AtomicU64 = AtomicU64::new(0);
/// Whether spans come to this module. A program can have only one subscriber for all threads, and it stays for ever.
static INSTALLED: OnceLock<bool> = OnceLock::new();

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
    /// The number of spans that have ended.
    events: AtomicU64,
}

/// A running profile. Ends when it is finished or dropped.
pub(super) struct Recording(Arc<Logs>);

impl Recording {
    /// Starts to record.
    ///
    /// # Errors
    /// `InvalidArgument` if another profiler runs; `Unsupported` if the program has a `tracing` subscriber of its
    /// own.
    pub(super) fn start(begun: Instant) -> Result<Self> {
        let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        if current.is_some() {
            return Err(runs_already());
        }
        if !*INSTALLED.get_or_init(|| set_global_default(Recorder).is_ok()) {
            let why = "this program has a subscriber of `tracing` of its own, which gets the spans";
            return Err(Error::unsupported(format!("the profiler cannot run: {why}")));
        }
        let number = LAST_SPAN.fetch_add(1, Ordering::Relaxed) + 1;
        let logs = Logs { number, begun, logs: Mutex::default(), events: AtomicU64::new(0) };
        let logs = Arc::new(logs);
        *current = Some(Arc::clone(&logs));
        RUNNING.store(number, Ordering::Release);
        tracing::callsite::rebuild_interest_cache();
        Ok(Self(logs))
    }

    /// Ends the recording. Returns the time that it took, and the logs of the threads that had spans.
    pub(super) fn finish(self) -> (Duration, Vec<Log>) {
        let passed = self.0.begun.elapsed();
        self.stop();
        let logs = std::mem::take(&mut *lock(&self.0.logs));
        let take = |log: Arc<Mutex<Log>>| {
            let mut log = lock(&log);
            let taken = std::mem::take(&mut *log);
            log.ended = true;
            taken
        };
        (passed, logs.into_iter().map(take).collect())
    }

    fn stop(&self) {
        let mut current = lock(&CURRENT);
        if current.as_ref().is_some_and(|logs| Arc::ptr_eq(logs, &self.0)) {
            *current = None;
            RUNNING.store(0, Ordering::Release);
            tracing::callsite::rebuild_interest_cache();
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.stop();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` on the log of this thread, with the time since the start of the profile.
fn on_log(work: impl FnOnce(&mut Log, u64, &AtomicU64)) {
    let number = RUNNING.load(Ordering::Acquire);
    if number == 0 {
        return;
    }
    // The log of a thread that ends is dropped.
    let _ = LOG.try_with(|mine| {
        let mut mine = mine.borrow_mut();
        if mine.as_ref().is_none_or(|mine| mine.logs.number != number) {
            *mine = new_log(number);
        }
        if let Some(ThreadLog { log, logs }) = &*mine {
            let now = nanoseconds(logs.begun.elapsed());
            work(&mut lock(log), now, &logs.events);
        }
    });
}

/// Returns a log for this thread, if the profile still runs.
fn new_log(number: u64) -> Option<ThreadLog> {
    let logs = lock(&CURRENT).clone().filter(|logs| logs.number == number)?;
    let thread = std::thread::current();
    let log = Log::new(thread.name().unwrap_or("caller").to_owned());
    let log = Arc::new(Mutex::new(log));
    lock(&logs.logs).push(Arc::clone(&log));
    Some(ThreadLog { log, logs })
}

/// The subscriber.
struct Recorder;

impl Subscriber for Recorder {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target().starts_with(OURS)
    }

    /// Returns the level of spans that are made. The level is none while no profile runs.
    fn max_level_hint(&self) -> Option<LevelFilter> {
        let runs = RUNNING.load(Ordering::Acquire) != 0;
        Some(if runs { LevelFilter::TRACE } else { LevelFilter::OFF })
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = LAST_SPAN.fetch_add(1, Ordering::Relaxed) + 1;
        let mut values = Values::default();
        span.record(&mut values);
        on_log(|log, _, _| log.make(id, span.metadata().name(), values));
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut all = Values::default();
        values.record(&mut all);
        on_log(|log, _, _| log.record(span.into_u64(), &all));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        on_log(|log, now, _| log.begin(span.into_u64(), now));
    }

    fn exit(&self, span: &Id) {
        on_log(|log, now, events| log.end(span.into_u64(), now, events));
    }

    fn try_close(&self, span: Id) -> bool {
        on_log(|log, _, _| log.drop(span.into_u64()));
        true
    }
}

impl Visit for Values {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "bytes_in" => self.bytes_in = value,
            "bytes_out" => self.bytes_out = value,
            _ => {}
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "column" {
            self.column = Some(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}
