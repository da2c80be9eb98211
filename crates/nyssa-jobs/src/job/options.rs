//! Defines the options of every job that makes a file from other files.

use std::ops::Range;

use nyssa_rntuple::choose::{Encodings, FieldOptions, StorageChoices};
use nyssa_rntuple::seal::check_page;
use nyssa_rntuple::write::{
    self, DEFAULT_APPROX_ZIPPED_CLUSTER, DEFAULT_INITIAL_UNZIPPED_PAGE, DEFAULT_MAX_UNZIPPED_PAGE,
    check_cluster, check_memory,
};
use nyssa_root::compression::Compression;
use nyssa_root::effort::Chooser;
use nyssa_root::effort::Effort;
use nyssa_root::error::{Error, Result};

/// The default for the largest size of the decoded and sealed data that are in memory at the same time.
pub const DEFAULT_MEMORY: u64 = 512 << 20;

/// The options of the output that all jobs share. The command line and Python use these names.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let output = nyssa::OutputOptions {
///     compression: "zstd:9".parse()?,
///     verify: true,
///     force: true,
///     ..Default::default()
/// };
/// let options = nyssa::RewriteOptions { output, ..Default::default() };
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OutputOptions {
    /// The path of the RNTuple, or of the TTree, in the output. `None` uses the path of the (first) input.
    pub name: Option<String>,
    /// The compression algorithm and level of data that is encoded again.
    pub compression: Compression,
    /// The CPU time that compression may take.
    pub effort: Effort,
    /// The way in which column types are chosen. `None` takes the default of the job: for [`crate::convert`],
    /// [`Encodings::Auto`] if the compression is zstd with [`Effort::Auto`]; otherwise [`Encodings::Default`].
    pub encoding: Option<Encodings>,
    /// The path or URL of a file (TOML) that stores how columns are stored. Choices in it are not made again; new
    /// choices are added to it. [`super::RequestedOptions`] takes the options that it states. It is for
    /// [`crate::convert`] and [`crate::rewrite`].
    pub profile: Option<String>,
    /// Lists the other options for the fields that match a glob. If several globs match, the last glob counts.
    pub field_options: Vec<FieldOptions>,
    /// The stored size of a cluster in bytes, within a few percent. The last cluster may be smaller, or a
    /// quarter larger. Clusters are smaller if the memory is too small for them, or if they would have more
    /// than ten times as many bytes before compression, as in ROOT.
    pub cluster_size: u64,
    /// The largest number of uncompressed bytes of a page.
    pub page_size: usize,
    /// The largest size in bytes of the data that are in memory at the same time. `None` takes the default of
    /// the job.
    pub memory: Option<u64>,
    /// Whether the other objects of the (first) input file are copied. Otherwise the report only lists them.
    pub carry: bool,
    /// Whether the output and the inputs are read back and every value is compared, before the output appears. Columns
    /// that were chosen with less precision are compared within the error that their encoding states.
    pub verify: bool,
    /// Whether an existing output is replaced.
    pub force: bool,
    /// Whether the file gets a fixed time and a fixed identity. Outputs of one name then have equal bytes.
    pub reproducible: bool,
    /// The identity (UUID) of the file. `None` makes a random UUID. A job over many files computes it from its inputs
    /// and its options, so that a later run recognises its outputs. It is not an option for users.
    pub identity: Option<[u8; 16]>,
}

impl Default for OutputOptions {
    fn default() -> Self {
        Self {
            name: None,
            compression: Compression::DEFAULT,
            effort: Effort::default(),
            encoding: None,
            profile: None,
            field_options: Vec::new(),
            cluster_size: DEFAULT_APPROX_ZIPPED_CLUSTER,
            page_size: DEFAULT_MAX_UNZIPPED_PAGE,
            memory: None,
            carry: true,
            verify: false,
            force: false,
            reproducible: false,
            identity: None,
        }
    }
}

impl OutputOptions {
    /// Checks that the numbers make sense.
    ///
    /// # Errors
    /// `InvalidArgument` with the range of the option.
    pub fn validate(&self) -> Result<()> {
        check_cluster(self.cluster_size)?;
        self.memory.map_or(Ok(()), check_memory)?;
        check_page(self.page_size)?;
        self.profile().map(drop)
    }

    /// Reads the profile, if the options name one.
    ///
    /// # Errors
    /// `InvalidArgument` for a file that does not fit, and if no column is chosen by samples; an error if the file
    /// cannot be read.
    pub(crate) fn profile(&self) -> Result<Option<StorageChoices>> {
        let Some(path) = &self.profile else { return Ok(None) };
        if self.chooser().is_none() {
            if StorageChoices::has_options(path)? {
                return Ok(None);
            }
            return Err(Error::invalid_argument(
                "a profile holds what samples choose, and these options leave nothing to choose: \
                 use encoding auto, or effort auto with zstd",
            ));
        }
        StorageChoices::open(path, self.compression).map(Some)
    }

    /// Returns the chooser of encodings and codecs, or `None` if these options leave nothing to choose.
    pub(crate) fn chooser(&self) -> Option<Chooser> {
        self.encoding.unwrap_or_default().chooser(self.compression, self.effort)
    }

    /// Returns the largest size in bytes of the data that are in memory at the same time.
    pub(crate) fn memory(&self) -> u64 {
        self.memory.unwrap_or(DEFAULT_MEMORY)
    }

    /// Returns the options of a writer. It chooses no codecs and no column types, since the job has chosen them.
    pub(crate) fn write_options(&self) -> write::RNTupleWriteOptions {
        write::RNTupleWriteOptions {
            compression: self.compression,
            fields: self.field_options.clone(),
            initial_unzipped_page: DEFAULT_INITIAL_UNZIPPED_PAGE.min(self.page_size),
            max_unzipped_page: self.page_size,
            ..write::RNTupleWriteOptions::default()
        }
    }
}

/// Returns the requested range of entries, or all `total` entries of `what` if no range is requested.
///
/// # Errors
/// `InvalidArgument` when it reaches beyond the end or runs backwards.
pub(crate) fn entry_range(
    requested: Option<&Range<u64>>,
    total: u64,
    what: &str,
) -> Result<Range<u64>> {
    let Some(range) = requested.cloned() else { return Ok(0..total) };
    if range.start > range.end || range.end > total {
        return Err(Error::invalid_argument(format!(
            "entries {}..{} are not within the {total} entries of the {what}",
            range.start, range.end
        )));
    }
    Ok(range)
}
