//! The reading side: a vectored read is the required method, single reads derive from it.

use std::io;
use std::ops::Range;

use bytes::Bytes;

use crate::{Error, Limits, Result};

/// A readable resource of known size. Implementations are safe to call from many threads.
pub trait Source: Send + Sync {
    /// Path or URL, for messages.
    fn name(&self) -> &str;

    /// Size of the resource in bytes.
    fn size(&self) -> u64;

    /// What one request may ask, and what it costs. The cost may change while the source is read.
    fn limits(&self) -> Limits;

    /// Reads every range, in the order given, by one request. A range beyond the end is an error
    /// (`UnexpectedEof`), never a short buffer. Who asks keeps to the limits: the
    /// [fetcher](crate::fetch) does.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>>;

    /// Lets go of what it holds of the system, such as an open file; nothing can be read any more. For
    /// sources that hold nothing this does nothing.
    fn close(&self) {}

    /// Refuses what was closed.
    fn check_open(&self) -> Result<()> {
        Ok(())
    }

    /// Reads one range.
    fn read_range(&self, range: Range<u64>) -> Result<Bytes> {
        Ok(self.read_ranges(&[range])?.pop().unwrap_or_default())
    }
}

/// Refuses a range that is turned around or ends beyond the resource.
///
/// # Errors
/// `UnexpectedEof` or `InvalidInput`.
pub fn check_range(name: &str, size: u64, range: &Range<u64>) -> Result<()> {
    let (kind, reason) = if range.start > range.end {
        (io::ErrorKind::InvalidInput, "the end comes before the start".to_owned())
    } else if range.end > size {
        (io::ErrorKind::UnexpectedEof, format!("it has only {size} bytes"))
    } else {
        return Ok(());
    };
    let action = format!("read bytes {} to {} of", range.start, range.end);
    Err(Error::new(name, action, io::Error::new(kind, reason)))
}
