//! What every long job shares: threads, a way to stop, and a way to report progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nyssa_io::fetch::AHEAD_BYTES;

use crate::error::{Error, Result};
use crate::leftovers::Leftovers;

/// Environment variable that sets the number of threads of everything nyssa does.
pub const THREADS_VARIABLE: &str = "NYSSA_NUM_THREADS";

/// More threads than any machine has use for; far more would take all its memory.
pub const MOST_THREADS: usize = 1024;

/// Called with (bytes or entries done, total); may be called from any thread.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// Threads, cancellation and progress of one job. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    pool: Arc<rayon::ThreadPool>,
    cancel: Arc<AtomicBool>,
    progress: Option<Progress>,
    leftovers: Option<Arc<Leftovers>>,
    /// Bytes that all threads together may fetch at once, where memory is limited.
    fetch_bytes: Option<u64>,
}

impl Context {
    /// A context with `threads` workers; `None` takes [`THREADS_VARIABLE`], else all cores.
    ///
    /// # Errors
    /// `InvalidArgument` when `threads` is zero or above [`MOST_THREADS`], or the variable is not a positive number.
    pub fn new(threads: Option<usize>) -> Result<Self> {
        let threads = match threads {
            Some(threads) => threads,
            None => threads_from_environment()?,
        };
        if threads == 0 {
            return Err(Error::invalid_argument("the number of threads must be at least 1"));
        }
        if threads > MOST_THREADS {
            return Err(Error::invalid_argument(format!(
                "the number of threads must be at most {MOST_THREADS}, not {threads}"
            )));
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("nyssa-{index}"))
            .build()
            .map_err(|error| {
                Error::limit(format!("cannot start {threads} threads")).with_source(error)
            })?;
        Ok(Self {
            pool: Arc::new(pool),
            cancel: Arc::default(),
            progress: None,
            leftovers: None,
            fetch_bytes: None,
        })
    }

    /// The same threads with another stop flag. Setting the flag stops the work.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Arc<AtomicBool>) -> Self {
        self.cancel = cancel;
        self
    }

    /// The same threads with a progress callback.
    #[must_use]
    pub fn with_progress(mut self, progress: Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// The same threads without progress, for the parts of a job that reports its own.
    #[must_use]
    pub fn quiet(&self) -> Self {
        Self { progress: None, ..self.clone() }
    }

    /// The same threads for reads that share decompressed pages and baskets.
    #[must_use]
    pub(crate) fn with_leftovers(mut self, leftovers: Arc<Leftovers>) -> Self {
        self.leftovers = Some(leftovers);
        self
    }

    /// The pages and baskets that earlier reads have decompressed.
    pub(crate) fn leftovers(&self) -> Option<&Leftovers> {
        self.leftovers.as_deref()
    }

    /// The same threads for reads that hold no more than about `bytes` of what they fetched.
    #[must_use]
    pub(crate) fn with_fetch_bytes(mut self, bytes: u64) -> Self {
        self.fetch_bytes = Some(bytes);
        self
    }

    /// Bytes that all threads together may have fetched and not yet decoded.
    pub(crate) fn ahead_bytes(&self) -> u64 {
        self.fetch_bytes.map_or(AHEAD_BYTES, |bytes| bytes.min(AHEAD_BYTES))
    }

    /// Bytes that a thread fetches at once: `wanted`, or less where memory is limited.
    pub(crate) fn fetch_bytes(&self, wanted: u64) -> u64 {
        let share = |all: u64| wanted.min(all / self.threads() as u64);
        self.fetch_bytes.map_or(wanted, share)
    }

    /// The thread pool.
    pub fn pool(&self) -> &rayon::ThreadPool {
        &self.pool
    }

    /// Number of worker threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// `Err(Cancelled)` once the user has asked to stop. Called between work units.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::cancelled()) } else { Ok(()) }
    }

    /// Whether the user has asked to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Reports progress.
    pub fn report(&self, done: u64, total: u64) {
        if let Some(progress) = &self.progress {
            progress(done, total);
        }
    }
}

fn threads_from_environment() -> Result<usize> {
    match std::env::var(THREADS_VARIABLE) {
        Ok(text) => text.trim().parse().map_err(|_| {
            Error::invalid_argument(format!(
                "{THREADS_VARIABLE} is {text:?}, not a number of threads"
            ))
        }),
        Err(_) => Ok(std::thread::available_parallelism().map_or(1, std::num::NonZero::get)),
    }
}
