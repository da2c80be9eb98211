//! Converts the counters of jagged branches to offsets.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use nyssa_root::arrow::{brief, with_integer_type};
use nyssa_root::error::{Error, Result};

/// Returns the offsets whose differences are the integers of `counter`, or of its member `leaf` if it is a
/// record. There is one more offset than entries, and the first is 0. Messages count entries from `first`, the
/// entry of the first integer.
///
/// # Errors
/// `OutOfSpecification` for a negative count or a sum beyond 63 bits; `Unsupported` when the counter does not
/// hold one integer for each entry.
pub(crate) fn offsets(counter: &ArrayRef, leaf: &str, first: u64) -> Result<OffsetBuffer<i64>> {
    let member = counter.as_struct_opt().and_then(|record| record.column_by_name(leaf));
    let counter = member.unwrap_or(counter);
    let data_type = counter.data_type();
    let no_integers =
        || Err(Error::unsupported(format!("a counter holds {}, not integers", brief(data_type))));
    with_integer_type!(data_type, T => sum::<T>(counter, first), _ => no_integers())
}

/// Returns the lengths that a branch holds, one for each value: its numbers, or the items of its lists.
///
/// # Errors
/// `OutOfSpecification` for a negative length; `Unsupported` for values that are not integers.
pub(crate) fn lengths(counter: &ArrayRef) -> Result<Vec<usize>> {
    let items = counter.as_list_opt::<i64>().map_or(counter, |list| list.values());
    let offsets = offsets(items, "", 0)?;
    Ok(offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize).collect())
}

fn sum<T: ArrowPrimitiveType>(counter: &ArrayRef, first: u64) -> Result<OffsetBuffer<i64>>
where
    T::Native: TryInto<i64> + std::fmt::Display,
{
    let counts = counter.as_primitive::<T>().values();
    let mut offsets = Vec::with_capacity(counts.len() + 1);
    let mut end = 0_i64;
    offsets.push(end);
    for (entry, &count) in counts.iter().enumerate() {
        let next = count.try_into().ok().filter(|&n| n >= 0).and_then(|n| end.checked_add(n));
        let Some(next) = next else {
            return Err(Error::out_of_spec(format!("a counter says {count} elements"))
                .at(|place| place.entry = Some(first + entry as u64)));
        };
        end = next;
        offsets.push(end);
    }
    Ok(OffsetBuffer::new(ScalarBuffer::from(offsets)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Float32Array, Int16Array, UInt64Array};

    use super::*;

    #[test]
    fn integers_of_any_width_add_up() {
        let counter: ArrayRef = Arc::new(Int16Array::from(vec![2, 0, 3]));
        assert_eq!(&offsets(&counter, "n", 0).unwrap()[..], [0, 2, 2, 5]);
    }

    #[test]
    fn impossible_counts_are_refused() {
        let negative: ArrayRef = Arc::new(Int16Array::from(vec![2, -1]));
        assert_eq!(
            offsets(&negative, "n", 10).unwrap_err().to_string(),
            "a counter says -1 elements (entry 11)"
        );
        let huge: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
        assert_eq!(
            offsets(&huge, "n", 0).unwrap_err().to_string(),
            "a counter says 18446744073709551615 elements (entry 0)"
        );
        let float: ArrayRef = Arc::new(Float32Array::from(vec![1.0]));
        assert!(offsets(&float, "n", 0).is_err());
    }
}
