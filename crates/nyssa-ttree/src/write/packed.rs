//! Writes `Float16_t` and `Double32_t` in the leaves that ROOT has for them, if they keep every value.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, types};
use nyssa_root::arrow::Number;
use nyssa_root::error::{Error, Result};
use nyssa_root::streamer::{Basic, LeafNumbers};

use super::numbers;

/// The stored form of the numbers of a `TLeafF16` or `TLeafD32`.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedLeaf {
    /// The title of the leaf, which ends with the range.
    title: String,
    basic: Basic,
    is_double: bool,
}

impl PackedLeaf {
    /// Makes the form of a leaf by its class and title. Returns `None` for other leaves, and for leaves whose numbers are
    /// not packed.
    pub fn of(class: &str, title: &str) -> Option<Self> {
        let is_double = match class {
            "TLeafD32" => true,
            "TLeafF16" => false,
            _ => return None,
        };
        let basic = LeafNumbers::packed(title, is_double)?;
        let title = title.to_owned();
        basic.is_packed().then_some(Self { title, basic, is_double })
    }

    /// Returns the type of the numbers in memory.
    pub(super) fn number(&self) -> Number {
        if self.is_double { Number::Float64 } else { Number::Float32 }
    }

    /// Returns the title of the leaf.
    pub(super) fn title(&self) -> &str {
        &self.title
    }

    /// Returns the class of the leaf.
    pub(super) fn class(&self) -> &'static str {
        if self.is_double { "TLeafD32" } else { "TLeafF16" }
    }

    /// Returns the size of a stored number in bytes.
    pub(super) fn size(&self) -> usize {
        self.basic.size()
    }

    /// Checks that all numbers can be stored as they are.
    ///
    /// # Errors
    /// `InvalidArgument` with the first number that would change.
    pub(super) fn check(&self, array: &ArrayRef) -> Result<()> {
        let mut bytes = Vec::with_capacity(self.size());
        for (at, value) in (0..array.len()).filter_map(|at| Some((at, self.value(array, at)?))) {
            bytes.clear();
            self.basic.put(value, &mut bytes);
            let stored = self.stored(&bytes);
            if stored != value && !(stored.is_nan() && value.is_nan()) {
                let message = format!(
                    "the leaf {:?} of a {} would store {value} as {stored}",
                    self.title,
                    self.class()
                );
                return Err(numbers::at_entry(Error::invalid_argument(message), at));
            }
        }
        Ok(())
    }

    /// Returns the number that a reader makes of stored bytes.
    fn stored(&self, bytes: &[u8]) -> f64 {
        let value = match (self.basic, bytes.first_chunk()) {
            (Basic::Double32, Some(bytes)) => f32::from_be_bytes(*bytes).into(),
            _ => self.basic.unpack(bytes),
        };
        if self.is_double { value } else { f64::from(value as f32) }
    }

    fn value(&self, array: &dyn Array, at: usize) -> Option<f64> {
        match self.number() {
            Number::Float64 => {
                array.as_primitive_opt::<types::Float64Type>()?.values().get(at).copied()
            }
            _ => {
                let values = array.as_primitive_opt::<types::Float32Type>()?.values();
                values.get(at).map(|&value| value.into())
            }
        }
    }

    /// Appends the numbers `range` of an array.
    pub(super) fn put(&self, array: &dyn Array, range: Range<usize>, out: &mut Vec<u8>) {
        range.filter_map(|at| self.value(array, at)).for_each(|value| self.basic.put(value, out));
    }
}
