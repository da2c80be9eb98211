//! Texts that come from C and go to C.

use std::ffi::{CStr, CString, c_char};

use nyssa_root::{Error, Result};
use serde::Serialize;

use crate::call::{self, not_null};
use crate::error::{c_string, nyssa_error, nyssa_status};

/// The version of the interface: of the functions and their meaning. A program that was built with the number N in its
/// header works with each library of the number N. See `nyssa_abi_version`.
pub const NYSSA_ABI_VERSION: u32 = 0;

/// Returns the version of the library, such as `0.1.0`. The text is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn nyssa_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(text) => text,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

/// Returns the `NYSSA_ABI_VERSION` of the library.
#[unsafe(no_mangle)]
pub extern "C" fn nyssa_abi_version() -> u32 {
    NYSSA_ABI_VERSION
}

/// Frees a text that a function has returned through a `char **`. Null is allowed.
///
/// # Safety
/// `text` is null, or such a text that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the text was made by `CString::into_raw`, and the caller promises that it is not freed.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Returns a report as JSON, which belongs to the caller.
///
/// # Errors
/// `InvalidArgument` for a report that JSON cannot have.
pub(crate) fn json<T: Serialize>(report: &T) -> Result<*mut c_char> {
    let text = serde_json::to_string(report);
    let text = text.map_err(|error| {
        Error::invalid_argument("the report has no JSON form").with_source(error)
    })?;
    Ok(c_string(&text).into_raw())
}

/// Writes the text that `work` made to `report`, or frees it if this is null.
///
/// # Safety
/// `error` and `report` are null, or places for pointers.
pub(crate) unsafe fn report(
    error: *mut *mut nyssa_error,
    report: *mut *mut c_char,
    work: impl FnOnce() -> Result<*mut c_char>,
) -> nyssa_status {
    let give = || {
        let text = work()?;
        match report.is_null() {
            // SAFETY: the text was just made, and nobody else has it.
            true => unsafe { nyssa_text_free(text) },
            // SAFETY: it is not null, so the caller promises that a pointer has place there.
            false => unsafe { report.write(text) },
        }
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, give) }
}

/// Returns a text of the caller.
///
/// # Errors
/// `InvalidArgument` for null, and for a text that is not UTF-8.
///
/// # Safety
/// `text` is null, or a text that ends with a zero and lives for `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str> {
    not_null(text, what)?;
    // SAFETY: it is not null, so the caller promises that it is a text that lives long enough.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Error::invalid_argument(format!("{what} is not UTF-8")))
}

/// Returns a text of the caller; null is the empty text.
///
/// # Errors
/// `InvalidArgument` for a text that is not UTF-8.
///
/// # Safety
/// `text` is null, or a text that ends with a zero and lives for `'a`.
pub(crate) unsafe fn text_or_none<'a>(given: *const c_char, what: &str) -> Result<&'a str> {
    match given.is_null() {
        true => Ok(""),
        // SAFETY: the caller promises it.
        false => unsafe { text(given, what) },
    }
}

/// Returns the texts of the caller.
///
/// # Errors
/// `InvalidArgument` for null with a count that is not 0, and for a text that is null or not UTF-8.
///
/// # Safety
/// `texts` is null, or has `count` texts as [`text`] takes them.
pub(crate) unsafe fn texts<'a>(
    texts: *const *const c_char,
    count: usize,
    what: &str,
) -> Result<Vec<&'a str>> {
    // SAFETY: the caller promises it.
    let all = unsafe { items(texts, count, what) }?;
    // SAFETY: as above.
    all.iter().map(|pointer| unsafe { text(*pointer, what) }).collect()
}

/// Returns the items of an array of the caller.
///
/// # Errors
/// `InvalidArgument` for null with a count that is not 0, and for more items than memory can hold, such as a negative count.
///
/// # Safety
/// `array` is null, or has `count` items that live for `'a`.
pub(crate) unsafe fn items<'a, T>(array: *const T, count: usize, what: &str) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    not_null(array, what)?;
    if count > isize::MAX as usize / size_of::<T>().max(1) {
        let message = format!("{what} cannot have {count} items: was the count negative?");
        return Err(Error::invalid_argument(message));
    }
    // SAFETY: it is not null, so the caller promises that it has so many items.
    Ok(unsafe { std::slice::from_raw_parts(array, count) })
}
