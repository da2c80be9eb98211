//! What a merge does.

use std::str::FromStr;

use crate::error::{Error, Result};
use crate::job::OutputOptions;
use crate::rntuple::write::{DEFAULT_APPROX_ZIPPED_CLUSTER, MIN_MEMORY};

/// Bytes of pages in flight when they are moved.
const MOVE_MEMORY: u64 = 256 << 20;

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
    /// Decodes everything and seals it again in clusters of [`OutputOptions::cluster_size`]; else the pages are
    /// moved as they are.
    pub recluster: bool,
    /// Checks the checksum of every page that has one.
    pub verify_checksums: bool,
    /// What all jobs have. Encodings, field options and the sizes of clusters and pages are for `recluster`; when
    /// pages are moved, only header, footer and page lists are compressed anew.
    pub output: OutputOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            recluster: false,
            verify_checksums: true,
            output: OutputOptions::default(),
        }
    }
}

impl Options {
    /// Checks that the options go together and that their numbers make sense.
    ///
    /// # Errors
    /// `InvalidArgument` with the range of the option.
    pub fn validate(&self) -> Result<()> {
        self.output.validate()?;
        if !self.recluster {
            return self.check_moved();
        }
        let memory = self.memory();
        if memory < 2 * MIN_MEMORY {
            return Err(Error::invalid_argument(format!(
                "{memory} bytes of memory are not enough to make new clusters: at least {} are needed",
                2 * MIN_MEMORY
            )));
        }
        Ok(())
    }

    /// Pages that are moved stay as they are.
    fn check_moved(&self) -> Result<()> {
        let OutputOptions { encoding, field_options, page_size, .. } = &self.output;
        let default = OutputOptions::default();
        if *encoding == default.encoding
            && field_options.is_empty()
            && *page_size == default.page_size
        {
            return Ok(());
        }
        Err(Error::invalid_argument(
            "pages are moved as they are: encodings, options of fields and page sizes need new clusters, \
             so ask for recluster",
        ))
    }

    /// Bytes of pages in flight; with `recluster` of all data in memory: what writing clusters of that size
    /// needs whatever their columns, and what is read at once.
    pub(super) fn memory(&self) -> u64 {
        self.output.memory.unwrap_or_else(|| default_memory(self))
    }
}

/// The memory for a merge.
pub(super) fn default_memory(options: &Options) -> u64 {
    match options.recluster {
        false => MOVE_MEMORY,
        true => {
            let cluster = options.output.cluster_size.max(DEFAULT_APPROX_ZIPPED_CLUSTER);
            (cluster / 2).saturating_mul(7)
        }
    }
}
