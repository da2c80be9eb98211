//! Reads a file on a server.

use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, TryLockError};

use bytes::Bytes;
use nyssa_net::{Cost, Stop};

use super::failure::Failure;
use super::file::File;
use super::read_plan::Plan;
use super::settings::{Settings, XrootdOptions};
use super::streams::Streams;
use super::url::Url;
use super::wire::Stat;

/// The number of requests of one file that should be in flight at the same time. They are sent one after the other on
/// one connection, and the server answers them in order.
pub const CONCURRENCY: usize = 64;
/// The number of the connection for requests that are made a second time.
const AGAIN: u16 = u16::MAX;

/// A file that is read. Many threads can read it at the same time.
pub struct Reader {
    file: Arc<File>,
    streams: Arc<Streams>,
    /// The file on another connection, for requests that are stuck on the first one.
    beside: Mutex<Option<Arc<File>>>,
}

impl Reader {
    /// Opens the file of a URL, `root://host//path` or `roots://host//path`, until `stop` is given.
    ///
    /// # Errors
    /// `InvalidInput` for a text that is not such a URL; an error of the server or of the connection.
    pub fn open(url: &str, options: &XrootdOptions, stop: &Stop) -> io::Result<Self> {
        let (url, settings) = (Url::checked(url)?, Settings::new(options)?);
        let most = settings.streams;
        let file = Arc::new(File::open(url, settings, stop).map_err(Failure::into_io)?);
        let streams = Streams::new(Arc::clone(&file), most);
        Ok(Self { file, streams, beside: Mutex::default() })
    }

    /// Returns the size and the time of the last change, as they were when the file was opened.
    pub fn stat(&self) -> &Stat {
        &self.file.stat
    }

    /// Returns the measured cost of a request. Returns `None` if there is no connection.
    pub fn cost(&self) -> Option<Cost> {
        self.file.with_connection(|connection| connection.meter.cost())
    }

    /// Returns the largest number of ranges in one request. Each range has at most [`READ_BYTES`](crate::READ_BYTES).
    pub fn max_ranges(&self) -> usize {
        self.file.vector_limits().ranges
    }

    /// Reads ranges of the file with one request, until `stop` is given.
    ///
    /// # Errors
    /// `InvalidInput` for a range that is not inside the file; an error of the server or of the connection.
    pub fn read(&self, ranges: &[Range<u64>], stop: &Stop) -> io::Result<Vec<Bytes>> {
        let bytes = ranges.iter().map(|range| range.end.saturating_sub(range.start)).sum();
        self.read_by(ranges, |plan| {
            self.streams.read(bytes, stop, |file| file.read(&plan.parts, stop))
        })
    }

    /// Reads ranges of the file over another connection, while a request for them is stuck.
    ///
    /// # Errors
    /// `InvalidInput` for a range that is not inside the file; the server refuses, or the connection is lost.
    pub fn read_again(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
        self.read_by(ranges, |plan| self.beside()?.read(&plan.parts, &Stop::default()))
    }

    /// Reads ranges by `read`, which gets the requests for them.
    fn read_by(
        &self,
        ranges: &[Range<u64>],
        read: impl FnOnce(&Plan) -> Result<Vec<Vec<Bytes>>, Failure>,
    ) -> io::Result<Vec<Bytes>> {
        let size = self.stat().size;
        if ranges.iter().any(|range| range.start > range.end || range.end > size) {
            let why = "a requested range is not inside the file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let plan = Plan::new(ranges, self.file.vector_limits());
        let answers = read(&plan).map_err(Failure::into_io)?;
        Ok(plan.bytes(&answers))
    }

    /// Returns the file on a connection of its own, which is opened when it is first needed.
    fn beside(&self) -> Result<Arc<File>, Failure> {
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

    /// Closes the file for all threads that read it.
    pub fn close(&self) {
        self.streams.close();
        if let Ok(mut beside) = self.beside.try_lock()
            && let Some(file) = beside.take()
        {
            file.close();
        }
    }

    /// Returns whether the file was closed.
    pub fn is_closed(&self) -> bool {
        self.file.is_closed()
    }
}
