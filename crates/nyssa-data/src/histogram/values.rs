//! Takes the innermost values out of arrays of lists, and repeats values for the items of lists.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Fields};
use nyssa_root::arrow::brief;
use nyssa_root::error::{Error, Result};

/// The innermost values of an array, and the lists that they are in.
#[derive(Debug)]
pub(super) struct Values {
    /// The ends of the lists of each level, the outermost first. They count from 0.
    levels: Vec<Vec<usize>>,
    /// The innermost values.
    pub leaf: ArrayRef,
}

impl Values {
    /// Returns the values of an array.
    ///
    /// # Errors
    /// `InvalidArgument` for records.
    pub(super) fn of(array: &ArrayRef) -> Result<Self> {
        let mut leaf = ArrayRef::clone(array);
        let mut levels = Vec::new();
        loop {
            let (ends, items): (Vec<usize>, ArrayRef) = match leaf.data_type() {
                DataType::LargeList(_) => {
                    let list = leaf.as_list::<i64>();
                    let offsets = list.value_offsets();
                    let first = offsets.first().copied().unwrap_or(0);
                    let last = offsets.last().copied().unwrap_or(0);
                    let ends = offsets.iter().skip(1).map(|&end| (end - first) as usize).collect();
                    (ends, list.values().slice(first as usize, (last - first) as usize))
                }
                DataType::FixedSizeList(_, size) => {
                    let (size, list) = (*size as usize, leaf.as_fixed_size_list());
                    let ends = (1..=list.len()).map(|count| count * size).collect();
                    (ends, list.values().slice(0, list.len() * size))
                }
                DataType::Struct(members) => return Err(record(members)),
                _ => return Ok(Self { levels, leaf }),
            };
            levels.push(ends);
            leaf = items;
        }
    }

    /// Returns the depth of lists.
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Returns which values there are. `None` means all.
    pub(super) fn valid(&self) -> Option<&NullBuffer> {
        self.leaf.nulls().filter(|nulls| nulls.null_count() > 0)
    }

    /// Returns whether the lists of two arrays have the same lengths, as deep as both go.
    pub(super) fn fits(&self, other: &Self) -> bool {
        self.levels.iter().zip(&other.levels).all(|(ours, theirs)| ours == theirs)
    }

    /// Repeats something that belongs to each of these values for the items of the lists of `deeper`, which
    /// [fit](Self::fits).
    pub(super) fn spread<T: Copy>(&self, own: Vec<T>, deeper: &Self) -> Vec<T> {
        let further = deeper.levels.iter().skip(self.depth());
        further.fold(own, |own, ends| {
            let mut spread = Vec::with_capacity(ends.last().copied().unwrap_or(0));
            for (item, &end) in own.iter().zip(ends) {
                spread.resize(end, *item);
            }
            spread
        })
    }
}

/// Returns the error for records.
pub(super) fn record(members: &Fields) -> Error {
    let names: Vec<_> = members.iter().map(|item| item.name().as_str()).collect();
    Error::invalid_argument(format!(
        "a record has no value of its own: name a member, {}",
        names.join(", ")
    ))
}

/// Returns the type of the innermost values.
pub(super) fn leaf_type(mut outer: &DataType) -> &DataType {
    while let DataType::LargeList(item) | DataType::FixedSizeList(item, _) = outer {
        outer = item.data_type();
    }
    outer
}

/// Returns whether values are texts.
pub(super) fn is_text(leaf: &DataType) -> bool {
    use DataType::{Binary, LargeBinary, LargeUtf8, Utf8};
    matches!(leaf, Binary | LargeBinary | Utf8 | LargeUtf8)
}

/// Returns the texts of an array. A byte that is not UTF-8 is shown as `\xe9`. Other arrays have none.
pub(super) fn texts(leaf: &ArrayRef) -> Vec<Cow<'_, str>> {
    let bytes = |value: &[u8]| -> Cow<'_, str> {
        let mut text = String::new();
        for chunk in value.utf8_chunks() {
            text.push_str(chunk.valid());
            chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
        }
        text.into()
    };
    let at = 0..leaf.len();
    match leaf.data_type() {
        DataType::Utf8 => at.map(|i| leaf.as_string::<i32>().value(i).into()).collect(),
        DataType::LargeUtf8 => at.map(|i| leaf.as_string::<i64>().value(i).into()).collect(),
        DataType::Binary => at.map(|i| bytes(leaf.as_binary::<i32>().value(i))).collect(),
        DataType::LargeBinary => at.map(|i| bytes(leaf.as_binary::<i64>().value(i))).collect(),
        _ => Vec::new(),
    }
}

/// Refuses weights that are no numbers.
pub(super) fn check_weight(leaf: &DataType) -> Result<()> {
    match leaf.is_numeric() || matches!(leaf, DataType::Boolean) {
        true => Ok(()),
        false => Err(Error::invalid_argument(format!(
            "a weight is a number, not a value of type {}",
            brief(leaf)
        ))),
    }
}
