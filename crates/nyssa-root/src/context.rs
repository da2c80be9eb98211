//! Gives every long job its threads, a flag that stops it, and a callback that reports progress.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use nyssa_io::Stop;
use nyssa_io::fetch::AHEAD_BYTES;

use crate::error::{Error, Result};
use crate::page_pool::PagePool;

/// The environment variable that sets the number of threads of everything nyssa does.
pub const THREADS_VARIABLE: &str = "NYSSA_NUM_THREADS";

/// The maximum number of threads. No machine needs more, and many more would use all its memory.
pub const MAX_THREADS: usize = 1024;

/// The pools of threads that later jobs use again, by the number of threads and the process. (A fork does not have the threads of its
/// parent.)
static REUSABLE: LazyLock<Mutex<ReusableContexts>> = LazyLock::new(Mutex::default);

type ReusableContexts = HashMap<(u32, Option<usize>), Vec<Context>>;

/// A callback that gets (bytes or entries done, total). Any thread may call it.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// The threads, cancellation and progress of one job. Cheap to clone.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let context = nyssa::Context::new(Some(2))?;
/// assert_eq!(context.threads(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Context {
    pool: Arc<rayon::ThreadPool>,
    cancel: Arc<AtomicBool>,
    progress: Option<Progress>,
    page_pool: Option<Arc<PagePool>>,
    /// The maximum number of bytes that all threads together hold fetched and not decoded. `None` if memory is
    /// not limited.
    fetch_bytes: Option<u64>,
    /// Whether the memory of arrays that are freed is kept for the next ones.
    keeps_memory: bool,
}

impl Context {
    /// Makes a context with `threads` workers. `None` takes the number from [`THREADS_VARIABLE`], or else uses
    /// all cores.
    ///
    /// # Errors
    /// `InvalidArgument` when `threads` is zero or above [`MAX_THREADS`], or the variable is not a positive
    /// number.
    pub fn new(threads: Option<usize>) -> Result<Self> {
        let threads = match threads {
            Some(threads) => threads,
            None => threads_from_environment()?,
        };
        if threads == 0 {
            return Err(Error::invalid_argument("the number of threads must be at least 1"));
        }
        if threads > MAX_THREADS {
            return Err(Error::invalid_argument(format!(
                "the number of threads must be at most {MAX_THREADS}, not {threads}"
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
            page_pool: None,
            fetch_bytes: None,
            keeps_memory: false,
        })
    }

    /// Returns a context with `threads` workers, as [`Context::new`] does. The threads are kept for later calls.
    ///
    /// Contexts with a number of threads have so many of their own as long as they live, so that several jobs run at the
    /// same time. Contexts with the default share the threads.
    ///
    /// # Errors
    /// `InvalidArgument` for numbers of threads that [`Context::new`] refuses.
    pub fn kept(threads: Option<usize>) -> Result<Self> {
        let mut contexts = REUSABLE.lock().unwrap_or_else(PoisonError::into_inner);
        let reusable = contexts.entry((std::process::id(), threads)).or_default();
        if let Some(context) = reusable.iter().find(|item| threads.is_none() || !item.is_shared()) {
            return Ok(context.clone());
        }
        let context = Self::new(threads)?;
        reusable.push(context.clone());
        Ok(context)
    }

    /// Sets another stop flag. Setting the flag to true stops the work.
    ///
    /// ```
    /// # fn main() -> nyssa::Result<()> {
    /// use std::sync::Arc;
    /// use std::sync::atomic::AtomicBool;
    ///
    /// let stop = Arc::new(AtomicBool::new(true));
    /// let context = nyssa::Context::new(None)?.with_cancel(stop);
    /// let events = nyssa::open("../../testdata/rntuple/plain.root")?;
    /// let error = events.read(&["n"], 0..40, &context).unwrap_err();
    /// assert_eq!(error.kind(), nyssa::Kind::Cancelled);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_cancel(mut self, cancel: Arc<AtomicBool>) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets the callback for progress.
    ///
    /// ```
    /// # fn main() -> nyssa::Result<()> {
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// let done = Arc::new(AtomicU64::new(0));
    /// let seen = Arc::clone(&done);
    /// let context = nyssa::Context::new(None)?;
    /// let context = context.with_progress(Arc::new(move |now, _| seen.store(now, Ordering::Relaxed)));
    /// nyssa::verify("../../testdata/rntuple/plain.root", &context)?;
    /// assert!(done.load(Ordering::Relaxed) > 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_progress(mut self, progress: Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Returns this context without progress. A job that reports its own progress uses it for its parts.
    #[must_use]
    pub fn quiet(&self) -> Self {
        Self { progress: None, ..self.clone() }
    }

    /// Returns this context with another number of threads and without the cache of pages.
    ///
    /// # Errors
    /// `InvalidArgument` when `threads` is zero or above [`MAX_THREADS`].
    pub fn on_threads(&self, threads: usize) -> Result<Self> {
        let Self { cancel, progress, fetch_bytes, keeps_memory, .. } = self.clone();
        Ok(Self { cancel, progress, fetch_bytes, keeps_memory, ..Self::new(Some(threads))? })
    }

    /// Sets the cache of decompressed pages and baskets that several reads share.
    #[must_use]
    pub fn with_page_pool(mut self, page_pool: Arc<PagePool>) -> Self {
        self.page_pool = Some(page_pool);
        self
    }

    /// Returns the cache of pages and baskets that earlier reads decompressed.
    pub fn page_pool(&self) -> Option<&PagePool> {
        self.page_pool.as_deref()
    }

    /// Keeps the memory of arrays that are freed for the next ones. Jobs with a limit of memory do not, because kept memory
    /// would count.
    #[must_use]
    pub fn with_kept_memory(mut self) -> Self {
        self.keeps_memory = true;
        self
    }

    /// Returns whether the memory of arrays that are freed is kept for the next ones.
    pub fn keeps_memory(&self) -> bool {
        self.keeps_memory && self.fetch_bytes.is_none()
    }

    /// Limits the fetched bytes that reads hold to about `bytes`.
    #[must_use]
    pub fn with_fetch_bytes(mut self, bytes: u64) -> Self {
        self.fetch_bytes = Some(bytes);
        self
    }

    /// Returns the bytes that all threads together may have fetched and not yet decoded.
    pub fn ahead_bytes(&self) -> u64 {
        self.fetch_bytes.map_or(AHEAD_BYTES, |bytes| bytes.min(AHEAD_BYTES))
    }

    /// Returns the number of bytes that one thread fetches at once: `wanted`, or less when memory is limited.
    pub fn fetch_bytes(&self, wanted: u64) -> u64 {
        let share = |all: u64| wanted.min(all / self.threads() as u64);
        self.fetch_bytes.map_or(wanted, share)
    }

    /// Returns the thread pool.
    pub fn pool(&self) -> &rayon::ThreadPool {
        &self.pool
    }

    /// Returns whether another context has the same threads.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.pool) > 1
    }

    /// Returns the number of worker threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Fails with `Cancelled` once the user has stopped the work. Jobs call this between units of work.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::cancelled()) } else { Ok(()) }
    }

    /// Returns the signal that ends waiting for servers when the user stops the work. It is an option of opening a
    /// file.
    pub fn stop(&self) -> Stop {
        Stop::of(Arc::clone(&self.cancel))
    }

    /// Returns whether the user has stopped the work.
    pub fn is_cancelled(&self) -> bool {
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
