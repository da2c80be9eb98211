//! Fetches the first and the last bytes of a file, which hold its metadata, in one request.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::read_all;
use crate::known::{Known, read_unknown};
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
    let each = (limits.latency_bytes() / PARTS).clamp(least, most);
    let size = source.size();
    let mut ranges = vec![0..each.min(size), size.saturating_sub(each)..size];
    if size <= 2 * each {
        ranges.truncate(1);
        ranges[0].end = size;
    }
    let bytes = read_all(&source, &ranges)?;
    let known = Known::new(ranges.into_iter().zip(bytes));
    Ok(Arc::new(WithEnds { source, known }))
}

struct WithEnds {
    source: Arc<dyn Source>,
    known: Known,
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
        let find = |range: &Range<u64>| self.known.find(range);
        read_unknown(ranges, find, |unknown| self.source.read_ranges(unknown))
    }

    fn read_ranges_again(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.check_open()?;
        let find = |range: &Range<u64>| self.known.find(range);
        read_unknown(ranges, find, |unknown| self.source.read_ranges_again(unknown))
    }

    fn close(&self) {
        self.source.close();
    }

    fn check_open(&self) -> Result<()> {
        self.source.check_open()
    }
}
