//! Makes offsets and items of Arrow's lists, strings and fixed-size arrays. Only the rows of a slice are
//! used.

use std::ops::{BitOr, Range};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::ByteArrayType;
use arrow_array::{Array, ArrayRef, GenericByteArray, UInt8Array};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::DataType;

use crate::error::{Error, Result};

/// Offsets of 32 or 64 bits. Some functions require checked offsets, which never decrease.
#[derive(Clone, Debug)]
pub enum Offsets {
    /// Offsets of 32 bits.
    Small(ScalarBuffer<i32>),
    /// Offsets of 64 bits.
    Large(ScalarBuffer<i64>),
}

impl Offsets {
    /// Checks that the offsets never decrease and stay inside `values` child elements. Arrow guarantees this,
    /// but arrays from the C interface were never checked.
    pub fn checked(self, values: usize) -> Result<Self> {
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
    pub fn of_lengths(lengths: impl IntoIterator<Item = usize>) -> Self {
        let mut end = 0i64;
        let ends = lengths.into_iter().map(|length| {
            end = end.saturating_add_unsigned(length as u64);
            end
        });
        Self::Large(std::iter::once(0).chain(ends).collect())
    }

    /// Returns the list that contains item `at`. Items are counted from the first item of the first list.
    pub fn row(&self, at: usize) -> usize {
        let item = self.get(0).saturating_add_unsigned(at as u64);
        let ends = match self {
            Self::Small(offsets) => offsets.partition_point(|&end| i64::from(end) <= item),
            Self::Large(offsets) => offsets.partition_point(|&end| end <= item),
        };
        ends.saturating_sub(1)
    }

    /// Returns whether no list has more than one item.
    pub fn at_most_one(&self) -> bool {
        match self {
            Self::Small(offsets) => offsets.windows(2).all(|w| w[1].saturating_sub(w[0]) <= 1),
            Self::Large(offsets) => offsets.windows(2).all(|w| w[1].saturating_sub(w[0]) <= 1),
        }
    }

    /// Returns an offset. Returns 0 if there is no offset with this index.
    pub fn get(&self, index: usize) -> i64 {
        match self {
            Self::Small(offsets) => offsets.get(index).copied().map_or(0, i64::from),
            Self::Large(offsets) => offsets.get(index).copied().unwrap_or(0),
        }
    }

    /// Returns the offsets with 64 bits.
    pub fn wide(self) -> ScalarBuffer<i64> {
        match self {
            Self::Small(offsets) => offsets.iter().map(|&offset| offset.into()).collect(),
            Self::Large(offsets) => offsets,
        }
    }

    /// Returns the number of offsets, which is one more than the number of lists.
    #[allow(clippy::len_without_is_empty, reason = "there is always a first offset")]
    pub fn len(&self) -> usize {
        match self {
            Self::Small(offsets) => offsets.len(),
            Self::Large(offsets) => offsets.len(),
        }
    }

    /// Returns the number of items of each list. The offsets must have been checked by [`Offsets::checked`].
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        (1..self.len()).map(|end| usize::try_from(self.get(end) - self.get(end - 1)).unwrap_or(0))
    }

    /// Returns the range of the child elements. The offsets must have been checked by [`Offsets::checked`].
    pub fn values(&self) -> Range<usize> {
        let index = |at| usize::try_from(self.get(at)).unwrap_or(0);
        index(0)..index(self.len().saturating_sub(1))
    }
}

/// Combines offsets so that the result is negative if an offset (except the first) is negative or is smaller
/// than the previous offset. It reads all offsets with vector instructions, which is faster than to stop at the
/// first bad offset.
fn grow<T: Copy + Default + BitOr<Output = T>>(offsets: &[T], minus: impl Fn(T, T) -> T) -> T {
    let signs = |signs, pair: &[T]| signs | pair[1] | minus(pair[1], pair[0]);
    offsets.windows(2).fold(T::default(), signs)
}

/// Returns the offsets and the items of all kinds of lists and maps. Returns `None` for other types.
pub fn lists(array: &ArrayRef) -> Option<Result<(Offsets, ArrayRef)>> {
    let cut = |offsets: Offsets, items: &ArrayRef| {
        let offsets = offsets.checked(items.len())?;
        let range = offsets.values();
        Ok((offsets, items.slice(range.start, range.len())))
    };
    Some(match array.data_type() {
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            cut(Offsets::Small(list.offsets().inner().clone()), list.values())
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            cut(Offsets::Large(list.offsets().inner().clone()), list.values())
        }
        DataType::Map(..) => {
            let map = array.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            cut(Offsets::Small(map.offsets().inner().clone()), &entries)
        }
        DataType::FixedSizeList(..) => fixed(array).transpose()?.map(|(size, items)| {
            (Offsets::of_lengths(std::iter::repeat_n(size, array.len())), items)
        }),
        _ => return None,
    })
}

/// Returns the type of the items of a list of any kind.
pub fn item_type(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::Map(item, _)
        | DataType::FixedSizeList(item, _) => Some(item.data_type()),
        _ => None,
    }
}

/// Returns whether an Arrow type holds strings or bytes of variable size.
pub fn is_bytes(data_type: &DataType) -> bool {
    use DataType as D;
    matches!(data_type, D::Binary | D::LargeBinary | D::Utf8 | D::LargeUtf8)
}

/// Returns the offsets and the bytes of strings and binaries. Returns `None` for other types.
pub fn byte_lists(array: &ArrayRef) -> Option<Result<(Offsets, Buffer)>> {
    fn split<T: ByteArrayType>(
        array: &GenericByteArray<T>,
        offsets: impl Fn(ScalarBuffer<T::Offset>) -> Offsets,
    ) -> Result<(Offsets, Buffer)> {
        let values = array.values();
        let offsets = offsets(array.offsets().inner().clone()).checked(values.len())?;
        let range = offsets.values();
        let values = values.slice_with_length(range.start, range.len());
        Ok((offsets, values))
    }
    match array.data_type() {
        DataType::Binary => Some(split(array.as_binary::<i32>(), Offsets::Small)),
        DataType::LargeBinary => Some(split(array.as_binary::<i64>(), Offsets::Large)),
        DataType::Utf8 => Some(split(array.as_string::<i32>(), Offsets::Small)),
        DataType::LargeUtf8 => Some(split(array.as_string::<i64>(), Offsets::Large)),
        _ => None,
    }
}

/// Returns the size and the items of fixed-size lists and binaries. Returns `None` for other types.
///
/// # Errors
/// `InvalidArgument` for an array that is too short for its number of rows.
pub fn fixed(array: &ArrayRef) -> Result<Option<(usize, ArrayRef)>> {
    let (size, items): (i32, ArrayRef) = match array.data_type() {
        DataType::FixedSizeList(_, size) => (*size, array.as_fixed_size_list().values().clone()),
        DataType::FixedSizeBinary(size) => {
            let bytes = array.as_fixed_size_binary().values().clone();
            let len = bytes.len();
            (*size, Arc::new(UInt8Array::new(ScalarBuffer::new(bytes, 0, len), None)))
        }
        _ => return Ok(None),
    };
    let size = usize::try_from(size).unwrap_or(0);
    let needed = array.len().checked_mul(size).filter(|&needed| needed <= items.len());
    match needed {
        Some(needed) => Ok(Some((size, items.slice(0, needed)))),
        None => Err(Error::invalid_argument("a fixed-size list has too few items")),
    }
}
