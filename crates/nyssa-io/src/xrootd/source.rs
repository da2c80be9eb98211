//! Reads a file on an XRootD server.

use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, TryLockError};

use bytes::Bytes;

use super::failure::Failure;
use super::file::File;
use super::part::{Plan, READ_BYTES};
use super::settings::{Settings, XrootdOptions};
use super::streams::Streams;
use super::url::Url;
use crate::for_people::shown;
use crate::limits::NETWORK_OVER_READ;
use crate::source::{check_range, closed};
use crate::{Cost, Error, Limits, Result, Source, Stop};

/// The number of requests that are in flight at the same time. They are sent one after the other on one
/// connection, and the server answers them in order.
const CONCURRENCY: usize = 64;

/// The number of the connection for requests that are made a second time.
const AGAIN: u16 = u16::MAX;

/// A file that is read over XRootD.
pub struct XrootdSource {
    name: String,
    /// The name in messages.
    file: Arc<File>,
    streams: Arc<Streams>,
    /// The file on another connection, for requests that are stuck on the first one.
    beside: Mutex<Option<Arc<File>>>,
}

impl XrootdSource {
    /// Opens the file of a URL, `root://host//path` or `roots://host//path`.
    ///
    /// # Errors
    /// `InvalidInput` for a text that is not such a URL; the errors of the server and of connections.
    pub fn open(url: &str, options: &XrootdOptions) -> Result<Self> {
        Self::open_until(url, options, &Stop::default())
    }

    /// Does the same as [`XrootdSource::open`] until `stop` is given.
    pub(super) fn open_until(url: &str, options: &XrootdOptions, stop: &Stop) -> Result<Self> {
        let failed = |error| Error::new(url, "open", error);
        let invalid = |why| failed(io::Error::new(io::ErrorKind::InvalidInput, why));
        let parsed = Url::parse(url).map_err(invalid)?;
        let settings = Settings::new(options).map_err(invalid)?;
        let most = settings.streams;
        let file =
            File::open(parsed, settings, stop).map_err(|failure| failed(failure.into_io()))?;
        let file = Arc::new(file);
        let streams = Streams::new(Arc::clone(&file), most);
        let beside = Mutex::default();
        Ok(Self { name: shown(url), file, streams, beside })
    }

    /// Reads ranges by `read`, which gets the requests for them.
    fn read(
        &self,
        ranges: &[Range<u64>],
        read: impl FnOnce(&Plan) -> std::result::Result<Vec<Vec<Bytes>>, Failure>,
    ) -> Result<Vec<Bytes>> {
        self.check_open()?;
        for range in ranges {
            check_range(&self.name, self.size(), range)?;
        }
        let plan = Plan::new(ranges, self.file.vector_limits());
        read(&plan).map(|answers| plan.bytes(&answers)).map_err(|failure| {
            let action = match ranges {
                [range] => format!("read bytes {} to {} of", range.start, range.end),
                ranges => format!("read {} ranges of", ranges.len()),
            };
            Error::new(&self.name, action, failure.into_io())
        })
    }

    /// Returns the file on a connection of its own, which is opened when it is first needed.
    fn beside(&self) -> std::result::Result<Arc<File>, Failure> {
        let mut beside = match self.beside.try_lock() {
            Ok(beside) => beside,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Another thread opens it now, or did so when this process was forked.
            Err(TryLockError::WouldBlock) => return self.file.beside(AGAIN).map(Arc::new),
        };
        if let Some(file) = beside.as_ref() {
            return Ok(Arc::clone(file));
        }
        Ok(Arc::clone(beside.insert(Arc::new(self.file.beside(AGAIN)?))))
    }
}

impl Source for XrootdSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> u64 {
        self.file.stat.size
    }

    fn version(&self) -> Option<String> {
        Some(format!("modified {}", self.file.stat.modified))
    }

    fn limits(&self) -> Limits {
        let known = self.file.with_connection(|connection| connection.meter.cost());
        let cost = known.unwrap_or(Cost::NOTHING);
        let max_ranges = self.file.vector_limits().ranges;
        let max_range_bytes = READ_BYTES;
        let over_read = NETWORK_OVER_READ;
        Limits { max_ranges, max_range_bytes, concurrency: CONCURRENCY, cost, gap: None, over_read }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.read_ranges_until(ranges, &Stop::default())
    }

    fn read_ranges_until(&self, ranges: &[Range<u64>], stop: &Stop) -> Result<Vec<Bytes>> {
        let bytes = ranges.iter().map(|range| range.end.saturating_sub(range.start)).sum();
        self.read(ranges, |plan| {
            self.streams.read(bytes, stop, |file| file.read(&plan.parts, stop))
        })
    }

    fn read_ranges_again(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.read(ranges, |plan| self.beside()?.read(&plan.parts, &Stop::default()))
    }

    fn close(&self) {
        self.streams.close();
        if let Ok(mut beside) = self.beside.try_lock()
            && let Some(file) = beside.take()
        {
            file.close();
        }
    }

    fn check_open(&self) -> Result<()> {
        match self.file.is_closed() {
            true => Err(closed(&self.name)),
            false => Ok(()),
        }
    }
}
