//! Makes errors of what the libraries of the formats return, and of their panics: a damaged file must never end a
//! program.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use arrow_schema::ArrowError;
use nyssa_root::error::{Error, Result};
use parquet::errors::ParquetError;

/// The largest factor by which bytes may grow when they are decompressed: zstd makes 128 KiB of 4 bytes.
pub(crate) const LARGEST_RATIO: u64 = 1 << 16;

thread_local! {
    /// Whether a panic of this thread is caught and reported as an error.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of a library. A panic is the error of a damaged file.
///
/// # Errors
/// The error of `work`; `OutOfSpecification` after a panic.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        // What is caught here is an error with a place, and is not printed, too.
        std::panic::set_hook(Box::new(move |info| {
            if !CAUGHT.get() {
                before(info);
            }
        }));
    });
    let outer = CAUGHT.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    CAUGHT.set(outer);
    done.unwrap_or_else(|panic| {
        Err(Error::out_of_spec(format!("the table is damaged: {}", message(panic.as_ref()))))
    })
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").lines().next().unwrap_or_default()
}

/// Returns the error of reading a Parquet file.
pub(crate) fn of_parquet(error: ParquetError) -> Error {
    match error {
        ParquetError::External(source) => external(source),
        ParquetError::NYI(what) => Error::unsupported(format!("Parquet: {what}")),
        other => of_text(&other.to_string()),
    }
}

/// Returns the error of reading a table.
pub(crate) fn of_arrow(error: ArrowError) -> Error {
    match error {
        ArrowError::ExternalError(source) => external(source),
        ArrowError::NotYetImplemented(what) => Error::unsupported(what),
        // The library has made a text of its error.
        ArrowError::ParquetError(text) => of_text(&text),
        other => Error::out_of_spec(format!("the table is damaged: {other}")),
    }
}

/// Returns the error of reading a Parquet file for the text of the library.
fn of_text(text: &str) -> Error {
    if text.contains("CRC checksum mismatch") {
        return Error::checksum("a page does not match its checksum");
    }
    Error::out_of_spec(format!("the Parquet file is damaged: {text}"))
}

/// Returns the error of the source or sink that the library has passed on.
fn external(source: Box<dyn std::error::Error + Send + Sync>) -> Error {
    match source.downcast::<nyssa_io::Error>() {
        Ok(error) => Error::from(*error),
        Err(source) => match source.downcast::<ParquetError>() {
            Ok(error) => of_parquet(*error),
            Err(other) => Error::out_of_spec(format!("the table is damaged: {other}")),
        },
    }
}

/// Returns the error of writing a Parquet file.
pub(crate) fn not_written(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if let Some(system) = inner.downcast_ref::<std::io::Error>()
            && let Some(own) =
                system.get_ref().and_then(|own| own.downcast_ref::<nyssa_io::Error>())
        {
            let source = std::io::Error::new(own.source.kind(), own.source.to_string());
            return nyssa_io::Error::new(&own.resource, own.action.clone(), source).into();
        }
        cause = inner.source();
    }
    Error::invalid_argument(format!("the table cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use nyssa_root::error::Kind;

    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let message = "index out of bounds".to_owned();
        let error = guarded::<()>(|| std::panic::panic_any(message)).unwrap_err();
        assert_eq!(error.kind(), Kind::OutOfSpecification);
        assert_eq!(error.message(), "the table is damaged: index out of bounds");
        assert!(guarded(|| Ok(1)).is_ok());
    }
}
