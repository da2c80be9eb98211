//! Replaces what is inside nested arrays.

use arrow_array::{Array, ArrayRef, make_array};
use arrow_schema::{ArrowError, DataType};

/// Returns the items of lists, the members of records, or the alternatives of variants.
pub fn children(array: &dyn Array) -> Vec<ArrayRef> {
    array.to_data().child_data().iter().cloned().map(make_array).collect()
}

/// Returns an array of the type `to`, with other items, members or alternatives. Lengths, tags and nulls stay.
///
/// # Errors
/// If the children do not fit the type.
pub fn with_children(
    array: &dyn Array,
    to: &DataType,
    children: &[ArrayRef],
) -> Result<ArrayRef, ArrowError> {
    let children = children.iter().map(|child| child.to_data()).collect();
    let data = array.to_data().into_builder().data_type(to.clone()).child_data(children);
    data.build().map(make_array)
}
