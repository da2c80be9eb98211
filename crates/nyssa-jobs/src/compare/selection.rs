//! Selects the part of a dataset that is compared or hashed.

use std::collections::HashSet;
use std::ops::Range;

use nyssa_data::dataset::Filter;

/// The default size in bytes of the arrays that are in memory at the same time.
pub const MEMORY_BUDGET: u64 = 256 << 20;

/// The part of a dataset that is compared or hashed, and the memory for it.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let context = nyssa::Context::new(None)?;
/// let events = nyssa::open("../../testdata/rntuple/codec-zstd.root")?;
/// let selection = nyssa::Selection { entries: Some(0..100), ..Default::default() };
/// assert_eq!(nyssa::digest(&*events, &selection, &context)?.entries, 100);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Selection {
    /// The filter of columns. In a comparison it matches the names of each dataset in that dataset.
    pub filter: Filter,
    /// The only columns to select among those that the filter matches. `None` selects all of them.
    pub only: Option<HashSet<String>>,
    /// The range of entries. `None` selects all entries.
    pub entries: Option<Range<u64>>,
    /// The approximate size in bytes of the arrays that are in memory at the same time.
    pub memory_budget: u64,
}

impl Default for Selection {
    fn default() -> Self {
        Self { filter: Filter::default(), only: None, entries: None, memory_budget: MEMORY_BUDGET }
    }
}

impl Selection {
    /// Returns whether the column of this name is selected.
    pub fn takes(&self, name: &str) -> bool {
        self.filter.takes(name) && self.only.as_ref().is_none_or(|only| only.contains(name))
    }
}
