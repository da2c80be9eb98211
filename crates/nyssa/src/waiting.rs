//! Work that mostly waits for answers of a network, on more threads than there are cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

use crate::error::Result;

/// Maximum number of threads that wait at the same time for one job.
pub(crate) const AT_ONCE: usize = 16;

/// Runs `work` for each item on up to [`AT_ONCE`] threads, and returns the results in the order of the items.
/// After an error no further item is begun. The threads must not be workers of a pool that `work` uses.
///
/// # Errors
/// The error of the first item that failed.
pub(crate) fn wait_for_all<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let run = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return };
            let result = work(item);
            if result.is_err() {
                next.store(items.len(), Ordering::Relaxed);
            }
            done.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    std::thread::scope(|scope| {
        for number in 1..AT_ONCE.min(items.len()) {
            let thread = Builder::new().name(format!("nyssa-wait-{number}"));
            if thread.spawn_scoped(scope, run).is_err() {
                // The threads that have started do all the work.
                break;
            }
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
