//! Counts the requests to a source.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::io_stats::IoStats;
use crate::{Limits, OpenOptions, Result, Source};

/// A source that counts the requests to an inner source, for the options by which it was opened and for the process.
struct Counted {
    inner: Arc<dyn Source>,
    options: OpenOptions,
}

/// Opens a source by `open`, and returns it with counters.
///
/// # Errors
/// Those of `open`.
pub(crate) fn counted(
    options: &OpenOptions,
    open: impl FnOnce() -> Result<Arc<dyn Source>>,
) -> Result<Arc<dyn Source>> {
    let inner = counting(&options.stats, open, |stats, source| {
        stats.add_open(source.name(), source.size());
    })?;
    Ok(Arc::new(Counted { inner, options: options.clone() }))
}

/// Runs `work`, an open or a request, and adds it to `stats` and to the counters of the process. If it succeeds,
/// `count` adds the result, too.
fn counting<T>(
    stats: &IoStats,
    work: impl FnOnce() -> Result<T>,
    count: impl Fn(&IoStats, &T),
) -> Result<T> {
    let all = [stats, &IoStats::of_process()];
    let began = all.map(IoStats::begin);
    let done = work();
    for (stats, began) in all.into_iter().zip(began) {
        stats.end(began);
        if let Ok(done) = &done {
            count(stats, done);
        }
    }
    done
}

impl Counted {
    fn count(
        &self,
        ranges: &[Range<u64>],
        read: impl FnOnce(&dyn Source) -> Result<Vec<Bytes>>,
    ) -> Result<Vec<Bytes>> {
        let size = |answers: &Vec<Bytes>| answers.iter().map(|bytes| bytes.len() as u64).sum();
        counting(
            &self.options.stats,
            || read(self.inner.as_ref()),
            |stats, answers| stats.add_read(ranges.len(), size(answers)),
        )
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
        self.count(ranges, |inner| inner.read_ranges(ranges))
    }

    fn read_ranges_again(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.count(ranges, |inner| inner.read_ranges_again(ranges))
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
}
