//! Turns errors of the core into Python exceptions, chosen by whose fault they are. Their classes are in
//! `nyssa.errors`. Each derives from the builtin exception that a user would catch.

use std::io;

use nyssa_root::error::{Error, Kind, Place};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Returns the exception for an error of the core. It has the same message, and the place as its attribute
/// `place`.
pub(crate) fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    let class = class_name(error);
    let mut message = error.to_string();
    if class == "OutputExistsError" {
        message.push_str("; force=True replaces it");
    }
    let raised = raise(py, class, &message, Some(error.place()));
    if let Ok(suggestions) = PyTuple::new(py, error.suggestions()) {
        let _ = raised.value(py).setattr("suggestions", suggestions);
    }
    if let Some(number) = number(error.kind()) {
        let value = raised.value(py);
        if value.is_instance_of::<PyOSError>() {
            let _ = value.setattr("errno", number);
            let _ = value.setattr("filename", error.place().file.as_deref());
        }
    }
    if let Some(cause) = error.system() {
        let value = raised.value(py);
        // Only exceptions that derive from OSError have these attributes.
        if value.is_instance_of::<PyOSError>() {
            let strerror = cause.reason();
            let _ = value.setattr("errno", errno(&cause.source));
            let _ = value.setattr("strerror", strerror);
            let _ = value.setattr("filename", &cause.resource);
        }
    }
    raised
}

/// Returns the number of a kind of errors that nyssa finds. Failures of the system have their own.
const fn number(kind: Kind) -> Option<i32> {
    match kind {
        Kind::NotFound => Some(libc::ENOENT),
        Kind::AlreadyExists => Some(libc::EEXIST),
        Kind::OutOfSpecification | Kind::Checksum => Some(libc::EBADMSG),
        _ => None,
    }
}

/// Returns the number of an error of the system. Errors that nyssa finds before the system have the same
/// number.
fn errno(error: &io::Error) -> Option<i32> {
    error.raw_os_error().or(match error.kind() {
        io::ErrorKind::NotFound => Some(libc::ENOENT),
        io::ErrorKind::AlreadyExists => Some(libc::EEXIST),
        io::ErrorKind::PermissionDenied => Some(libc::EACCES),
        io::ErrorKind::IsADirectory => Some(libc::EISDIR),
        io::ErrorKind::NotADirectory => Some(libc::ENOTDIR),
        io::ErrorKind::ReadOnlyFilesystem => Some(libc::EROFS),
        io::ErrorKind::WouldBlock => Some(libc::EWOULDBLOCK),
        io::ErrorKind::StorageFull => Some(libc::ENOSPC),
        io::ErrorKind::QuotaExceeded => Some(libc::EDQUOT),
        io::ErrorKind::InvalidInput => Some(libc::EINVAL),
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => Some(libc::EBADMSG),
        _ => None,
    })
}

/// Returns the exception for a bug in nyssa.
pub(crate) fn internal(py: Python<'_>, message: &str) -> PyErr {
    let message = format!("nyssa failed unexpectedly: {message}; please report this with the file");
    raise(py, "InternalError", &message, None)
}

fn class_name(error: &Error) -> &'static str {
    match (error.kind(), error.system().map(|cause| cause.source.kind())) {
        (_, Some(io::ErrorKind::NotFound)) => "FileMissingError",
        (_, Some(io::ErrorKind::AlreadyExists)) => "OutputExistsError",
        (_, Some(io::ErrorKind::PermissionDenied)) => "AccessError",
        (_, Some(io::ErrorKind::IsADirectory)) => "FolderError",
        (Kind::NotFound, _) => "NotFoundError",
        (Kind::InvalidArgument, _) => "ArgumentError",
        (Kind::AlreadyExists, _) => "OutputExistsError",
        (Kind::OutOfSpecification, _) => "FormatError",
        (Kind::Unsupported, _) => "UnsupportedError",
        (Kind::Checksum, _) => "ChecksumError",
        (Kind::LimitExceeded, _) => "LimitError",
        (Kind::Io, _) => "InputOutputError",
        (Kind::Cancelled, _) => "CancelledError",
    }
}

fn raise(py: Python<'_>, class: &str, message: &str, place: Option<&Place>) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let exception = py.import("nyssa.errors")?.getattr(class)?.call1((message,))?;
        exception.setattr("place", place.map(|place| place_dict(py, place)).transpose()?)?;
        Ok(PyErr::from_value(exception))
    };
    build().unwrap_or_else(|_| PyRuntimeError::new_err(message.to_owned()))
}

fn place_dict<'py>(py: Python<'py>, place: &Place) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let texts = [("file", &place.file), ("object", &place.object), ("field", &place.field)];
    for (name, value) in texts {
        if let Some(value) = value {
            dict.set_item(name, value)?;
        }
    }
    let numbers = [
        ("column", place.column),
        ("cluster", place.cluster),
        ("page", place.page),
        ("basket", place.basket),
        ("entry", place.entry),
        ("byte", place.offset),
    ];
    for (name, value) in numbers {
        if let Some(value) = value {
            dict.set_item(name, value)?;
        }
    }
    Ok(dict)
}
