//! Makes a source of a file on an XRootD server.

use std::ops::Range;

use bytes::Bytes;
use nyssa_xrootd::{CONCURRENCY, READ_BYTES, Reader, XrootdOptions};

use crate::for_people::shown;
use crate::limits::NETWORK_OVER_READ;
use crate::source::{check_range, closed};
use crate::{Cost, Error, Limits, Result, Source, Stop};

/// A file that is read over XRootD.
pub(super) struct XrootdSource {
    /// The name in messages.
    name: String,
    file: Reader,
}

impl XrootdSource {
    /// Opens the file of a URL, until `stop` is given.
    ///
    /// # Errors
    /// `InvalidInput` for a text that is not a URL of XRootD; an error of the server or of the connection.
    pub(super) fn open(url: &str, options: &XrootdOptions, stop: &Stop) -> Result<Self> {
        let file = Reader::open(url, options, stop);
        let file = file.map_err(|error| Error::new(url, "open", error))?;
        Ok(Self { name: shown(url), file })
    }

    /// Reads ranges by `read`.
    fn read(
        &self,
        ranges: &[Range<u64>],
        read: impl FnOnce() -> std::io::Result<Vec<Bytes>>,
    ) -> Result<Vec<Bytes>> {
        self.check_open()?;
        for range in ranges {
            check_range(&self.name, self.size(), range)?;
        }
        read().map_err(|error| {
            let action = match ranges {
                [range] => format!("read bytes {} to {} of", range.start, range.end),
                ranges => format!("read {} ranges of", ranges.len()),
            };
            Error::new(&self.name, action, error)
        })
    }
}

impl Source for XrootdSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> u64 {
        self.file.stat().size
    }

    fn version(&self) -> Option<String> {
        Some(format!("modified {}", self.file.stat().modified))
    }

    fn limits(&self) -> Limits {
        let cost = self.file.cost().unwrap_or(Cost::NOTHING);
        let (max_ranges, max_range_bytes) = (self.file.max_ranges(), READ_BYTES);
        let over_read = NETWORK_OVER_READ;
        Limits {
            max_ranges,
            max_range_bytes,
            concurrency: CONCURRENCY,
            cost,
            over_read,
            ..Limits::NONE
        }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.read_ranges_until(ranges, &Stop::default())
    }

    fn read_ranges_until(&self, ranges: &[Range<u64>], stop: &Stop) -> Result<Vec<Bytes>> {
        self.read(ranges, || self.file.read(ranges, stop))
    }

    fn read_ranges_again(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.read(ranges, || self.file.read_again(ranges))
    }

    fn close(&self) {
        self.file.close();
    }

    fn check_open(&self) -> Result<()> {
        match self.file.is_closed() {
            true => Err(closed(&self.name)),
            false => Ok(()),
        }
    }
}
