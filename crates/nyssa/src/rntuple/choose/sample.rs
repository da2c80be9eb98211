//! Sets the sizes of samples.
//!
//! A sample is taken from the middle of the data. If time is more important than size, the sample is small,
//! since compressing it takes time, too.

use std::ops::Range;

use crate::effort::Objective;

/// The number of elements of a page divided by this is the most that a sample has for [`Objective::Time`].
const ELEMENTS_DIVISOR: usize = 4;
/// The maximum number of elements of a sample for [`Objective::Time`].
const ELEMENTS: usize = 8 << 10;
/// For [`Objective::Size`], a sample has at most this number of bytes in memory.
const BYTES: usize = 32 << 10;

/// Returns the elements of a sample of a column with `count` elements, each of `width` bytes in memory.
pub(crate) fn of_column(objective: Objective, count: usize, width: usize) -> Range<usize> {
    let taken = match objective {
        Objective::Time => (count / ELEMENTS_DIVISOR).min(ELEMENTS),
        Objective::Size => count.min(BYTES / width.max(1)),
    };
    let start = (count - taken) / 2;
    start..start + taken
}

/// The bytes of a branch divided by this are the bytes of its sample, within limits that depend on the
/// objective.
const DECODED_DIVISOR: u64 = 128;
/// A branch with fewer decoded bytes than this has no sample, since it cannot save enough. For
/// [`Objective::Time`],
const MIN_BRANCH_BYTES: u64 = 64 << 10;
/// and for [`Objective::Size`].
const MIN_BRANCH_BYTES_FOR_SIZE: u64 = 1 << 10;

/// Returns how many of the `bytes` of a branch are decoded for a sample, or `None` if the branch is too small.
/// The branch becomes so many columns.
pub(crate) fn of_branch(objective: Objective, bytes: u64, columns: u64) -> Option<u64> {
    // For time, this is a few hundred entries, and at most an eighth of a page.
    let (worth, least, most) = match objective {
        Objective::Time => (MIN_BRANCH_BYTES, 8 << 10, 128 << 10),
        Objective::Size => {
            let least = columns.max(1).saturating_mul(32 << 10);
            (MIN_BRANCH_BYTES_FOR_SIZE, least, least.max(128 << 10))
        }
    };
    (bytes >= worth).then(|| (bytes / DECODED_DIVISOR).clamp(least, most))
}

/// Returns how many bytes of a field of an RNTuple, with its subfields, are decoded for a sample.
pub(crate) fn of_field(objective: Objective) -> u64 {
    match objective {
        Objective::Time => 128 << 10,
        Objective::Size => 512 << 10,
    }
}
