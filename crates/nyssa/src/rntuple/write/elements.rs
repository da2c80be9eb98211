//! Defines the elements of one column. They borrow Arrow buffers that have the right layout.

use std::ops::{BitOr, Range};

use arrow_buffer::{BooleanBuffer, Buffer, ScalarBuffer};

use crate::error::{Error, Result};
use crate::rntuple::encoding::{SWITCH_SIZE, switch_element};

/// All elements of a column in one cluster.
#[derive(Clone, Debug)]
pub(super) enum Elements {
    /// Little-endian values of `width` bytes.
    Bytes { values: Buffer, width: usize },
    /// Booleans.
    Bits(BooleanBuffer),
    /// Arrow offsets. There is one more offset than elements, and the first one can be any number.
    Offsets(Offsets),
    /// Tags of variants. The indexes follow from the tags before.
    Tags(Vec<u8>),
}

/// Offsets of 32 or 64 bits. Some functions need offsets that were checked to never decrease.
#[derive(Clone, Debug)]
pub(super) enum Offsets {
    Small(ScalarBuffer<i32>),
    Large(ScalarBuffer<i64>),
}

impl Offsets {
    /// Checks that the offsets never decrease and stay inside `values` child elements. Arrow guarantees this,
    /// but arrays from the C interface were never checked.
    pub(super) fn checked(self, values: usize) -> Result<Self> {
        let (len, grows) = match &self {
            Self::Small(offsets) => (offsets.len(), grow(offsets, i32::wrapping_sub) >= 0),
            Self::Large(offsets) => (offsets.len(), grow(offsets, i64::wrapping_sub) >= 0),
        };
        let (first, last) = (self.get(0), self.get(len.saturating_sub(1)));
        let inside = first >= 0 && u64::try_from(last).is_ok_and(|last| last <= values as u64);
        if len == 0 || !grows || !inside {
            return Err(Error::invalid_argument(format!(
                "offsets of a list must grow from 0 to at most its {values} items, these go from \
                 {first} to {last}"
            )));
        }
        Ok(self)
    }

    /// Makes the offsets of lists of these lengths.
    pub(super) fn of_lengths(lengths: impl IntoIterator<Item = usize>) -> Self {
        let mut end = 0i64;
        let ends = lengths.into_iter().map(|length| {
            end = end.saturating_add_unsigned(length as u64);
            end
        });
        Self::Large(std::iter::once(0).chain(ends).collect())
    }

    /// Returns the list that has item `at`. Items are counted from the first item of the first list.
    pub(super) fn row(&self, at: usize) -> usize {
        let item = self.get(0).saturating_add_unsigned(at as u64);
        let ends = match self {
            Self::Small(offsets) => offsets.partition_point(|&end| i64::from(end) <= item),
            Self::Large(offsets) => offsets.partition_point(|&end| end <= item),
        };
        ends.saturating_sub(1)
    }

    /// Returns whether no list has more than one item.
    pub(super) fn at_most_one(&self) -> bool {
        match self {
            Self::Small(offsets) => offsets.windows(2).all(|w| w[1].saturating_sub(w[0]) <= 1),
            Self::Large(offsets) => offsets.windows(2).all(|w| w[1].saturating_sub(w[0]) <= 1),
        }
    }

    fn get(&self, index: usize) -> i64 {
        match self {
            Self::Small(offsets) => offsets.get(index).copied().map_or(0, i64::from),
            Self::Large(offsets) => offsets.get(index).copied().unwrap_or(0),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Small(offsets) => offsets.len(),
            Self::Large(offsets) => offsets.len(),
        }
    }

    /// Returns the number of items of each list. The offsets must have been checked by [`Offsets::checked`].
    pub(super) fn lengths(&self) -> impl Iterator<Item = usize> {
        (1..self.len()).map(|end| usize::try_from(self.get(end) - self.get(end - 1)).unwrap_or(0))
    }

    /// Returns the range of the child elements. The offsets must have been checked by [`Offsets::checked`].
    pub(super) fn values(&self) -> Range<usize> {
        let index = |at| usize::try_from(self.get(at)).unwrap_or(0);
        index(0)..index(self.len().saturating_sub(1))
    }
}

/// Combines offsets so that the result is negative if an offset (except the first) is negative or is smaller
/// than the one before. It reads all offsets with vector instructions, which is faster than to stop at the
/// first bad one.
fn grow<T: Copy + Default + BitOr<Output = T>>(offsets: &[T], minus: impl Fn(T, T) -> T) -> T {
    let signs = |signs, pair: &[T]| signs | pair[1] | minus(pair[1], pair[0]);
    offsets.windows(2).fold(T::default(), signs)
}

impl Elements {
    /// Returns the number of elements.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Bytes { values, width } => values.len() / width,
            Self::Bits(values) => values.len(),
            Self::Offsets(offsets) => offsets.len().saturating_sub(1),
            Self::Tags(tags) => tags.len(),
        }
    }

    /// Returns the last end offset of a collection. Returns `None` for columns without offsets.
    pub(super) fn last_offset(&self) -> Option<u64> {
        match self {
            Self::Offsets(offsets) => Some(offsets.values().len() as u64),
            _ => None,
        }
    }

    /// Converts the elements to a form that does not depend on earlier elements: tags become switches. `counts`
    /// are the numbers of values of each alternative in the cluster so far. The indexes continue from them.
    pub(super) fn placed(self, counts: &mut Vec<u64>) -> Self {
        let Self::Tags(tags) = self else { return self };
        let mut switches = Vec::with_capacity(tags.len() * SWITCH_SIZE);
        for tag in tags {
            let index = usize::from(tag);
            if counts.len() <= index {
                counts.resize(index + 1, 0);
            }
            // As in ROOT, a variant without a value has index 0.
            let at = if tag == 0 { 0 } else { counts[index] };
            counts[index] += 1;
            switches.extend_from_slice(&switch_element(at, u32::from(tag)));
        }
        Self::Bytes { values: Buffer::from_vec(switches), width: SWITCH_SIZE }
    }

    /// Appends the elements of `range` in the layout of [`crate::rntuple::encoding`] and adds `base` to
    /// offsets. Tags must have been converted by [`Elements::placed`].
    pub(super) fn append_native(&self, range: Range<usize>, base: i64, out: &mut Vec<u8>) {
        match self {
            Self::Bytes { values, width } => {
                out.extend_from_slice(&values[range.start * width..range.end * width]);
            }
            Self::Bits(values) => {
                out.extend(values.slice(range.start, range.len()).iter().map(u8::from));
            }
            Self::Offsets(Offsets::Small(offsets)) => {
                let base = base - i64::from(offsets[0]);
                let ends = &offsets[range.start + 1..range.end + 1];
                out.extend(ends.iter().flat_map(|&end| (i64::from(end) + base).to_le_bytes()));
            }
            Self::Offsets(Offsets::Large(offsets)) => {
                let base = base - offsets[0];
                let ends = &offsets[range.start + 1..range.end + 1];
                out.extend(ends.iter().flat_map(|&end| (end + base).to_le_bytes()));
            }
            Self::Tags(_) => {}
        }
    }

    /// Returns the size in bytes of one element in memory.
    pub(super) fn native_width(&self) -> usize {
        match self {
            Self::Bytes { width, .. } => *width,
            Self::Bits(_) => 1,
            Self::Offsets(_) => 8,
            Self::Tags(_) => SWITCH_SIZE,
        }
    }
}
