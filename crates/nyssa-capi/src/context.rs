//! The threads, the progress and the cancellation of work.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nyssa_root::{Context, Result};

use crate::call;
use crate::error::{nyssa_error, nyssa_status};
use crate::handle::{self, Handled};

/// The threads on which work is done, with its progress and its end. Where a function takes a context, null means all
/// cores, no progress and no cancellation. Several calls may use one context at the same time.
pub struct nyssa_context {
    _opaque: [u8; 0],
}

/// What is behind a `nyssa_context`.
pub(crate) struct Threads {
    pub context: Context,
    cancel: Arc<AtomicBool>,
    user: Arc<User>,
}

impl Handled for Threads {
    const WHAT: &'static str = "context";
    type Opaque = nyssa_context;
}

/// A callback that gets what is done and the total, in bytes or entries, and `user` of the context. Threads of nyssa call
/// it, never two at the same time. Of the functions that can fail it may call `nyssa_context_cancel` only; all others return
/// `NYSSA_INVALID_ARGUMENT` in it. If it returns another number than 0, the context is cancelled as by
/// `nyssa_context_cancel`.
pub type nyssa_progress =
    Option<unsafe extern "C" fn(user: *mut c_void, done: u64, total: u64) -> i32>;

/// The `user` of a callback. The caller promises that threads may have it until the context is closed.
struct User {
    pointer: *mut c_void,
    /// Keeps other threads out while the callback runs.
    runs: Mutex<()>,
    closed: AtomicBool,
}

// SAFETY: `nyssa_context_new` lets callers promise that their callback may be called by any thread with this pointer.
unsafe impl Send for User {}
// SAFETY: as above; the lock keeps other threads out.
unsafe impl Sync for User {}

impl User {
    /// Calls the callback of a context that is not closed. Returns whether the work ends.
    ///
    /// # Safety
    /// `progress` may be called with the pointer.
    unsafe fn call(
        &self,
        progress: unsafe extern "C" fn(*mut c_void, u64, u64) -> i32,
        (done, total): (u64, u64),
    ) -> bool {
        let _runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if self.closed.load(Ordering::Relaxed) {
            return false;
        }
        // SAFETY: the caller promises it.
        call::callback(|| unsafe { progress(self.pointer, done, total) }) != 0
    }
}

/// Streams and calls may go on with a context that is closed. They call no callback then.
impl Drop for Threads {
    fn drop(&mut self) {
        self.user.closed.store(true, Ordering::Relaxed);
        // A callback that runs now ends first, unless it is the one that closes the context.
        if !call::in_callback() {
            drop(self.user.runs.lock());
        }
    }
}

/// Makes a context with so many threads; 0 means the value of the environment variable `NYSSA_NUM_THREADS`, else all cores.
///
/// Errors: `NYSSA_INVALID_ARGUMENT` for more than 1024 threads.
///
/// # Safety
/// `progress` is null, or a function that any thread may call with `user` until `nyssa_close` of the context has returned,
/// which waits for a callback that runs. `context` and `error` are null, or places for pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_context_new(
    threads: u32,
    progress: nyssa_progress,
    user: *mut c_void,
    context: *mut *mut nyssa_context,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let make = || {
        let threads = (threads > 0).then_some(threads as usize);
        let cancel = Arc::new(AtomicBool::new(false));
        let mut made = Context::kept(threads)?.with_cancel(Arc::clone(&cancel));
        let closed = AtomicBool::new(false);
        let user = Arc::new(User { pointer: user, runs: Mutex::default(), closed });
        if let Some(progress) = progress {
            let (user, stop) = (Arc::clone(&user), Arc::clone(&cancel));
            made = made.with_progress(Arc::new(move |done, total| {
                // SAFETY: the caller of `nyssa_context_new` promises it.
                if unsafe { user.call(progress, (done, total)) } {
                    stop.store(true, Ordering::Relaxed);
                }
            }));
        }
        Ok(handle::open(Threads { context: made, cancel, user }))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, context, make) }
}

/// Cancels the work of a context: running calls end soon with `NYSSA_CANCELLED`, and later calls at once. With `cancelled`
/// false, later calls work again. Any thread may call it, also a signal handler's thread.
///
/// # Safety
/// `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_context_cancel(
    context: *const nyssa_context,
    cancelled: bool,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let cancel = || {
        handle::get::<Threads>(context)?.cancel.store(cancelled, Ordering::Relaxed);
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { call::run_always(error, cancel) }
}

/// Returns the context of a handle, which may be null.
pub(crate) fn context_of(context: *const nyssa_context) -> Result<Context> {
    match context.is_null() {
        true => Context::kept(None),
        false => Ok(handle::get::<Threads>(context)?.context.clone()),
    }
}
