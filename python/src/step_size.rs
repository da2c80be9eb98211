//! Finds the size of steps.

use arrow_array::cast::AsArray;
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::DataType;
use nyssa_data::dataset::steps::StepSize;

/// Returns the size of steps: so many `entries`, so much `memory` in bytes, or one cluster.
pub(crate) fn step_size(entries: Option<u64>, memory: Option<u64>) -> StepSize {
    match (entries, memory) {
        (Some(entries), _) => StepSize::Entries(entries),
        (None, Some(memory)) => StepSize::Memory(memory),
        (None, None) => StepSize::Cluster,
    }
}

/// Returns the bytes that the bits of `array` take in NumPy and awkward, where each bit is a byte.
pub(crate) fn bools(array: &ArrayRef) -> u64 {
    match array.data_type() {
        DataType::Boolean => array.len() as u64,
        DataType::LargeList(_) => bools(array.as_list::<i64>().values()),
        DataType::FixedSizeList(..) => bools(array.as_fixed_size_list().values()),
        DataType::Struct(_) => array.as_struct().columns().iter().map(bools).sum(),
        DataType::Union(fields, _) => {
            fields.iter().map(|(id, _)| bools(array.as_union().child(id))).sum()
        }
        _ => 0,
    }
}
