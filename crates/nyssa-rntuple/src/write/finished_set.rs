//! Defines a complete attribute set that is not yet linked to its RNTuple.

use nyssa_root::error::{Error, Result};

use crate::format::AttributeSet;

/// A complete attribute set to which its RNTuple has no link yet.
#[derive(Debug)]
#[must_use = "without a link the attribute set cannot be found"]
pub struct FinishedSet {
    pub(super) link: AttributeSet,
    end: u64,
}

impl FinishedSet {
    /// Makes a set whose ranges end at or before entry `end`.
    pub(super) fn new(link: AttributeSet, end: u64) -> Self {
        Self { link, end }
    }

    /// Makes a set that is already in the file.
    pub(super) fn known(link: AttributeSet) -> Self {
        Self { link, end: 0 }
    }

    /// Checks that all ranges lie inside an RNTuple with this number of entries.
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
