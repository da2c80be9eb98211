//! Parses answers to vectored reads.

use std::ops::Range;

use bytes::Bytes;

use super::{Malformed, u32_at, u64_at};

/// The number of bytes before the data of each range: handle, length, offset.
const HEADER: usize = 16;

/// Returns the bytes of each range from the answer to a `readv`. Nothing is copied.
pub fn split_vector(body: &Bytes, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, Malformed> {
    let mut at = 0;
    let mut parts = Vec::with_capacity(ranges.len());
    for range in ranges {
        let short = || {
            Malformed(format!(
                "an answer of {} bytes to a vectored read, which is too short",
                body.len()
            ))
        };
        let length = u32_at(body, at + 4).ok_or_else(short)?;
        let offset = u64_at(body, at + 8).ok_or_else(short)?;
        if offset != range.start || u64::from(length) != range.end - range.start {
            let wanted = format!("{} to {}", range.start, range.end);
            let came = format!("{length} bytes at {offset}");
            return Err(Malformed(format!("{came} where bytes {wanted} were requested")));
        }
        let (start, end) = (at + HEADER, (at + HEADER).saturating_add(length as usize));
        if end > body.len() {
            return Err(short());
        }
        parts.push(body.slice(start..end));
        at = end;
    }
    if at != body.len() {
        return Err(Malformed(format!(
            "an answer to a vectored read with {} bytes too many",
            body.len() - at
        )));
    }
    Ok(parts)
}

/// Returns the length of the answer to a `readv` of ranges.
pub fn vector_length(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start + HEADER as u64).sum()
}
