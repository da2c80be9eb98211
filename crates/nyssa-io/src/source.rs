//! Defines the trait of sources. Vectored reads are required, and single reads use them.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use nyssa_observe::RecordedPlan;

use crate::cache::Unpacked;
use crate::{Error, Limits, OpenOptions, Result, Stop};

/// A readable resource of known size. Many threads can use it at the same time.
///
/// A source that wraps another one returns it as [`Source::inner`]. All methods with a default, except those
/// that read, then return the result of the inner source. The wrapper implements only those methods in which it
/// differs.
pub trait Source: Send + Sync {
    /// Returns the source that this one wraps, if it wraps one.
    fn inner(&self) -> Option<&dyn Source> {
        None
    }

    /// Returns the path or URL, for messages. It has no secrets.
    fn name(&self) -> &str;

    /// Returns the path or URL that opens the resource again. It may have secrets, and is never shown.
    fn location(&self) -> &Path {
        self.inner().map_or_else(|| Path::new(self.name()), |inner| inner.location())
    }

    /// Returns the location from which the names of other files in this file start. Returns `None` for a file object of
    /// Python, whose name says nothing about its place.
    fn origin(&self) -> Option<&Path> {
        match self.inner() {
            Some(inner) => inner.origin().map(|_| self.location()),
            None => Some(self.location()),
        }
    }

    /// Returns the size of the resource in bytes.
    fn size(&self) -> u64;

    /// Returns the text that distinguishes this version of the resource from others, such as its ETag or the
    /// time of its last change. Returns `None` if only the size is known.
    fn version(&self) -> Option<String> {
        self.inner()?.version()
    }

    /// Returns the limits and the cost of one request. The cost can change while the source is read.
    fn limits(&self) -> Limits;

    /// Returns the limits and the cost of requests for the units of a plan. They are equal to
    /// [`Source::limits`], unless the source knows more about these ranges: bytes of a local file that are not
    /// in the cache of the system come from the disk, which is slower.
    fn limits_of(&self, units: &[Vec<Range<u64>>]) -> Limits {
        self.inner().map_or_else(|| self.limits(), |inner| inner.limits_of(units))
    }

    /// Reads every range, in the given order, with one request. A range beyond the end is an error
    /// (`UnexpectedEof`), never a short buffer. The caller must keep to the limits, as the
    /// [fetcher](crate::fetch) does.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>>;

    /// Reads every range as [`Source::read_ranges`] does, until `stop` is given. After that no further request
    /// is sent, and the source does not wait before a request is made again. A source that wraps another one
    /// must forward this call.
    fn read_ranges_until(&self, ranges: &[Range<u64>], stop: &Stop) -> Result<Vec<Bytes>> {
        stop.check().map_err(|error| Error::new(self.name(), "read", error))?;
        self.read_ranges(ranges)
    }

    /// Reads every range as [`Source::read_ranges`] does, while another request for them is stuck. A source
    /// whose requests share one connection uses another connection. A source that wraps another one must
    /// forward this call.
    fn read_ranges_again(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.read_ranges(ranges)
    }

    /// Returns the unpacked pages and baskets of the resource, if there is a cache for them.
    fn unpacked(&self) -> Option<Arc<dyn Unpacked>> {
        self.inner()?.unpacked()
    }

    /// Returns a source of the same bytes that does not add to the cache what it reads. Returns `None` if there is no
    /// cache.
    fn without_keeping(&self) -> Option<Arc<dyn Source>> {
        self.inner()?.without_keeping()
    }

    /// Releases system resources such as an open file. After that, nothing can be read any more. A source
    /// without system resources does nothing and stays readable.
    fn close(&self) {
        if let Some(inner) = self.inner() {
            inner.close();
        }
    }

    /// Returns an error if the source was closed.
    fn check_open(&self) -> Result<()> {
        self.inner().map_or(Ok(()), |inner| inner.check_open())
    }

    /// Returns the options by which the source was opened. Other resources that are opened because of this
    /// source, such as a friend, have the same options.
    fn options(&self) -> Option<&OpenOptions> {
        self.inner()?.options()
    }

    /// Begins the record of a plan whose units the fetcher reads from this source, if a recorder runs. A source
    /// that makes plans of its own returns `None`.
    fn record_plan(&self, units: &[Vec<Range<u64>>], ahead_bytes: u64) -> Option<RecordedPlan> {
        self.inner()?.record_plan(units, ahead_bytes)
    }

    /// Returns the ranges whose bytes came with the requests that opened the source. Reading them makes no
    /// further request.
    fn opened_with(&self) -> Vec<Range<u64>> {
        self.inner().map_or_else(Vec::new, |inner| inner.opened_with())
    }

    /// Reads one range.
    fn read_range(&self, range: Range<u64>) -> Result<Bytes> {
        Ok(self.read_ranges(&[range])?.pop().unwrap_or_default())
    }
}

/// Makes the error for a read of a source that was closed.
pub fn closed(name: &str) -> Error {
    let error = io::Error::new(io::ErrorKind::InvalidInput, "it is closed; open it again");
    Error::new(name, "read", error)
}

/// Returns an error for a range that ends before it starts or beyond the resource.
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

/// Forwards the name and the size of a source to the source that it wraps.
macro_rules! same_resource {
    ($inner:ident) => {
        fn inner(&self) -> Option<&dyn $crate::Source> {
            Some(self.$inner.as_ref())
        }

        fn name(&self) -> &str {
            self.$inner.name()
        }

        fn size(&self) -> u64 {
            self.$inner.size()
        }
    };
}

pub(crate) use same_resource;
