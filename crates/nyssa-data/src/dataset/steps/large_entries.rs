//! Finds entries that are so large that each is a step of its own.

use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use nyssa_root::arrow::{Cutter, memory};
use nyssa_root::error::Result;

/// Returns the ends of the steps of some entries, of which the first is `from`. Each entry of more than `most` bytes is a
/// step of its own. Returns `None` if no entry is so large.
///
/// # Errors
/// `OutOfSpecification` for lists whose offsets do not match their items.
pub(super) fn ends(arrays: &[ArrayRef], from: u64, most: u64) -> Result<Option<Vec<u64>>> {
    let rows = arrays.first().map_or(0, |array| array.len());
    let mut large = Vec::new();
    find(arrays, 0..rows, most, &mut large)?;
    if large.is_empty() {
        return Ok(None);
    }
    let around = large.into_iter().flat_map(|row| [row, row + 1]).chain([rows]);
    let mut ends: Vec<u64> = around.filter(|&row| row > 0).map(|row| from + row as u64).collect();
    ends.dedup();
    Ok(Some(ends))
}

/// Adds the rows that have more than `most` bytes.
fn find(arrays: &[ArrayRef], rows: Range<usize>, most: u64, large: &mut Vec<usize>) -> Result<()> {
    let mut cutter = Cutter::default();
    let cut = |array| cutter.cut(array, rows.start, rows.len());
    let pieces = arrays.iter().map(cut).collect::<Result<Vec<_>>>()?;
    if memory(&pieces) <= most {
        return Ok(());
    }
    if rows.len() == 1 {
        large.push(rows.start);
        return Ok(());
    }
    let middle = rows.start + rows.len() / 2;
    find(arrays, rows.start..middle, most, large)?;
    find(arrays, middle..rows.end, most, large)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int64Type;
    use arrow_array::{Int64Array, LargeListArray};

    use super::*;

    #[test]
    fn a_large_entry_is_alone() {
        let lists = |lengths: &[usize]| -> Vec<ArrayRef> {
            let lists = lengths.iter().map(|&length| Some(vec![Some(1); length]));
            let array = LargeListArray::from_iter_primitive::<Int64Type, _, _>(lists);
            vec![Arc::new(array), Arc::new(Int64Array::from(vec![0; lengths.len()]))]
        };
        let ends = |lengths: &[usize]| ends(&lists(lengths), 10, 400).unwrap();
        assert_eq!(ends(&[1, 2, 3, 100, 4, 5]), Some(vec![13, 14, 16]));
        assert_eq!(ends(&[100, 1, 100]), Some(vec![11, 12, 13]));
        assert_eq!(ends(&[100]), Some(vec![11]));
        // The sum of all entries is large, but no entry is.
        assert_eq!(ends(&[40; 9]), None);
        assert_eq!(ends(&[]), None);
    }
}
