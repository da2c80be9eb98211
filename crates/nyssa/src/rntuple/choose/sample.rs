//! How much of the data is looked at.
//!
//! A sample is taken from the middle of what is at hand. Where time is worth more than size, it is small,
//! since looking takes time too.

use std::ops::Range;

use super::Goal;

/// For time, a sample is at most one in so many elements of a page,
const ELEMENTS_DIVISOR: usize = 4;
/// and at most so many elements.
const ELEMENTS: usize = 8 << 10;
/// For size, a sample has at most so many bytes in memory.
const BYTES: usize = 256 << 10;

/// The elements to look at among the first `count` of a column, each of `width` bytes in memory.
pub(crate) fn of_column(goal: Goal, count: usize, width: usize) -> Range<usize> {
    let taken = match goal {
        Goal::Time => (count / ELEMENTS_DIVISOR).min(ELEMENTS),
        Goal::Size => count.min(BYTES / width.max(1)),
    };
    let start = (count - taken) / 2;
    start..start + taken
}

/// Of a TTree, one byte in so many is decoded to look at it, within [`Goal::decoded_bytes`].
const DECODED_DIVISOR: u64 = 128;
/// Branches with fewer decoded bytes than this cannot save enough to be looked at.
const LEAST_BRANCH_BYTES: u64 = 64 << 10;

/// Bytes of a branch to decode where it has `bytes`; `None` where it is too small to matter.
pub(crate) fn of_branch(goal: Goal, bytes: u64) -> Option<u64> {
    // As long as a few hundred entries, at most an eighth of a page; more for size.
    let (least, most) = match goal {
        Goal::Time => (8 << 10, 128 << 10),
        Goal::Size => (256 << 10, 512 << 10),
    };
    (bytes >= LEAST_BRANCH_BYTES).then(|| (bytes / DECODED_DIVISOR).clamp(least, most))
}

/// Bytes of a field, with all that is below it, to decode of an RNTuple.
pub(crate) fn of_field(goal: Goal) -> u64 {
    match goal {
        Goal::Time => 128 << 10,
        Goal::Size => 4 << 20,
    }
}
