//! Defines the options of a comparison.

use std::collections::HashMap;

use super::tolerance::Tolerance;
use crate::compare::Selection;

/// The options of a comparison.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let context = nyssa::Context::new(None)?;
/// let a = nyssa::open("../../testdata/rntuple/codec-zstd.root")?;
/// let b = nyssa::open("../../testdata/rntuple/codec-none.root")?;
/// let mut options = nyssa::DiffOptions { only_common: true, ..Default::default() };
/// options.selection.entries = Some(0..10);
/// assert_eq!(nyssa::diff(&*a, &*b, &options, &context)?.compared_entries, 10);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// The selection of columns and entries that are compared.
    pub selection: Selection,
    /// Whether integers of different widths are compared by value. Otherwise they are incomparable.
    pub integers_by_value: bool,
    /// Whether different shapes are compared by value: arrays of fixed size and lists, several dimensions and one
    /// dimension, strings and lists of characters. Otherwise they are incomparable.
    pub shapes_by_value: bool,
    /// Whether columns that only one dataset has are ignored. Otherwise they are a difference.
    pub only_common: bool,
    /// The columns of b that are stored with less precision, by name. Their values may differ by the error that their
    /// encoding states.
    pub tolerances: HashMap<String, Tolerance>,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self {
            selection: Selection::default(),
            integers_by_value: true,
            shapes_by_value: true,
            only_common: false,
            tolerances: HashMap::new(),
        }
    }
}

impl DiffOptions {
    /// Returns the options to compare the output of a job with its inputs: the shapes must be equal.
    pub(crate) fn of_job(memory_budget: u64) -> Self {
        let selection = Selection { memory_budget, ..Selection::default() };
        Self { selection, shapes_by_value: false, ..Self::default() }
    }
}
