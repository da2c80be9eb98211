//! Merges ranges that are close together, so that one request reads them as one range.

use std::ops::Range;

/// One range that covers several ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The bytes to read.
    pub range: Range<u64>,
    /// The indices of the ranges that it covers, sorted by start.
    pub members: Vec<usize>,
}

/// Merges ranges with at most `gap` bytes between them into ranges of at most `max_bytes`, sorted by start. A
/// single range above `max_bytes` is not split. Empty ranges are left out.
pub fn coalesce(ranges: &[Range<u64>], gap: u64, max_bytes: u64) -> Vec<Merged> {
    let mut order: Vec<usize> = (0..ranges.len()).filter(|&i| !ranges[i].is_empty()).collect();
    order.sort_by_key(|&index| (ranges[index].start, ranges[index].end));
    let mut merged: Vec<Merged> = Vec::new();
    for index in order {
        let range = &ranges[index];
        if let Some(last) = merged.last_mut() {
            let end = last.range.end.max(range.end);
            let near = range.start.saturating_sub(last.range.end) <= gap;
            // A range that adds no bytes is merged with a range of any size.
            if near && (end == last.range.end || end - last.range.start <= max_bytes) {
                last.range.end = end;
                last.members.push(index);
                continue;
            }
        }
        merged.push(Merged { range: range.clone(), members: vec![index] });
    }
    merged
}
