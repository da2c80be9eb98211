//! Keeps bytes of a resource that are known without a request.

use std::ops::Range;

use bytes::Bytes;

/// Ranges of a resource with their bytes.
#[derive(Debug, Default)]
pub(crate) struct Known(Vec<(Range<u64>, Bytes)>);

impl Known {
    /// Makes the value from ranges and their bytes, which have the lengths of the ranges.
    pub(crate) fn new(ranges: impl IntoIterator<Item = (Range<u64>, Bytes)>) -> Self {
        Self(ranges.into_iter().collect())
    }

    /// Returns the ranges.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = &Range<u64>> {
        self.0.iter().map(|(range, _)| range)
    }

    /// Returns the number of all bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.ranges().map(|range| range.end - range.start).sum()
    }

    /// Returns the bytes of a range that lies within one of the known ranges.
    pub(crate) fn find(&self, range: &Range<u64>) -> Option<Bytes> {
        let within = |(known, _): &&(Range<u64>, Bytes)| {
            known.start <= range.start && range.start <= range.end && range.end <= known.end
        };
        let (known, bytes) = self.0.iter().find(within)?;
        let (start, end) = (range.start - known.start, range.end - known.start);
        // Both numbers are at most the length of `bytes`, which is a `usize`.
        Some(bytes.slice(start as usize..end as usize))
    }
}

/// Returns the bytes of `ranges`, in their order. `find` returns those that are known. `read` is called once
/// for all others, if there are any.
///
/// # Errors
/// `read` fails.
pub(crate) fn read_unknown<E>(
    ranges: &[Range<u64>],
    find: impl Fn(&Range<u64>) -> Option<Bytes>,
    read: impl FnOnce(&[Range<u64>]) -> Result<Vec<Bytes>, E>,
) -> Result<Vec<Bytes>, E> {
    let known: Vec<Option<Bytes>> = ranges.iter().map(find).collect();
    let unknown = ranges.iter().zip(&known).filter(|(_, bytes)| bytes.is_none());
    let unknown: Vec<Range<u64>> = unknown.map(|(range, _)| range.clone()).collect();
    let read = if unknown.is_empty() { Vec::new() } else { read(&unknown)? };
    let mut read = read.into_iter();
    Ok(known.into_iter().map(|item| item.or_else(|| read.next()).unwrap_or_default()).collect())
}
