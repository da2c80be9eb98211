//! Takes samples of columns, and sets their sizes.
//!
//! A sample is taken from the middle of the data. If time is more important than size, the sample is small,
//! since compressing it takes time, too.

use std::ops::Range;

use nyssa_root::effort::{Chooser, Goal};

use crate::encoding::ColumnType;
use crate::heuristics::choose;
use crate::seal::{ColumnData, ColumnPlan};

/// Returns the sample of a column: some of the first `count` elements of `data`.
pub(crate) fn of_column(
    chooser: &Chooser,
    plan: &ColumnPlan<'_>,
    data: &ColumnData,
    count: usize,
) -> Range<usize> {
    let (goal, width) = (chooser.goal(), plan.encoding().native_size());
    let of_size = |repeats| elements(goal, count, width, repeats);
    let large = of_size(true);
    let repeats = goal == Goal::Size && column_repeats(plan, data, large.clone());
    if repeats { large } else { of_size(false) }
}

/// Returns the elements of a sample of a column with `count` elements, each of `width` bytes in memory. If values
/// repeat (see [`repeats`]), the sample is larger.
fn elements(goal: Goal, count: usize, width: usize, repeats: bool) -> Range<usize> {
    let bytes = if repeats { choose::SAMPLE_BYTES_OF_REPEATS } else { choose::SAMPLE_BYTES };
    let taken = match goal {
        Goal::Time => (count / choose::SAMPLE_DIVISOR).min(choose::SAMPLE_ELEMENTS),
        Goal::Size => count.min(bytes / width.max(1)),
    };
    let start = (count - taken) / 2;
    start..start + taken
}

/// Returns how many of the `bytes` of a branch are decoded for a sample, or `None` if the branch is too small. The
/// branch becomes `columns` columns.
pub fn of_branch(goal: Goal, bytes: u64, columns: u64) -> Option<u64> {
    let (worth, least) = match goal {
        Goal::Time => (choose::MIN_BRANCH_BYTES, choose::MIN_BRANCH_SAMPLE),
        Goal::Size => {
            let columns = columns.max(1);
            let [few, many] = choose::COLUMN_SAMPLE.map(|bytes| bytes.saturating_mul(columns));
            let least = (bytes / choose::SMALL_BRANCH_DIVISOR).clamp(few, many);
            (choose::MIN_BRANCH_BYTES_FOR_SIZE, least)
        }
    };
    let most = choose::MAX_BRANCH_SAMPLE.max(least);
    (bytes >= worth).then(|| (bytes / choose::BRANCH_DIVISOR).clamp(least, most))
}

/// Returns whether whole values repeat often, like the angles of the cells of a detector. `values` are the values of
/// a column, each of `width` bytes.
fn repeats(values: &[u8], width: usize) -> bool {
    let count = values.len() / width.max(1);
    if count < choose::EXAMINED {
        return false;
    }
    let value = |index: usize| values.get(index * width..(index + 1) * width);
    let mut some: Vec<_> =
        (0..choose::EXAMINED).map(|step| value(step * count / choose::EXAMINED)).collect();
    some.sort_unstable();
    let runs = || some.chunk_by(|a, b| a == b).map(<[_]>::len);
    // Many columns have one value for unknown data, which even small samples show.
    let others = choose::EXAMINED - runs().max().unwrap_or(0);
    let different = runs().count() - 1;
    different >= choose::MIN_DIFFERENT && different * 2 <= others
}

/// Returns whether a column of floating-point numbers has values that repeat often in a range. Other columns with
/// repeated values are small in any form.
pub(super) fn column_repeats(
    plan: &ColumnPlan<'_>,
    data: &ColumnData,
    range: Range<usize>,
) -> bool {
    let encoding = plan.encoding();
    let is_real = matches!(
        encoding.column_type.unsplit_form(),
        ColumnType::Real16 | ColumnType::Real32 | ColumnType::Real64
    );
    let mut buffer = Vec::new();
    is_real && repeats(data.native(range, &mut buffer), encoding.native_size())
}

/// Returns the number of entries of a sample of a branch whose values repeat, instead of `entries`.
pub fn longer(entries: u64) -> u64 {
    entries.saturating_mul(choose::LONGER)
}

/// Returns how many bytes of a field of an RNTuple, with its subfields, are decoded for a sample.
pub fn of_field(goal: Goal) -> u64 {
    match goal {
        Goal::Time => 128 << 10,
        Goal::Size => 512 << 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_come_again() {
        let of = |different: u32, count: u32| {
            let values = (0..count).map(|index| index.wrapping_mul(2_654_435_761) >> 8);
            let bytes = values.flat_map(|value| (value % different).to_le_bytes());
            repeats(&bytes.collect::<Vec<u8>>(), 4)
        };
        assert!(of(72, 1000) && of(72, 256) && of(9, 1000));
        // Few values, many values, and too few values to decide.
        assert!(!of(8, 1000) && !of(10_000, 1000) && !of(72, 255) && !repeats(&[], 0));
        // Every second value is zero.
        let halves = (0..1000_u32).flat_map(|index| (index % 2 * index).to_le_bytes());
        assert!(!repeats(&halves.collect::<Vec<u8>>(), 4));
        assert_eq!(elements(Goal::Size, 1 << 20, 4, false).len(), 8 << 10);
        assert_eq!(elements(Goal::Size, 1 << 20, 4, true).len(), 32 << 10);
    }

    #[test]
    fn samples_of_branches_grow_with_them() {
        let of = |goal, kibibytes: u64, columns| {
            of_branch(goal, kibibytes << 10, columns).map(|bytes| bytes >> 10)
        };
        for (kibibytes, columns, time, size) in [
            (0, 1, None, None),
            (1, 1, None, Some(4)),
            (128, 1, Some(8), Some(8)),
            (512, 1, Some(8), Some(32)),
            (512, 10, Some(8), Some(40)),
            (8 << 10, 1, Some(64), Some(64)),
            (8 << 10, 10, Some(64), Some(320)),
            (1 << 20, 1, Some(128), Some(128)),
            (1 << 20, 10, Some(128), Some(320)),
        ] {
            assert_eq!(of(Goal::Time, kibibytes, columns), time, "{kibibytes} {columns}");
            assert_eq!(of(Goal::Size, kibibytes, columns), size, "{kibibytes} {columns}");
        }
    }
}
