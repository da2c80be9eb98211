//! The options of a comparison.

use std::collections::HashSet;
use std::ops::Range;

use crate::dataset::Filter;

/// Default size in bytes of the arrays that are in memory at the same time.
pub const MEMORY_BUDGET: u64 = 256 << 20;

/// Options of a comparison.
#[derive(Clone, Debug)]
pub struct Options {
    /// Selects the columns that are compared. In dataset a it matches the names of a, in dataset b those of b.
    pub filter: Filter,
    /// If given, only these names are compared, of those that the filter takes.
    pub only: Option<HashSet<String>>,
    /// Entry range; `None` compares all.
    pub entries: Option<Range<u64>>,
    /// Says whether integers of different widths are compared by value. Otherwise they are incomparable.
    pub integers_by_value: bool,
    /// Says whether different shapes are compared by value: arrays of fixed size and lists, several dimensions and
    /// one, strings and lists of characters. Otherwise they are incomparable.
    pub shapes_by_value: bool,
    /// Says whether columns that only one dataset has are ignored. Otherwise they are a difference.
    pub only_common: bool,
    /// Approximate size in bytes of the arrays that are in memory at the same time.
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
    /// Says whether the column of this name is compared.
    pub fn takes(&self, name: &str) -> bool {
        self.filter.takes(name) && self.only.as_ref().is_none_or(|only| only.contains(name))
    }
}
