//! Counts the requests to a source, and records them while a recorder runs.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use nyssa_observe::{ObservedFile, Opened, Pair, RecordedPlan};

use crate::source::same_resource;
use crate::{Limits, OpenOptions, Result, Source, Stop};

/// A source that counts the requests to an inner source: for the options by which it was opened, and for the
/// process.
struct Counted {
    inner: Arc<dyn Source>,
    file: ObservedFile,
    options: OpenOptions,
    /// The ranges that came with the requests that opened the source. They are counted at that time, and not
    /// when they are read.
    known: Vec<Range<u64>>,
}

/// Opens a source by `open`, and adds the counters of requests that all sources have.
///
/// # Errors
/// `open` fails.
pub fn open_by(
    options: &OpenOptions,
    open: impl FnOnce() -> Result<Arc<dyn Source>>,
) -> Result<Arc<dyn Source>> {
    let (file, inner) = ObservedFile::open(&options.stats, open, opened)?;
    let known = inner.opened_with();
    Ok(Arc::new(Counted { inner, file, options: options.clone(), known }))
}

/// Returns what is counted and recorded when a source is opened.
fn opened(source: &Arc<dyn Source>) -> Opened {
    Opened { name: source.name().to_owned(), size: source.size(), known: source.opened_with() }
}

impl Counted {
    /// Counts a request by `read` for `ranges`, if the origin sees it.
    fn count(
        &self,
        ranges: &[Range<u64>],
        read: impl FnOnce() -> Result<Vec<Bytes>>,
    ) -> Result<Vec<Bytes>> {
        let is_known = |range: &&Range<u64>| {
            self.known.iter().any(|known| known.start <= range.start && range.end <= known.end)
        };
        let seen = ranges.iter().filter(|range| !is_known(range)).map(Pair::from);
        self.file.read(|| opened(&self.inner), seen, read)
    }
}

impl Source for Counted {
    same_resource!(inner);

    fn limits(&self) -> Limits {
        self.inner.limits()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.count(ranges, || self.inner.read_ranges(ranges))
    }

    fn read_ranges_until(&self, ranges: &[Range<u64>], stop: &Stop) -> Result<Vec<Bytes>> {
        self.count(ranges, || self.inner.read_ranges_until(ranges, stop))
    }

    fn read_ranges_again(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.count(ranges, || self.inner.read_ranges_again(ranges))
    }

    fn close(&self) {
        self.file.close(|| self.inner.close());
    }

    fn options(&self) -> Option<&OpenOptions> {
        Some(&self.options)
    }

    fn record_plan(&self, units: &[Vec<Range<u64>>], ahead_bytes: u64) -> Option<RecordedPlan> {
        self.file.plan(|| opened(&self.inner), units, ahead_bytes)
    }

    fn opened_with(&self) -> Vec<Range<u64>> {
        self.known.clone()
    }
}
