//! What is compared, and how.

use std::collections::HashSet;
use std::ops::Range;

use crate::dataset::Filter;

/// Bytes of arrays in memory at once.
pub const MEMORY_BUDGET: u64 = 256 << 20;

/// What is compared, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which names are compared; names of b as they are in b.
    pub filter: Filter,
    /// Which names are compared besides; `None` compares all that the filter takes.
    pub only: Option<HashSet<String>>,
    /// Entry range; `None` compares all.
    pub entries: Option<Range<u64>>,
    /// Integers of other widths are compared by value instead of being incomparable.
    pub integers_by_value: bool,
    /// Arrays of fixed size and lists, dimensions kept as one, and strings and lists of characters are
    /// compared by value instead of being incomparable.
    pub shapes_by_value: bool,
    /// Columns that only one dataset has are no difference.
    pub only_common: bool,
    /// Bytes of arrays in memory at once, approximately.
    pub memory_budget: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            only: None,
            entries: None,
            integers_by_value: true,
            shapes_by_value: true,
            only_common: false,
            memory_budget: MEMORY_BUDGET,
        }
    }
}

impl Options {
    /// Whether the column of this name is compared.
    pub fn takes(&self, name: &str) -> bool {
        self.filter.takes(name) && self.only.as_ref().is_none_or(|only| only.contains(name))
    }
}
