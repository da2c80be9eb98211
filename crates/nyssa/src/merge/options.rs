//! What a merge does, with named defaults.

use std::str::FromStr;

use crate::compression::Compression;
use crate::error::{Error, Result};
use crate::rntuple::write::{
    DEFAULT_APPROX_ZIPPED_CLUSTER, Effort, MIN_MEMORY, check_cluster, check_memory,
};

/// Bytes of pages in flight.
pub const MEMORY_BUDGET: u64 = 256 << 20;

/// The memory for a merge, with `recluster` for clusters of so many bytes: what writing them needs whatever their
/// columns, and what is read at once.
pub fn default_memory(recluster: Option<u64>) -> u64 {
    recluster.map_or(MEMORY_BUDGET, |cluster| {
        (cluster.max(DEFAULT_APPROX_ZIPPED_CLUSTER) / 2).saturating_mul(7)
    })
}

/// What to do when the inputs do not have the same fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Refuse, naming the first field that is not in all inputs.
    #[default]
    Strict,
    /// Take all fields: where an input lacks one, its entries read as zero, empty, or no value.
    Union,
    /// Take the fields that all inputs have.
    Filter,
}

impl Mode {
    /// As in [`Mode::from_str`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Union => "union",
            Self::Filter => "filter",
        }
    }
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "strict" => Ok(Self::Strict),
            "union" => Ok(Self::Union),
            "filter" => Ok(Self::Filter),
            _ => Err(Error::invalid_argument(format!(
                "mode {text:?} is not known: use strict, union or filter"
            ))),
        }
    }
}

/// Options of a merge.
#[derive(Clone, Debug)]
pub struct Options {
    /// What to do when the inputs do not have the same fields.
    pub mode: Mode,
    /// Check the checksum of every page that has one while it is moved.
    pub verify: bool,
    /// Path of the RNTuple in the output; `None` takes that of the first input.
    pub name: Option<String>,
    /// Decodes everything and seals it again in clusters of about so many bytes on storage; `None` moves
    /// the pages as they are.
    pub recluster: Option<u64>,
    /// Compression of what is written anew: header, footer, page lists; with `recluster` all.
    pub compression: Compression,
    /// How compression effort is spent with `recluster`.
    pub effort: Effort,
    /// Bytes of pages in flight; with `recluster` of all data in memory.
    pub memory_budget: u64,
    /// Replaces an existing output.
    pub force: bool,
    /// Fixes the time of writing and the identity of the file: outputs of one name are then the same
    /// byte for byte.
    pub reproducible: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            verify: true,
            name: None,
            recluster: None,
            compression: Compression::DEFAULT,
            effort: Effort::default(),
            memory_budget: MEMORY_BUDGET,
            force: false,
            reproducible: false,
        }
    }
}

impl Options {
    /// Checks that the numbers make sense.
    ///
    /// # Errors
    /// `InvalidArgument` with the range of the option.
    pub fn validate(&self) -> Result<()> {
        check_memory(self.memory_budget)?;
        let Some(bytes) = self.recluster else { return Ok(()) };
        check_cluster(bytes)?;
        if self.memory_budget < 2 * MIN_MEMORY {
            return Err(Error::invalid_argument(format!(
                "{} bytes of memory are not enough to make new clusters: at least {} are needed",
                self.memory_budget,
                2 * MIN_MEMORY
            )));
        }
        Ok(())
    }
}
