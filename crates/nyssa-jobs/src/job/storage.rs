//! Declares the options that say how an RNTuple is stored.

use nyssa_rntuple::choose::{Encodings, FieldOptions, StatedOptions, StorageChoices};
use nyssa_rntuple::seal::check_page;
use nyssa_rntuple::write::{
    DEFAULT_APPROX_ZIPPED_CLUSTER, DEFAULT_INITIAL_UNZIPPED_PAGE, DEFAULT_MAX_UNZIPPED_PAGE,
    RNTupleWriteOptions, check_cluster, check_memory,
};
use nyssa_root::effort::Chooser;
use nyssa_root::error::{Error, Result};
use serde::Serialize;

use super::OutputOptions;

/// The options that say how an RNTuple is stored.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let storage = nyssa::StorageOptions { cluster_size: Some(50_000_000), ..Default::default() };
/// let options = nyssa::RewriteOptions { storage, ..Default::default() };
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct StorageOptions {
    /// default: the column types of ROOT; auto: for each column the type and effort that make a sample smallest.
    /// The default is the value of the profile; or auto for conversions to RNTuple with zstd and effort auto, and default
    /// otherwise.
    #[cfg_attr(feature = "cli", arg(long))]
    pub encoding: Option<Encodings>,
    /// File (TOML) that remembers how columns are stored, for the other files of a dataset: what it knows is not
    /// chosen again, and what it does not know is added. It may also state options of the output, as `nyssa tune` writes
    /// them; options that are given here count more.
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub profile: Option<String>,
    /// Other options for the fields whose path matches a glob: column (unsplit, Real32Trunc:16, Real32Quant:12:0:1,
    /// ...), compression, page-size (repeatable; the last glob that matches counts). A backslash before a comma, a
    /// colon or an equals sign makes it a character of the glob or of the value.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "GLOB:NAME=VALUE,...", value_parser = super::by_glob::field_options)
    )]
    pub field_options: Vec<FieldOptions>,
    /// Compressed size of a cluster on storage, within a few percent: at least 256 bytes, and 64 bytes for each
    /// column; clusters are smaller if the memory is too small. The default is 128MiB.
    #[cfg_attr(feature = "cli", arg(long, value_name = "SIZE", value_parser = nyssa_io::parse_size))]
    pub cluster_size: Option<u64>,
    /// Largest size of a page before compression, 64 bytes to 512MiB. The default is 1MiB.
    #[cfg_attr(feature = "cli", arg(long, value_name = "SIZE", value_parser = nyssa_io::parse_size))]
    pub page_size: Option<u64>,
}

impl StorageOptions {
    /// Returns the stored size of a cluster in bytes. The last cluster may be smaller, or a quarter larger. Clusters are
    /// also smaller if they would have more than ten times as many bytes before compression, as in ROOT.
    pub fn cluster_size(&self) -> u64 {
        self.cluster_size.unwrap_or(DEFAULT_APPROX_ZIPPED_CLUSTER)
    }

    /// Returns the largest number of uncompressed bytes of a page.
    pub fn page_size(&self) -> usize {
        let size = self.page_size.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        size.unwrap_or(DEFAULT_MAX_UNZIPPED_PAGE)
    }

    /// Returns the way in which column types are chosen.
    pub(crate) fn encoding(&self) -> Encodings {
        self.encoding.unwrap_or_default()
    }

    /// Takes the options that the profile states and the user does not, and returns what the profile states.
    ///
    /// # Errors
    /// `InvalidArgument` for a file that is no profile; an error if it cannot be read.
    pub fn settle(&mut self, output: &mut OutputOptions) -> Result<Option<StatedOptions>> {
        let stated = self.profile.as_deref().map(StorageChoices::stated).transpose()?.flatten();
        if let Some(stated) = &stated {
            if output.compression.is_none() {
                output.compression = Some(stated.compression.into());
                output.effort = output.effort.or(Some(stated.effort.unwrap_or_default()));
            }
            self.encoding = self.encoding.or(stated.encoding);
            self.cluster_size = self.cluster_size.or(stated.cluster_size);
            self.page_size = self.page_size.or(stated.page_size);
        }
        output.settle();
        Ok(stated)
    }

    /// Checks that the numbers make sense.
    ///
    /// # Errors
    /// `InvalidArgument` with the range of the option.
    pub(crate) fn validate(&self, output: &OutputOptions) -> Result<()> {
        check_cluster(self.cluster_size())?;
        output.memory.map_or(Ok(()), check_memory)?;
        check_page(self.page_size())?;
        self.profile(output).map(drop)
    }

    /// Reads the profile, if the options name one.
    ///
    /// # Errors
    /// `InvalidArgument` for a file that does not fit, and if no column is chosen by samples; an error if the file
    /// cannot be read.
    pub(crate) fn profile(&self, output: &OutputOptions) -> Result<Option<StorageChoices>> {
        let Some(path) = &self.profile else { return Ok(None) };
        if self.chooser(output).is_none() {
            if StorageChoices::has_options(path)? {
                return Ok(None);
            }
            return Err(Error::invalid_argument(
                "a profile holds what samples choose, and these options leave nothing to choose: \
                 use encoding auto, or effort auto with zstd",
            ));
        }
        StorageChoices::open(path, output.compression()).map(Some)
    }

    /// Returns the chooser of encodings and codecs, or `None` if these options leave nothing to choose.
    pub(crate) fn chooser(&self, output: &OutputOptions) -> Option<Chooser> {
        self.encoding().chooser(output.compression(), output.effort())
    }

    /// Returns the options of a writer. It chooses no codecs and no column types, since the job has chosen them.
    pub(crate) fn write_options(&self, output: &OutputOptions) -> RNTupleWriteOptions {
        RNTupleWriteOptions {
            compression: output.compression(),
            fields: self.field_options.clone(),
            initial_unzipped_page: DEFAULT_INITIAL_UNZIPPED_PAGE.min(self.page_size()),
            max_unzipped_page: self.page_size(),
            ..RNTupleWriteOptions::default()
        }
    }
}
