//! Defines the elements of one column. They borrow Arrow buffers that have the right layout.

use std::ops::Range;

use arrow_buffer::{BooleanBuffer, Buffer};
use nyssa_root::arrow::bytes_of_bits;
use nyssa_root::arrow::lists::Offsets;

use crate::encoding::{SWITCH_SIZE, switch_element};

/// All elements of a column in one cluster.
#[derive(Clone, Debug)]
pub(crate) enum Elements {
    /// Little-endian values of `width` bytes.
    Bytes { values: Buffer, width: usize },
    /// Booleans.
    Bits(BooleanBuffer),
    /// Arrow offsets. There is one more offset than elements, and the first offset can be any number.
    Offsets(Offsets),
    /// Tags of variants. The indexes follow from earlier tags.
    Tags(Vec<u8>),
}

impl Elements {
    /// Makes elements of one byte each.
    pub(crate) fn bytes(values: Buffer) -> Self {
        Self::Bytes { values, width: 1 }
    }

    /// Copies elements that borrow an array.
    pub(crate) fn own(&mut self) {
        match self {
            // Nobody else has a buffer that a conversion made.
            Self::Bytes { values, .. } if values.strong_count() > 1 => {
                *values = Buffer::from_slice_ref(values.as_slice());
            }
            Self::Bits(bits) => {
                let bytes = Buffer::from_slice_ref(bits.sliced().as_slice());
                *bits = BooleanBuffer::new(bytes, 0, bits.len());
            }
            Self::Offsets(Offsets::Small(offsets)) => *offsets = offsets.to_vec().into(),
            Self::Offsets(Offsets::Large(offsets)) => *offsets = offsets.to_vec().into(),
            Self::Bytes { .. } | Self::Tags(_) => {}
        }
    }

    /// Returns a range of the elements. Elements outside the array are left out.
    pub(crate) fn cut(&self, range: Range<usize>) -> Self {
        let end = range.end.min(self.len());
        let (start, count) = (range.start.min(end), end.saturating_sub(range.start));
        match self {
            Self::Bytes { values, width } => {
                let values = values.slice_with_length(start * width, count * width);
                Self::Bytes { values, width: *width }
            }
            Self::Bits(bits) => Self::Bits(bits.slice(start, count)),
            Self::Offsets(Offsets::Small(offsets)) => {
                let count = (count + 1).min(offsets.len() - start);
                Self::Offsets(Offsets::Small(offsets.slice(start, count)))
            }
            Self::Offsets(Offsets::Large(offsets)) => {
                let count = (count + 1).min(offsets.len() - start);
                Self::Offsets(Offsets::Large(offsets.slice(start, count)))
            }
            Self::Tags(tags) => Self::Tags(tags[start..end].to_vec()),
        }
    }

    /// Returns the number of elements.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bytes { values, width } => values.len() / width,
            Self::Bits(values) => values.len(),
            Self::Offsets(offsets) => offsets.len().saturating_sub(1),
            Self::Tags(tags) => tags.len(),
        }
    }

    /// Returns the last end offset of a collection. Returns `None` for columns without offsets.
    pub(crate) fn last_offset(&self) -> Option<u64> {
        match self {
            Self::Offsets(offsets) => Some(offsets.values().len() as u64),
            _ => None,
        }
    }

    /// Converts the elements to a form that does not depend on earlier elements: tags become switches. `counts` are
    /// the current numbers of values of each alternative in the cluster. The indexes continue from them.
    pub(crate) fn placed(self, counts: &mut Vec<u64>) -> Self {
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

    /// Appends the elements of `range` in the layout of [`crate::encoding`] and adds `base` to
    /// offsets. Tags must have been converted by [`Elements::placed`].
    pub(crate) fn append_native(&self, range: Range<usize>, base: i64, out: &mut Vec<u8>) {
        match self {
            Self::Bytes { values, width } => {
                out.extend_from_slice(&values[range.start * width..range.end * width]);
            }
            Self::Bits(values) => {
                out.extend_from_slice(&bytes_of_bits(&values.slice(range.start, range.len())));
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
    pub(crate) fn native_width(&self) -> usize {
        match self {
            Self::Bytes { width, .. } => *width,
            Self::Bits(_) => 1,
            Self::Offsets(_) => 8,
            Self::Tags(_) => SWITCH_SIZE,
        }
    }
}
