//! The elements of one column, borrowed from Arrow buffers without copying.

use std::ops::Range;

use arrow_array::{Array, BooleanArray};
use arrow_buffer::{BooleanBuffer, Buffer, ScalarBuffer};
use arrow_schema::DataType;

use crate::encoding::{ColumnType, Native};
use crate::error::{Error, Result};

/// All elements of a column in one cluster.
#[derive(Clone, Debug)]
pub(super) enum Elements {
    /// Little-endian values of `width` bytes.
    Bytes { values: Buffer, width: usize },
    /// Single precision, from double precision arrays.
    Narrowed(ScalarBuffer<f64>),
    /// Booleans.
    Bits(BooleanBuffer),
    /// Arrow offsets, one more than elements, of any base.
    Offsets(Offsets),
}

/// Offsets of either width, checked to grow.
#[derive(Clone, Debug)]
pub(super) enum Offsets {
    Small(ScalarBuffer<i32>),
    Large(ScalarBuffer<i64>),
}

impl Offsets {
    /// Checks that the offsets grow and stay inside `values` child elements. Arrow promises it, but
    /// arrays that came over the C interface were never checked.
    pub(super) fn checked(self, values: usize) -> Result<Self> {
        let (len, grows) = match &self {
            Self::Small(offsets) => (offsets.len(), offsets.windows(2).all(|w| w[0] <= w[1])),
            Self::Large(offsets) => (offsets.len(), offsets.windows(2).all(|w| w[0] <= w[1])),
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

    /// Range of the child elements. Only after [`Offsets::checked`].
    pub(super) fn values(&self) -> Range<usize> {
        let index = |at| usize::try_from(self.get(at)).unwrap_or(0);
        index(0)..index(self.len().saturating_sub(1))
    }
}

impl Elements {
    /// Number of elements.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Bytes { values, width } => values.len() / width,
            Self::Narrowed(values) => values.len(),
            Self::Bits(values) => values.len(),
            Self::Offsets(offsets) => offsets.len().saturating_sub(1),
        }
    }

    /// The last end offset of a collection; `None` for values.
    pub(super) fn last_offset(&self) -> Option<u64> {
        match self {
            Self::Offsets(offsets) => Some(offsets.values().len() as u64),
            _ => None,
        }
    }

    /// Appends the elements of `range` in the native layout of [`crate::encoding`]; `base` is added to
    /// offsets.
    pub(super) fn append_native(&self, range: Range<usize>, base: i64, out: &mut Vec<u8>) {
        match self {
            Self::Bytes { values, width } => {
                out.extend_from_slice(&values[range.start * width..range.end * width]);
            }
            Self::Narrowed(values) => {
                out.extend(values[range].iter().flat_map(|&v| (v as f32).to_le_bytes()));
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
        }
    }

    /// Bytes of one element in the native layout.
    pub(super) fn native_width(&self) -> usize {
        match self {
            Self::Bytes { width, .. } => *width,
            Self::Narrowed(_) => 4,
            Self::Bits(_) => 1,
            Self::Offsets(_) => 8,
        }
    }

    /// The values of a leaf array as elements of a column of `column_type`, which belongs to a field
    /// of C++ type `type_name`.
    ///
    /// # Errors
    /// `InvalidArgument` when the array has another type than the column stores. Double precision
    /// goes into columns of less only where the field says that its values are doubles.
    pub(super) fn of_leaf(
        column_type: ColumnType,
        type_name: &str,
        array: &dyn Array,
    ) -> Result<Self> {
        let data_type = array.data_type();
        let narrows = *data_type == DataType::Float64 && column_type.native() != Native::Bytes(8);
        if !fits(column_type, data_type) || (narrows && type_name != "double") {
            return Err(Error::invalid_argument(format!(
                "an array of type {data_type} cannot fill a column of type {} of a field of type \
                 {type_name}",
                column_type.name()
            )));
        }
        if let Some(bits) = array.as_any().downcast_ref::<BooleanArray>() {
            return Ok(Self::Bits(bits.values().clone()));
        }
        let data = array.to_data();
        let width = data_type.primitive_width().unwrap_or(1);
        let values = (data.offset().checked_mul(width))
            .zip(data.len().checked_mul(width))
            .zip(data.buffers().first())
            .filter(|((start, len), buffer)| {
                start.checked_add(*len).is_some_and(|end| end <= buffer.len())
            })
            .map(|((start, len), buffer)| buffer.slice_with_length(start, len))
            .ok_or_else(|| Error::invalid_argument("an array's buffer is too short for it"))?;
        match (data_type, column_type.native()) {
            (DataType::Float64, Native::Bytes(4)) => {
                let len = values.len() / width;
                Ok(Self::Narrowed(ScalarBuffer::new(values, 0, len)))
            }
            _ => Ok(Self::Bytes { values, width }),
        }
    }
}

/// Whether a column stores an Arrow type, perhaps with less precision.
fn fits(column_type: ColumnType, data_type: &DataType) -> bool {
    use ColumnType as C;
    use DataType as D;
    match column_type {
        C::Bit => matches!(data_type, D::Boolean),
        C::Byte | C::Char => matches!(data_type, D::Int8 | D::UInt8),
        C::Int8 => matches!(data_type, D::Int8),
        C::UInt8 => matches!(data_type, D::UInt8),
        C::Int16 | C::SplitInt16 => matches!(data_type, D::Int16),
        C::UInt16 | C::SplitUInt16 => matches!(data_type, D::UInt16),
        C::Int32 | C::SplitInt32 => matches!(data_type, D::Int32),
        C::UInt32 | C::SplitUInt32 => matches!(data_type, D::UInt32),
        C::Int64 | C::SplitInt64 => matches!(data_type, D::Int64),
        C::UInt64 | C::SplitUInt64 => matches!(data_type, D::UInt64),
        C::Real16 | C::SplitReal16 => matches!(data_type, D::Float16),
        C::Real32 | C::SplitReal32 | C::Real32Trunc | C::Real32Quant => {
            matches!(data_type, D::Float32 | D::Float64)
        }
        C::Real64 | C::SplitReal64 => matches!(data_type, D::Float64),
        C::Index32 | C::Index64 | C::SplitIndex32 | C::SplitIndex64 | C::Switch => false,
    }
}
