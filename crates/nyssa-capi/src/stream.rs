//! Streams of batches of the Arrow C stream interface, which keep the errors of nyssa.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use nyssa_data::dataset::steps::Batches;
use nyssa_root::{Error, Result};

use crate::arrow::{batch_out, schema_out};
use crate::call;
use crate::classes::Classes;
use crate::error::*;

/// What is behind a stream.
struct Streaming {
    batches: Batches,
    /// The classes of the objects in its columns.
    classes: Classes,
    /// The error of the last call.
    failed: Option<Box<nyssa_error>>,
}

/// Returns batches as a stream for C.
pub(crate) fn stream_out(batches: Batches, classes: Classes) -> FFI_ArrowArrayStream {
    let streaming = Box::into_raw(Box::new(Streaming { batches, classes, failed: None }));
    // SAFETY: the functions follow the interface with this data, which `release` frees once.
    unsafe {
        FFI_ArrowArrayStream::new_unchecked(
            Some(get_schema),
            Some(get_next),
            Some(get_last_error),
            Some(release),
            streaming.cast(),
        )
    }
}

/// Returns what is behind a stream; `None` for null, for a released stream and for a stream of other libraries.
///
/// # Safety
/// `stream` is null, or a stream that only this thread uses.
unsafe fn behind<'a>(stream: *mut FFI_ArrowArrayStream) -> Option<&'a mut Streaming> {
    // SAFETY: the caller promises it.
    let stream = unsafe { stream.as_ref() }?;
    let own: unsafe extern "C" fn(*mut FFI_ArrowArrayStream) = release;
    let is_own = stream.release().is_some_and(|given| std::ptr::fn_addr_eq(given, own));
    // SAFETY: a stream with this function has this data until it is released.
    is_own.then(|| unsafe { stream.private_data().cast::<Streaming>().as_mut() }).flatten()
}

/// Writes the result of `work` to `out`, and keeps its error.
///
/// # Safety
/// `stream` is a stream that only this thread uses, and `out` is null, or a place for the result.
unsafe fn answer<T>(
    stream: *mut FFI_ArrowArrayStream,
    out: *mut T,
    work: impl FnOnce(&mut Batches, &Classes) -> Result<T>,
) -> c_int {
    // SAFETY: the caller promises it.
    let Some(streaming) = (unsafe { behind(stream) }) else { return libc::EINVAL };
    let mut failed = null_mut();
    let Streaming { batches, classes, .. } = streaming;
    // SAFETY: the error has place there, and the caller promises the rest.
    let status = unsafe { call::give(&raw mut failed, out, || work(batches, classes)) };
    // SAFETY: the error was just made by `Box::into_raw`.
    streaming.failed = (!failed.is_null()).then(|| unsafe { Box::from_raw(failed) });
    code(status)
}

unsafe extern "C" fn get_schema(
    stream: *mut FFI_ArrowArrayStream,
    schema: *mut FFI_ArrowSchema,
) -> c_int {
    // SAFETY: users of the interface promise it.
    unsafe {
        answer(stream, schema, |batches, classes| schema_out(&classes.describe(&batches.schema())))
    }
}

unsafe extern "C" fn get_next(
    stream: *mut FFI_ArrowArrayStream,
    array: *mut FFI_ArrowArray,
) -> c_int {
    let next = |batches: &mut Batches, _: &Classes| match batches.next_batch()? {
        Some(batch) => batch_out(&batch),
        None => Ok(FFI_ArrowArray::empty()),
    };
    // SAFETY: users of the interface promise it.
    unsafe { answer(stream, array, next) }
}

unsafe extern "C" fn get_last_error(stream: *mut FFI_ArrowArrayStream) -> *const c_char {
    // SAFETY: users of the interface promise it.
    let failed = unsafe { behind(stream) }.and_then(|streaming| streaming.failed.as_ref());
    // SAFETY: the error lives until the next call.
    failed.map_or(std::ptr::null(), |failed| unsafe { nyssa_error_message(&raw const **failed) })
}

unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: users of the interface promise it.
    let Some(streaming) = (unsafe { behind(stream) }) else { return };
    // SAFETY: the data were made by `Box::into_raw`, and no later call finds them.
    let streaming = unsafe {
        (*stream).set_release(None);
        Box::from_raw(streaming)
    };
    // There is nobody to tell.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(streaming)));
}

/// Returns the number of the system for a kind of error, which other users of Arrow know.
fn code(status: nyssa_status) -> c_int {
    match status {
        NYSSA_OK => 0,
        NYSSA_NOT_FOUND => libc::ENOENT,
        NYSSA_INVALID_ARGUMENT => libc::EINVAL,
        NYSSA_ALREADY_EXISTS => libc::EEXIST,
        NYSSA_OUT_OF_SPECIFICATION | NYSSA_CHECKSUM => libc::EBADMSG,
        NYSSA_UNSUPPORTED => libc::ENOTSUP,
        NYSSA_LIMIT_EXCEEDED => libc::ENOMEM,
        NYSSA_CANCELLED => libc::ECANCELED,
        NYSSA_IO | NYSSA_INTERNAL => libc::EIO,
    }
}

/// Gives the error of the last call of a stream of `nyssa_dataset_stream`, and returns its kind; `NYSSA_OK` if the call
/// did not fail. The thread that uses the stream calls it. The functions of the stream return the number of `errno.h` that is
/// nearest to the kind, and the message at `get_last_error`.
///
/// Errors: the errors of `nyssa_dataset_read`; `NYSSA_INVALID_ARGUMENT` for another stream, and for one that is released.
///
/// # Safety
/// `stream` is null, or a stream; `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_stream_error(
    stream: *mut FFI_ArrowArrayStream,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    // SAFETY: the caller promises it.
    let failed = match unsafe { behind(stream) } {
        Some(streaming) => streaming.failed.clone(),
        None => {
            let other = "the stream is released, or does not come from nyssa_dataset_stream";
            Some(Box::new(nyssa_error::of(&Error::invalid_argument(other))))
        }
    };
    let status = failed.as_ref().map_or(NYSSA_OK, |failed| failed.status());
    // SAFETY: the caller promises it.
    unsafe { call::put(error, failed.map_or(null_mut(), Box::into_raw)) };
    status
}
