//! Merging ranges that lie close together, so that they travel as one.

use std::ops::Range;

/// One range that serves several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Bytes to read.
    pub range: Range<u64>,
    /// Indices of the ranges it serves, by start.
    pub members: Vec<usize>,
}

/// Merges ranges with at most `gap` bytes between them into ranges of at most `max_bytes`, by start.
/// A single range above `max_bytes` stays one; empty ranges need none and are left out.
pub fn coalesce(ranges: &[Range<u64>], gap: u64, max_bytes: u64) -> Vec<Merged> {
    let mut order: Vec<usize> = (0..ranges.len()).filter(|&i| !ranges[i].is_empty()).collect();
    order.sort_by_key(|&index| (ranges[index].start, ranges[index].end));
    let mut merged: Vec<Merged> = Vec::new();
    for index in order {
        let range = &ranges[index];
        if let Some(last) = merged.last_mut() {
            let end = last.range.end.max(range.end);
            let near = range.start.saturating_sub(last.range.end) <= gap;
            // A range that adds no bytes joins one of any size.
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
