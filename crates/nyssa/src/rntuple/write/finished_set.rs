//! A complete attribute set, on its way to its RNTuple.

use crate::error::{Error, Result};
use crate::rntuple::format::AttributeSet;

/// A complete attribute set that its RNTuple does not know yet.
#[derive(Debug)]
#[must_use = "without a link the attribute set cannot be found"]
pub struct FinishedSet {
    pub(super) link: AttributeSet,
    end: u64,
}

impl FinishedSet {
    /// A set that ends before an entry.
    pub(super) fn new(link: AttributeSet, end: u64) -> Self {
        Self { link, end }
    }

    /// A set that is in the file already.
    pub(super) fn known(link: AttributeSet) -> Self {
        Self { link, end: 0 }
    }

    /// Checks that all ranges lie in an RNTuple of so many entries.
    pub(super) fn check(&self, entries: u64) -> Result<()> {
        if self.end <= entries {
            return Ok(());
        }
        Err(Error::invalid_argument(format!(
            "attribute set {:?} has a range up to entry {}, and there are {entries} entries",
            self.link.name, self.end
        )))
    }
}
