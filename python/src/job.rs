//! Runs calls into the core that may take time, each as a job on a thread of its own.
//!
//! The job runs on its own thread with the GIL released. The calling thread wakes up every
//! [`POLL`] to let Python handle signals (Ctrl-C sets the job's cancel flag) and to call the
//! progress callback, so that workers never touch Python.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use nyssa_root::error::{Error, Kind};
use nyssa_root::{Context, Result};
use pyo3::prelude::*;

use crate::errors;

/// The longest time until Ctrl-C is noticed.
const POLL: Duration = Duration::from_millis(20);

/// The time that an interrupted job gets to end, if nothing is left behind when it goes on.
const GRACE: Duration = Duration::from_millis(60);

/// The settings of a run of a job: its threads, its progress, and its end when the user interrupts it.
#[derive(Default)]
pub(crate) struct Job<'py> {
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
    abandon: bool,
    keeps_memory: bool,
    cancel: Arc<AtomicBool>,
}

impl<'py> Job<'py> {
    /// Returns a job on `threads` threads; `None` means the default of [`Context::new`].
    pub(crate) fn new(threads: Option<usize>) -> Self {
        Self { threads, ..Self::default() }
    }

    /// Calls `progress(done, total)` from the calling thread while the job runs.
    pub(crate) fn progress(mut self, progress: Option<Bound<'py, PyAny>>) -> Self {
        self.progress = progress;
        self
    }

    /// Marks the job as one that only reads. If it is interrupted, it may be left to end by itself.
    pub(crate) fn abandonable(mut self) -> Self {
        self.abandon = true;
        self
    }

    /// Keeps the memory of arrays that are freed for the next ones.
    pub(crate) fn keeps_memory(mut self) -> Self {
        self.keeps_memory = true;
        self
    }

    /// Sets this flag when the user interrupts, for jobs with a context of their own.
    pub(crate) fn cancel(mut self, cancel: Arc<AtomicBool>) -> Self {
        self.cancel = cancel;
        self
    }

    /// Runs `job` and returns its result, or the exception for its error, panic or interruption.
    pub(crate) fn run<T: Send + 'static>(
        self,
        py: Python<'py>,
        job: impl FnOnce(&Context) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let cancel = Arc::clone(&self.cancel);
        // The user has been told of an interruption of earlier work with this flag.
        let was_interrupted = cancel.load(Ordering::Relaxed);
        let counts = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
        let context = Context::kept(self.threads)
            .map_err(|error| errors::to_python(py, &error))?
            .with_cancel(Arc::clone(&cancel))
            .with_progress({
                let counts = Arc::clone(&counts);
                Arc::new(move |done, total| {
                    // Threads may report out of order. Another total begins another stage.
                    if counts.1.swap(total, Ordering::Relaxed) == total {
                        counts.0.fetch_max(done, Ordering::Relaxed);
                    } else {
                        counts.0.store(done, Ordering::Relaxed);
                    }
                })
            });
        let (sender, mut receiver) = channel();
        let context = if self.keeps_memory { context.with_kept_memory() } else { context };
        std::thread::Builder::new().name("nyssa-job".into()).spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| job(&context)));
            // The next job can have these threads.
            drop(context);
            let _ = sender.send(result);
        })?;
        let report = || -> PyResult<()> {
            let (done, total) =
                (counts.0.load(Ordering::Relaxed), counts.1.load(Ordering::Relaxed));
            match &self.progress {
                Some(progress) if total > 0 => progress.call1((done, total)).map(|_| ()),
                _ => Ok(()),
            }
        };
        let result = loop {
            match wait(py, &mut receiver, POLL) {
                Ok(result) => break result,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(errors::internal(py, "the job ended without a result"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            // Signals are handled here, because Python handles them in its main thread only.
            if let Err(interruption) = py.check_signals().and_then(|()| report()) {
                cancel.store(true, Ordering::Relaxed);
                if self.abandon {
                    let _ = wait(py, &mut receiver, GRACE);
                } else {
                    while let Err(RecvTimeoutError::Timeout) = wait(py, &mut receiver, POLL) {}
                }
                return Err(interruption);
            }
        };
        match result {
            Ok(Ok(value)) => report().map(|()| value),
            Ok(Err(error)) if was_interrupted && error.kind() == Kind::Cancelled => {
                let ended = "an earlier interruption ended this work: begin it again";
                Err(errors::to_python(py, &Error::invalid_argument(ended)))
            }
            Ok(Err(error)) => Err(errors::to_python(py, &error)),
            Err(panic) => Err(errors::internal(py, panic_message(panic.as_ref()))),
        }
    }
}

type Outcome<T> = std::thread::Result<Result<T>>;

fn wait<T: Send>(
    py: Python<'_>,
    receiver: &mut Receiver<Outcome<T>>,
    limit: Duration,
) -> std::result::Result<Outcome<T>, RecvTimeoutError> {
    py.detach(move || receiver.recv_timeout(limit))
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
