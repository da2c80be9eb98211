//! What may be asked of every job that makes a file of other files.

use std::ops::Range;

use crate::compression::Compression;
use crate::error::{Error, Result};
use crate::rntuple::write::{
    self, DEFAULT_APPROX_ZIPPED_CLUSTER, DEFAULT_INITIAL_UNZIPPED_PAGE, DEFAULT_MAX_UNZIPPED_PAGE,
    Effort, Encodings, FieldOptions, check_cluster, check_memory, check_page,
};

/// Bytes of decoded and sealed data in flight, of jobs that need no other number.
pub const DEFAULT_MEMORY: u64 = 512 << 20;

/// Options of the output: where all jobs have the same, it is declared here, and the command line and Python
/// have it under the same name.
#[derive(Clone, Debug)]
pub struct OutputOptions {
    /// Path of the RNTuple in the output; `None` keeps that of the input.
    pub name: Option<String>,
    /// Algorithm and level of what is compressed anew.
    pub compression: Compression,
    /// How compression effort is spent.
    pub effort: Effort,
    /// How column types are chosen.
    pub encoding: Encodings,
    /// What holds for some fields of the output instead, by glob; the last that match win.
    pub field_options: Vec<FieldOptions>,
    /// Bytes on storage that a cluster has, within some percent; the last one may have less, or a quarter
    /// more. Clusters are smaller where the memory demands it, and where they would have ten times as many
    /// bytes before compression, as in ROOT.
    pub cluster_size: u64,
    /// Uncompressed bytes of a page at most.
    pub page_size: usize,
    /// Bytes of data in flight; `None` takes what the job needs, see its options.
    pub memory: Option<u64>,
    /// Carries the other objects of the file over; else they are only named.
    pub carry: bool,
    /// Reads the output and the inputs and compares every value before the output appears.
    pub verify: bool,
    /// Replaces an existing output.
    pub force: bool,
    /// Fixes the time of writing and the identity of the file: outputs of one name are then the same
    /// byte for byte.
    pub reproducible: bool,
}

impl Default for OutputOptions {
    fn default() -> Self {
        Self {
            name: None,
            compression: Compression::DEFAULT,
            effort: Effort::default(),
            encoding: Encodings::default(),
            field_options: Vec::new(),
            cluster_size: DEFAULT_APPROX_ZIPPED_CLUSTER,
            page_size: DEFAULT_MAX_UNZIPPED_PAGE,
            memory: None,
            carry: true,
            verify: false,
            force: false,
            reproducible: false,
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
        check_page(self.page_size)
    }

    /// Bytes of data in flight.
    pub(crate) fn memory(&self) -> u64 {
        self.memory.unwrap_or(DEFAULT_MEMORY)
    }

    /// The same for a writer. Codecs and types are chosen before it begins, so that it chooses none.
    pub(crate) fn write_options(&self) -> write::Options {
        write::Options {
            compression: self.compression,
            fields: self.field_options.clone(),
            initial_unzipped_page: DEFAULT_INITIAL_UNZIPPED_PAGE.min(self.page_size),
            max_unzipped_page: self.page_size,
            ..write::Options::default()
        }
    }
}

/// The range of entries that is asked for, within `what` of `total` entries; all where none is.
///
/// # Errors
/// `InvalidArgument` when it reaches beyond the end or runs backwards.
pub(crate) fn entry_range(
    asked: Option<&Range<u64>>,
    total: u64,
    what: &str,
) -> Result<Range<u64>> {
    let Some(range) = asked.cloned() else { return Ok(0..total) };
    if range.start > range.end || range.end > total {
        return Err(Error::invalid_argument(format!(
            "entries {}..{} are not within the {total} entries of the {what}",
            range.start, range.end
        )));
    }
    Ok(range)
}
