//! How every function of the interface runs: arguments are checked, no panic leaves, and errors become a status.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use nyssa_root::{Error, Result};

use crate::error::{NYSSA_OK, nyssa_error, nyssa_status};

thread_local! {
    /// Whether a callback of the caller runs in this thread.
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs a callback of the caller. Until it returns, this thread gets errors of all functions that work.
pub(crate) fn callback<T>(callback: impl FnOnce() -> T) -> T {
    let before = IN_CALLBACK.replace(true);
    let value = callback();
    IN_CALLBACK.set(before);
    value
}

/// Returns whether a callback of the caller runs in this thread.
pub(crate) fn in_callback() -> bool {
    IN_CALLBACK.get()
}

/// Runs `work`, as [`run_always`] does, if the thread is in no callback, which would wait for itself.
///
/// # Safety
/// `error` is null, or a place for a pointer.
pub(crate) unsafe fn run(
    error: *mut *mut nyssa_error,
    work: impl FnOnce() -> Result<()>,
) -> nyssa_status {
    let outside = || match in_callback() {
        true => Err(Error::invalid_argument(
            "a callback of progress may only call nyssa_context_cancel: call other functions after the call that reports \
             its progress",
        )),
        false => work(),
    };
    // SAFETY: the caller promises it.
    unsafe { run_always(error, outside) }
}

/// Runs `work`. Its error, or a panic, becomes the status, and the object at `error` if this is not null.
///
/// # Safety
/// `error` is null, or a place for a pointer.
pub(crate) unsafe fn run_always(
    error: *mut *mut nyssa_error,
    work: impl FnOnce() -> Result<()>,
) -> nyssa_status {
    // What a panic leaves is behind locks that no later call trusts, or is dropped.
    let failed = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some(nyssa_error::of(&failure)),
        Err(panic) => Some(nyssa_error::internal(panic_message(panic.as_ref()))),
    };
    let status = failed.as_ref().map_or(NYSSA_OK, nyssa_error::status);
    if !error.is_null() {
        let object = failed.map_or(std::ptr::null_mut(), |failed| Box::into_raw(Box::new(failed)));
        // SAFETY: the caller promises that a pointer has place there.
        unsafe { error.write(object) };
    }
    status
}

/// Writes the result of `work` to `out`.
///
/// # Safety
/// `error` is null, or a place for a pointer; `out` is null, or a place for the result.
pub(crate) unsafe fn give<T>(
    error: *mut *mut nyssa_error,
    out: *mut T,
    work: impl FnOnce() -> Result<T>,
) -> nyssa_status {
    let give = || {
        not_null(out, "the place of the result")?;
        let value = work()?;
        // SAFETY: it is not null, so the caller promises that the result has place there.
        unsafe { out.write(value) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { run(error, give) }
}

/// Writes a value where the caller wants it.
///
/// # Safety
/// `out` is null, or a place for the value.
pub(crate) unsafe fn put<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: it is not null, so the caller promises that the value has place there.
        unsafe { out.write(value) };
    }
}

/// Refuses a null pointer.
pub(crate) fn not_null<T>(pointer: *const T, what: &str) -> Result<()> {
    match pointer.is_null() {
        true => Err(Error::invalid_argument(format!("{what} is null"))),
        false => Ok(()),
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
