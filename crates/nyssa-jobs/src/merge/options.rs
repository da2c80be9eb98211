//! Defines the options of a merge.

use std::str::FromStr;

use nyssa_io::OpenOptions;
use nyssa_rntuple::choose::Encodings;
use nyssa_rntuple::write::{DEFAULT_APPROX_ZIPPED_CLUSTER, MIN_MEMORY};
use nyssa_root::error::{Error, Result};

use crate::heuristics::merge;
use crate::job::OutputOptions;

/// The action if the inputs have different fields.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// assert_eq!("union".parse::<nyssa::Mode>()?, nyssa::Mode::Union);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Refuses the inputs with the first field that is not in all of them.
    #[default]
    Strict,
    /// Takes the fields of all inputs. If an input lacks a field, its entries read as zero, empty, or no value.
    Union,
    /// Takes only the fields that all inputs have.
    Filter,
}

impl Mode {
    /// Returns the name, which [`Mode::from_str`] parses.
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

/// The options of a merge.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let options = nyssa::MergeOptions { recluster: true, ..Default::default() };
/// assert_eq!(options.mode, nyssa::Mode::Strict);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MergeOptions {
    /// The action if the inputs have different fields.
    pub mode: Mode,
    /// Whether all data are decoded and written again in clusters of [`OutputOptions::cluster_size`]. Otherwise the
    /// pages are copied without change.
    pub recluster: bool,
    /// Whether every page that has a checksum is compared with it.
    pub verify_checksums: bool,
    /// Whether objects beside the RNTuples and TTrees that cannot be merged are left out and reported. Otherwise the
    /// first such object is an error.
    pub skip_unsupported: bool,
    /// The options with which the inputs are opened.
    pub open: OpenOptions,
    /// The options that all jobs share. Encodings, field options and the sizes of clusters and pages are for
    /// `recluster`. If pages are copied, only header, footer and page lists are compressed again.
    pub output: OutputOptions,
}

impl Default for MergeOptions {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            recluster: false,
            verify_checksums: true,
            skip_unsupported: false,
            open: OpenOptions::default(),
            output: OutputOptions::default(),
        }
    }
}

impl MergeOptions {
    /// Checks that the options can be combined and that their numbers are allowed.
    ///
    /// # Errors
    /// `InvalidArgument` with the range of the option.
    pub fn validate(&self) -> Result<()> {
        if self.output.profile.is_some() {
            return Err(Error::invalid_argument(
                "a profile is for convert and rewrite: a merge has none",
            ));
        }
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

    /// Refuses options that change pages, since pages are copied without change.
    fn check_moved(&self) -> Result<()> {
        let OutputOptions { encoding, field_options, page_size, .. } = &self.output;
        let default = OutputOptions::default();
        if encoding.unwrap_or_default() == Encodings::Default
            && field_options.is_empty()
            && *page_size == default.page_size
        {
            return Ok(());
        }
        Err(Error::invalid_argument(
            "pages are moved as they are: encodings, options of fields and page sizes need new clusters, \
             use recluster",
        ))
    }

    /// Returns the largest size in bytes of the data that are in memory at the same time. With `recluster` the
    /// default is enough to read the inputs and to write clusters of the requested size, whatever their columns are.
    pub(super) fn memory(&self) -> u64 {
        self.output.memory.unwrap_or_else(|| default_memory(self))
    }
}

/// Returns the default of the memory for a merge.
pub(super) fn default_memory(options: &MergeOptions) -> u64 {
    match options.recluster {
        false => merge::MOVE_MEMORY,
        true => {
            let cluster = options.output.cluster_size.max(DEFAULT_APPROX_ZIPPED_CLUSTER);
            (cluster / 2).saturating_mul(7)
        }
    }
}
