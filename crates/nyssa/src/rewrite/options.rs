//! What a rewrite does, with named defaults.

use std::ops::Range;

use arrow_buffer::BooleanBuffer;

use crate::compression::Compression;
use crate::cut::Cut;
use crate::error::{Error, Result};
use crate::rntuple::write::{
    DEFAULT_APPROX_ZIPPED_CLUSTER, DEFAULT_MAX_UNZIPPED_PAGE, Effort, Encodings, FieldOptions,
    check_cluster, check_memory, check_page,
};
use crate::view::ReadRule;

/// Bytes of decoded and sealed data in flight.
pub const MEMORY_BUDGET: u64 = 512 << 20;

/// Which entries are taken.
#[derive(Clone, Debug)]
pub enum EntryCut {
    /// Those for which an expression is true.
    Expression(Cut),
    /// Those whose bit is set: one bit for each entry of the range [`Options::entries`].
    Mask(BooleanBuffer),
}

impl EntryCut {
    /// A mask of `count` bits, least significant first.
    ///
    /// # Errors
    /// `InvalidArgument` when there are fewer bits.
    pub fn from_bits(bits: Vec<u8>, count: usize) -> Result<Self> {
        if bits.len() < count.div_ceil(8) {
            return Err(Error::invalid_argument(format!(
                "{} bytes are no mask of {count} bits",
                bits.len()
            )));
        }
        Ok(Self::Mask(BooleanBuffer::new(bits.into(), 0, count)))
    }
}

/// Options of a rewrite.
#[derive(Clone, Debug)]
pub struct Options {
    /// Algorithm and level of the output.
    pub compression: Compression,
    /// How much compression effort is made.
    pub effort: Effort,
    /// How column types are chosen.
    pub encodings: Encodings,
    /// Bytes on storage that a cluster has, as in [`crate::convert::Options::cluster_bytes`].
    pub cluster_bytes: u64,
    /// Uncompressed bytes of a page at most.
    pub page_bytes: usize,
    /// Bytes of decoded and sealed data in flight.
    pub memory_budget: u64,
    /// What holds for some fields instead, by glob; the last that match win.
    pub field_options: Vec<FieldOptions>,
    /// Globs of field paths to take, such as `Muon_*` or `jets._0.pt`; empty takes all.
    pub fields: Vec<String>,
    /// Globs of field paths to leave out, stronger than `fields`.
    pub drop: Vec<String>,
    /// Entries to take; `None` takes all.
    pub entries: Option<Range<u64>>,
    /// Which of these entries to take; `None` takes all.
    pub cut: Option<EntryCut>,
    /// Rules for the classes of the fields: the members that they make are written as well. Cuts do
    /// not see them.
    pub rules: Vec<ReadRule>,
    /// Leaves out the other objects of the file; else they are carried over.
    pub only: bool,
    /// Replaces an existing output.
    pub force: bool,
    /// Reads both files back and compares every value before the output appears.
    pub verify: bool,
    /// Name of the RNTuple; `None` keeps its path.
    pub name: Option<String>,
    /// Fixes the time of writing and the identity of the file: outputs of one name are then the same
    /// byte for byte.
    pub reproducible: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            compression: Compression::DEFAULT,
            effort: Effort::default(),
            encodings: Encodings::default(),
            cluster_bytes: DEFAULT_APPROX_ZIPPED_CLUSTER,
            page_bytes: DEFAULT_MAX_UNZIPPED_PAGE,
            memory_budget: MEMORY_BUDGET,
            field_options: Vec::new(),
            fields: Vec::new(),
            drop: Vec::new(),
            entries: None,
            cut: None,
            rules: Vec::new(),
            only: false,
            force: false,
            verify: false,
            name: None,
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
        check_cluster(self.cluster_bytes)?;
        check_memory(self.memory_budget)?;
        check_page(self.page_bytes)
    }

    /// The entry range within an RNTuple of `total` entries.
    ///
    /// # Errors
    /// `InvalidArgument` when it reaches beyond the end or runs backwards.
    pub fn entry_range(&self, total: u64) -> Result<Range<u64>> {
        let Some(range) = self.entries.clone() else { return Ok(0..total) };
        if range.start > range.end || range.end > total {
            return Err(Error::invalid_argument(format!(
                "entries {}..{} are not within the {total} entries of the RNTuple",
                range.start, range.end
            )));
        }
        Ok(range)
    }
}
