//! Reads the keywords of jobs. Python makes the words of the command line of them, which are parsed by the same
//! declaration.

use clap::Args;
use nyssa_jobs::job::{EntryRange, words};
use nyssa_root::Result;
use pyo3::prelude::*;

/// The keywords of a job, from a `nyssa.jobs.job.Keywords`.
#[derive(FromPyObject)]
pub(crate) struct Keywords {
    words: Vec<String>,
    entry_start: Option<i64>,
    entry_stop: Option<i64>,
    /// The identity (UUID) of the output.
    pub identity: Option<[u8; 16]>,
}

impl Keywords {
    /// Parses the words as options `T`.
    ///
    /// # Errors
    /// `InvalidArgument` with the reason of the first value that is not allowed.
    pub(crate) fn parse<T: Args>(&self) -> Result<T> {
        words::parse(&self.words)
    }

    /// Returns the names of the keywords that options `T` do not have.
    pub(crate) fn unknown<T: Args>(&self) -> Vec<String> {
        words::unknown::<T>(&self.words)
    }

    /// Returns the range of entries in a dataset of `total` entries, if one is given. As in Python, negative numbers
    /// count from the end, and numbers beyond the end mean the end.
    pub(crate) fn entries(
        &self,
        total: impl FnOnce() -> Result<u64>,
    ) -> Result<Option<EntryRange>> {
        if !self.has_entries() {
            return Ok(None);
        }
        let total = total()?;
        let bound = |given: Option<i64>, default| match given {
            None => default,
            Some(value) if value < 0 => total.saturating_sub(value.unsigned_abs()),
            Some(value) => value.unsigned_abs().min(total),
        };
        let start = bound(self.entry_start, 0);
        Ok(Some((start..bound(self.entry_stop, total).max(start)).into()))
    }

    /// Returns whether a range of entries is given.
    pub(crate) fn has_entries(&self) -> bool {
        self.entry_start.is_some() || self.entry_stop.is_some()
    }
}
