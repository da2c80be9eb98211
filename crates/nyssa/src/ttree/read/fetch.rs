//! Many byte ranges in as few requests as the source's limits allow.

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use nyssa_io::Source;

use crate::error::{Error, Result};
use crate::guard;

/// Bytes of each of `ranges`, which are sorted by start. Neighbours no further apart than the
/// source's coalescing gap travel as one range; ranges that fit one request travel in one request.
///
/// # Errors
/// `OutOfSpecification` for a range beyond the end of the file, `Io`.
pub(crate) fn fetch(source: &dyn Source, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
    if let Some(range) = ranges.iter().find(|range| range.end > source.size()) {
        let place = range.start;
        return Err(Error::out_of_spec(format!(
            "{} bytes are stored at byte {place} of a file of {} bytes",
            range.end - range.start,
            source.size()
        ))
        .at(|at| at.offset = Some(place)));
    }
    let limits = source.limits();
    let spans = merge(ranges, limits.coalesce_gap(), limits.max_range_bytes.max(1));
    let pieces: Vec<Range<u64>> =
        spans.iter().flat_map(|span| pieces(span, limits.max_range_bytes.max(1))).collect();
    let mut parts = Vec::with_capacity(pieces.len());
    for request in pieces.chunks(limits.max_ranges.max(1)) {
        parts.append(&mut source.read_ranges(request)?);
    }
    let mut parts = parts.into_iter();
    let mut blocks = Vec::with_capacity(spans.len());
    for span in &spans {
        blocks.push(join(span, &mut parts)?);
    }
    slice(ranges, &spans, &blocks)
}

/// Joins sorted ranges whose gap is at most `gap`, as long as the result stays within `limit`.
fn merge(ranges: &[Range<u64>], gap: u64, limit: u64) -> Vec<Range<u64>> {
    let mut spans: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        if let Some(last) = spans.last_mut() {
            let near = range.start <= last.end.saturating_add(gap);
            let end = last.end.max(range.end);
            if near && range.start >= last.start && end - last.start <= limit {
                last.end = end;
                continue;
            }
        }
        spans.push(range.clone());
    }
    spans
}

/// Cuts a span into pieces of at most `limit` bytes.
fn pieces(span: &Range<u64>, limit: u64) -> impl Iterator<Item = Range<u64>> {
    let end = span.end;
    let mut start = span.start;
    std::iter::from_fn(move || {
        (start < end).then(|| {
            let piece = start..end.min(start.saturating_add(limit));
            start = piece.end;
            piece
        })
    })
}

fn join(span: &Range<u64>, parts: &mut impl Iterator<Item = Bytes>) -> Result<Bytes> {
    let length = guard::to_usize(span.end - span.start, "a range")?;
    let short = || Error::new(crate::Kind::Io, "the source answered with too few bytes");
    if length == 0 {
        return Ok(Bytes::new());
    }
    let first = parts.next().ok_or_else(short)?;
    if first.len() == length {
        return Ok(first);
    }
    let mut whole = BytesMut::from(first);
    while whole.len() < length {
        whole.extend_from_slice(&parts.next().filter(|part| !part.is_empty()).ok_or_else(short)?);
    }
    Ok(whole.freeze())
}

/// The bytes of each range out of the block of the span that holds it.
fn slice(ranges: &[Range<u64>], spans: &[Range<u64>], blocks: &[Bytes]) -> Result<Vec<Bytes>> {
    let mut index = 0;
    let mut out = Vec::with_capacity(ranges.len());
    for range in ranges {
        while spans.get(index).is_some_and(|span| range.end > span.end || range.start < span.start)
        {
            index += 1;
        }
        let (Some(span), Some(block)) = (spans.get(index), blocks.get(index)) else {
            return Err(Error::invalid_argument("ranges to fetch must be sorted"));
        };
        let start = guard::to_usize(range.start - span.start, "an offset")?;
        out.push(block.slice(start..start + guard::to_usize(range.end - range.start, "a range")?));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_ranges_travel_together() {
        let ranges = [0..10, 10..20, 24..30, 60..70];
        assert_eq!(merge(&ranges, 0, 1000), [0..20, 24..30, 60..70]);
        assert_eq!(merge(&ranges, 4, 1000), [0..30, 60..70]);
        assert_eq!(merge(&ranges, 30, 25), [0..20, 24..30, 60..70]);
    }

    #[test]
    fn long_ranges_are_cut() {
        assert_eq!(pieces(&(5..25), 8).collect::<Vec<_>>(), [5..13, 13..21, 21..25]);
        assert_eq!(pieces(&(5..5), 8).count(), 0);
    }
}
