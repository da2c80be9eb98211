//! The errors that C sees.

use std::ffi::{CString, c_char};

use nyssa_root::{Error, Kind};
use serde_json::json;

/// What became of a call. `NYSSA_OK` is 0, all other values are errors. New values may be added.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum nyssa_status {
    /// The call did what it should.
    NYSSA_OK = 0,
    /// A file, dataset, column or field does not exist.
    NYSSA_NOT_FOUND = 1,
    /// The caller requested something impossible: a null pointer, a closed handle, a wrong option, data that do not fit.
    NYSSA_INVALID_ARGUMENT = 2,
    /// The output exists and must not be replaced.
    NYSSA_ALREADY_EXISTS = 3,
    /// The file breaks its format's specification.
    NYSSA_OUT_OF_SPECIFICATION = 4,
    /// The file is correct, but nyssa cannot read or write this.
    NYSSA_UNSUPPORTED = 5,
    /// A stored checksum does not match the bytes.
    NYSSA_CHECKSUM = 6,
    /// A memory budget or a safety limit was exceeded.
    NYSSA_LIMIT_EXCEEDED = 7,
    /// The operating system or the network failed.
    NYSSA_IO = 8,
    /// The work was cancelled by its context.
    NYSSA_CANCELLED = 9,
    /// A bug in nyssa. Please report it.
    NYSSA_INTERNAL = 10,
}

pub use nyssa_status::*;

impl From<Kind> for nyssa_status {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::NotFound => NYSSA_NOT_FOUND,
            Kind::InvalidArgument => NYSSA_INVALID_ARGUMENT,
            Kind::AlreadyExists => NYSSA_ALREADY_EXISTS,
            Kind::OutOfSpecification => NYSSA_OUT_OF_SPECIFICATION,
            Kind::Unsupported => NYSSA_UNSUPPORTED,
            Kind::Checksum => NYSSA_CHECKSUM,
            Kind::LimitExceeded => NYSSA_LIMIT_EXCEEDED,
            Kind::Io => NYSSA_IO,
            Kind::Cancelled => NYSSA_CANCELLED,
        }
    }
}

/// An error: whose fault it is, where, and what to do. It belongs to the caller: `nyssa_error_free`.
#[derive(Clone)]
pub struct nyssa_error {
    status: nyssa_status,
    message: CString,
    details: CString,
}

impl nyssa_error {
    /// Makes the error for C.
    pub(crate) fn of(error: &Error) -> Self {
        let details = json!({ "place": error.place(), "suggestions": error.suggestions() });
        let mut message = error.to_string();
        if error.kind() == Kind::AlreadyExists {
            message.push_str("; force=true replaces it");
        }
        Self::new(error.kind().into(), &message, &details.to_string())
    }

    /// Makes the error for a panic.
    pub(crate) fn internal(message: &str) -> Self {
        let message = format!("nyssa failed unexpectedly: {message}");
        Self::new(NYSSA_INTERNAL, &message, "{}")
    }

    fn new(status: nyssa_status, message: &str, details: &str) -> Self {
        Self { status, message: c_string(message), details: c_string(details) }
    }

    pub(crate) fn status(&self) -> nyssa_status {
        self.status
    }
}

/// Returns the kind of an error; `NYSSA_OK` for null.
///
/// # Safety
/// `error` is null, or an error that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_error_status(error: *const nyssa_error) -> nyssa_status {
    // SAFETY: the caller promises it.
    unsafe { error.as_ref() }.map_or(NYSSA_OK, |error| error.status)
}

/// Returns the message of an error, in UTF-8; an empty text for null. It lives as long as the error.
///
/// # Safety
/// `error` is null, or an error that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_error_message(error: *const nyssa_error) -> *const c_char {
    // SAFETY: the caller promises it.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.message.as_ptr())
}

/// Returns more about an error as JSON: `place` (file, object, field, column, cluster, page, basket, entry, offset; null
/// where it is not known) and `suggestions` (the nearest names). It lives as long as the error.
///
/// # Safety
/// `error` is null, or an error that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_error_details(error: *const nyssa_error) -> *const c_char {
    // SAFETY: the caller promises it.
    unsafe { error.as_ref() }.map_or(c"{}".as_ptr(), |error| error.details.as_ptr())
}

/// Frees an error. Null is allowed.
///
/// # Safety
/// `error` is null, or an error that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_error_free(error: *mut nyssa_error) {
    if !error.is_null() {
        // SAFETY: the error was made by `Box::into_raw` in `call`, and the caller promises that it is not freed.
        drop(unsafe { Box::from_raw(error) });
    }
}

/// Returns a text for C. A zero in it, which C cannot have, becomes a question mark.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "?")).unwrap_or_default()
}
