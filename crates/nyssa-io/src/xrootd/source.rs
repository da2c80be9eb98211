//! A file on an XRootD server, to read.

use std::io;
use std::ops::Range;

use bytes::Bytes;

use super::file::File;
use super::part::{Plan, READ_BYTES};
use super::settings::{Settings, XrootdOptions};
use super::url::{Url, shown};
use crate::source::{check_range, closed};
use crate::{Cost, Error, Limits, Result, Source};

/// Requests that are in flight at the same time.
const CONCURRENCY: usize = 4;

/// A file that is read over XRootD.
pub struct XrootdSource {
    name: String,
    /// The name in messages.
    shown: String,
    file: File,
}

impl XrootdSource {
    /// Opens the file of a URL, `root://host//path` or `roots://host//path`.
    ///
    /// # Errors
    /// `InvalidInput` for what is no such URL, what the server says, and what keeps it from being reached.
    pub fn open(url: &str, options: &XrootdOptions) -> Result<Self> {
        let shown = shown(url);
        let failed = |error| Error::new(&shown, "open", error);
        let invalid = |why| failed(io::Error::new(io::ErrorKind::InvalidInput, why));
        let parsed = Url::parse(url).map_err(invalid)?;
        let settings = Settings::new(options).map_err(invalid)?;
        let file = File::open(parsed, settings).map_err(|failure| failed(failure.into_io()))?;
        Ok(Self { name: url.to_owned(), file, shown: shown.clone() })
    }
}

impl Source for XrootdSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> u64 {
        self.file.stat.size
    }

    fn limits(&self) -> Limits {
        let known = self.file.with_connection(|connection| connection.meter.cost());
        let cost = known.unwrap_or(Cost::NOTHING);
        let max_ranges = self.file.vector_limits().ranges;
        Limits { max_ranges, max_range_bytes: READ_BYTES, concurrency: CONCURRENCY, cost }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.check_open()?;
        for range in ranges {
            check_range(&self.shown, self.size(), range)?;
        }
        let plan = Plan::new(ranges, self.file.vector_limits());
        match self.file.read(&plan.parts) {
            Ok(answers) => Ok(plan.bytes(&answers)),
            Err(failure) => {
                let action = match ranges {
                    [range] => format!("read bytes {} to {} of", range.start, range.end),
                    ranges => format!("read {} ranges of", ranges.len()),
                };
                Err(Error::new(&self.shown, action, failure.into_io()))
            }
        }
    }

    fn close(&self) {
        self.file.close();
    }

    fn check_open(&self) -> Result<()> {
        match self.file.is_closed() {
            true => Err(closed(&self.shown)),
            false => Ok(()),
        }
    }
}
