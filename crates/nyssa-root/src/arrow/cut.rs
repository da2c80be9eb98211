//! Cuts arrays into parts as if each part had been read alone, and measures the memory of arrays.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, LargeBinaryArray, LargeListArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType};

use crate::error::{Error, Result};

/// Cuts arrays that were read together into parts. The parts share their values with the whole array. Their
/// offsets start at 0, and fields of one collection share them.
#[derive(Default)]
pub struct Cutter {
    /// The new offsets, by address, first list and number of lists of the old offsets.
    known: HashMap<(usize, usize, usize), OffsetBuffer<i64>>,
}

impl Cutter {
    /// Returns `length` values of `array` from number `start` on.
    ///
    /// # Errors
    /// `OutOfSpecification` for lists whose offsets do not match their items.
    pub fn cut(&mut self, array: &ArrayRef, start: usize, length: usize) -> Result<ArrayRef> {
        if start == 0 && length == array.len() {
            return Ok(Arc::clone(array));
        }
        let nulls = |nulls: Option<NullBuffer>| nulls.map(|nulls| nulls.slice(start, length));
        Ok(match array.data_type() {
            DataType::LargeList(_) => {
                let (item, offsets, values, old) = array.as_list::<i64>().clone().into_parts();
                let first = at(&offsets, start);
                let offsets = self.offsets(&offsets, start, length);
                let values = self.cut(&values, first, at(&offsets, length))?;
                let lists = LargeListArray::try_new(item, offsets, values, nulls(old));
                Arc::new(lists.map_err(failed)?)
            }
            DataType::LargeBinary => {
                let (offsets, bytes, old) = array.as_binary::<i64>().clone().into_parts();
                let first = at(&offsets, start);
                let offsets = self.offsets(&offsets, start, length);
                let bytes = bytes.slice_with_length(first, at(&offsets, length));
                let strings = LargeBinaryArray::try_new(offsets, bytes, nulls(old));
                Arc::new(strings.map_err(failed)?)
            }
            DataType::FixedSizeList(..) => {
                let (item, size, values, old) = array.as_fixed_size_list().clone().into_parts();
                let each = usize::try_from(size).unwrap_or_default();
                let values = self.cut(&values, start * each, length * each)?;
                let lists =
                    FixedSizeListArray::try_new_with_length(item, size, values, nulls(old), length);
                Arc::new(lists.map_err(failed)?)
            }
            DataType::Struct(_) => {
                let (fields, members, old) = array.as_struct().clone().into_parts();
                let members = members.iter().map(|member| self.cut(member, start, length));
                let members = members.collect::<Result<_>>()?;
                let records = StructArray::try_new_with_length(fields, members, nulls(old), length);
                Arc::new(records.map_err(failed)?)
            }
            _ => array.slice(start, length),
        })
    }

    fn offsets(
        &mut self,
        offsets: &OffsetBuffer<i64>,
        start: usize,
        length: usize,
    ) -> OffsetBuffer<i64> {
        let key = (offsets.as_ptr() as usize, start, length);
        let new = || {
            let offsets = offsets.slice(start, length);
            let first = offsets.first();
            let shifted: Vec<i64> = offsets.iter().map(|offset| offset - first).collect();
            OffsetBuffer::new(ScalarBuffer::from(shifted))
        };
        self.known.entry(key).or_insert_with(new).clone()
    }
}

fn at(offsets: &OffsetBuffer<i64>, index: usize) -> usize {
    offsets.get(index).and_then(|&offset| usize::try_from(offset).ok()).unwrap_or_default()
}

fn failed(error: ArrowError) -> Error {
    Error::out_of_spec("an array cannot be cut").with_source(error)
}

/// Returns the memory of `arrays` in bytes. Buffers that several arrays share count once.
pub fn memory(arrays: &[ArrayRef]) -> u64 {
    let mut seen = HashSet::new();
    arrays.iter().map(|array| bytes(&array.to_data(), &mut seen)).sum()
}

/// Returns the size of the buffers of `data` whose addresses are not in `seen`.
fn bytes(data: &ArrayData, seen: &mut HashSet<usize>) -> u64 {
    let nulls = data.nulls().map(|nulls| nulls.buffer());
    let own = data.buffers().iter().chain(nulls);
    let own = own.filter(|buffer| seen.insert(buffer.as_ptr() as usize));
    let own: u64 = own.map(|buffer| buffer.len() as u64).sum();
    own + data.child_data().iter().map(|child| bytes(child, seen)).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use arrow_array::{Float32Array, Int32Array};
    use arrow_buffer::Buffer;
    use arrow_schema::Field;

    use super::*;

    #[test]
    fn pieces_are_as_if_read_on_their_own() {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(vec![0i64, 2, 2, 5, 6]));
        let lists = |values: Vec<f32>| -> ArrayRef {
            let item = Arc::new(Field::new("item", DataType::Float32, false));
            let values = Arc::new(Float32Array::from(values));
            Arc::new(LargeListArray::new(item, offsets.clone(), values, None))
        };
        let (a, b) = (lists(vec![1., 2., 3., 4., 5., 6.]), lists(vec![0.; 6]));
        let mut cutter = Cutter::default();
        let cut = [cutter.cut(&a, 1, 2).unwrap(), cutter.cut(&b, 1, 2).unwrap()];
        let [a, b] = [cut[0].as_list::<i64>(), cut[1].as_list::<i64>()];
        assert_eq!(a.value_offsets(), [0, 0, 3]);
        assert_eq!(a.value_offsets().as_ptr(), b.value_offsets().as_ptr());
        let values: &Float32Array = a.values().as_primitive();
        assert_eq!(values.values()[..], [3., 4., 5.]);
        let text: ArrayRef =
            Arc::new(LargeBinaryArray::new(offsets, Buffer::from(b"abcdef"), None));
        let fields = vec![
            Arc::new(Field::new("text", DataType::LargeBinary, false)),
            Arc::new(Field::new("n", DataType::Int32, false)),
        ];
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4]));
        let record: ArrayRef = Arc::new(StructArray::new(fields.into(), vec![text, numbers], None));
        let cut = cutter.cut(&record, 2, 2).unwrap();
        let text = cut.as_struct().column(0).as_binary::<i64>();
        assert_eq!(text.value_data(), b"cdef");
        assert_eq!((text.value(0), text.value(1)), (&b"cde"[..], &b"f"[..]));
        assert_eq!(cut.as_struct().column(1).len(), 2);
    }
}
