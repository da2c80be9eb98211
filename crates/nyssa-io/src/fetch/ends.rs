//! Fetches the first and the last bytes of a file, which hold its metadata, in one request.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::read_all;
use crate::source::check_range;
use crate::{Limits, Result, Source};

/// Smallest and largest number of bytes that are read ahead at each end.
const END_BYTES: (u64, u64) = (16 << 10, 256 << 10);
/// Divisor of the number of bytes that the source sends during its latency. The quotient is read ahead at
/// each end.
const PARTS: u64 = 4;

/// Reads the first and the last bytes of a source with one request, and returns a source that keeps them.
/// Opening a remote file would otherwise need a request for each step of reading its metadata. A near source
/// stays unchanged.
///
/// # Errors
/// Those of the source.
pub fn with_ends(source: Arc<dyn Source>) -> Result<Arc<dyn Source>> {
    let limits = source.limits();
    if limits.is_near() {
        return Ok(source);
    }
    let (least, most) = END_BYTES;
    let each = (limits.request_bytes() / PARTS).clamp(least, most);
    let size = source.size();
    let mut ranges = vec![0..each.min(size), size.saturating_sub(each)..size];
    if size <= 2 * each {
        ranges.truncate(1);
        ranges[0].end = size;
    }
    let bytes = read_all(&source, &ranges)?;
    let known = ranges.into_iter().zip(bytes).collect();
    Ok(Arc::new(WithEnds { source, known }))
}

struct WithEnds {
    source: Arc<dyn Source>,
    known: Vec<(Range<u64>, Bytes)>,
}

impl WithEnds {
    fn find(&self, range: &Range<u64>) -> Option<Bytes> {
        let within = |(known, _): &&(Range<u64>, Bytes)| {
            known.start <= range.start && range.start <= range.end && range.end <= known.end
        };
        let (known, bytes) = self.known.iter().find(within)?;
        let (start, end) = (range.start - known.start, range.end - known.start);
        // Both numbers are at most the length of `bytes`, which is a `usize`.
        Some(bytes.slice(start as usize..end as usize))
    }
}

impl Source for WithEnds {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn size(&self) -> u64 {
        self.source.size()
    }

    fn limits(&self) -> Limits {
        self.source.limits()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.check_open()?;
        for range in ranges {
            check_range(self.name(), self.size(), range)?;
        }
        let found: Vec<Option<Bytes>> = ranges.iter().map(|range| self.find(range)).collect();
        let asked: Vec<Range<u64>> = ranges
            .iter()
            .zip(&found)
            .filter(|(_, f)| f.is_none())
            .map(|(r, _)| r.clone())
            .collect();
        let mut read = match asked.is_empty() {
            true => Vec::new(),
            false => self.source.read_ranges(&asked)?,
        }
        .into_iter();
        Ok(found.into_iter().map(|one| one.or_else(|| read.next()).unwrap_or_default()).collect())
    }

    fn close(&self) {
        self.source.close();
    }

    fn check_open(&self) -> Result<()> {
        self.source.check_open()
    }
}
