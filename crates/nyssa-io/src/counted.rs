//! Counts the requests to a source.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::{Limits, OpenOptions, Result, Source, Stop};

/// A source that counts the requests to an inner source, for the options by which it was opened and for the process.
struct Counted {
    inner: Arc<dyn Source>,
    options: OpenOptions,
    /// The ranges that came with the requests that opened the source. They are counted then, and not when they are
    /// read.
    known: Vec<Range<u64>>,
}

/// Opens a source by `open`, and returns it with counters.
///
/// # Errors
/// Those of `open`.
pub(crate) fn counted(
    options: &OpenOptions,
    open: impl FnOnce() -> Result<Arc<dyn Source>>,
) -> Result<Arc<dyn Source>> {
    let inner = options.stats.open(open)?;
    let known = inner.opened_with();
    Ok(Arc::new(Counted { inner, options: options.clone(), known }))
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
        let asked = ranges.iter().filter(|range| !is_known(range));
        let (mut number, mut bytes) = (0, 0);
        for range in asked {
            number += 1;
            bytes += range.end.saturating_sub(range.start);
        }
        match number {
            0 => read(),
            _ => self.options.stats.read(number, bytes, read),
        }
    }
}

impl Source for Counted {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn size(&self) -> u64 {
        self.inner.size()
    }

    fn version(&self) -> Option<String> {
        self.inner.version()
    }

    fn limits(&self) -> Limits {
        self.inner.limits()
    }

    fn limits_of(&self, units: &[Vec<Range<u64>>]) -> Limits {
        self.inner.limits_of(units)
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
        self.inner.close();
    }

    fn check_open(&self) -> Result<()> {
        self.inner.check_open()
    }

    fn options(&self) -> Option<&OpenOptions> {
        Some(&self.options)
    }

    fn opened_with(&self) -> Vec<Range<u64>> {
        self.known.clone()
    }
}
