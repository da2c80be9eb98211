//! What a conversion does, with named defaults.

use std::ops::Range;
use std::str::FromStr;

use crate::compression::Compression;
use crate::dataset::Filter;
use crate::error::{Error, Result};
pub use crate::rntuple::write::{Effort, Encodings, FieldOptions};
use crate::rntuple::write::{check_cluster, check_memory, check_page};

/// Bytes of a cluster on storage, approximately; ROOT's default for RNTuple.
pub const CLUSTER_BYTES: u64 = 128 << 20;
/// Uncompressed bytes of a page at most; ROOT's default for RNTuple.
pub const PAGE_BYTES: usize = 1 << 20;
/// Bytes of decoded and sealed data in flight.
pub const MEMORY_BUDGET: u64 = 512 << 20;

/// How jagged branches become fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// As ROOT's importer: one untyped collection of records per counter, and projected fields
    /// (`ROOT::VecOps::RVec<T>`, cardinality) under the branch names. Offsets are stored once.
    #[default]
    Importer,
    /// Each jagged branch is a `std::vector<T>` of its own and counters are plain numbers.
    Vectors,
}

/// Which branches of classes and of standard containers become streamer fields: each object is stored as the
/// bytes that ROOT's `TClass::Streamer` makes of it, which ROOT reads with the dictionary of the class.
/// What has no other type in RNTuple is stored so in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Streamer {
    /// None but those.
    #[default]
    None,
    /// Top-level branches whose name matches one of these globs.
    Globs(Vec<String>),
    /// All.
    All,
    /// Those that the first cluster shows to be smaller so.
    Auto,
}

impl Streamer {
    /// `all`, `auto`, or globs; nothing is none.
    ///
    /// # Errors
    /// `InvalidArgument` for `all` or `auto` among others, and for a glob that does not parse.
    pub fn of(words: &[String]) -> Result<Self> {
        match words {
            [] => Ok(Self::None),
            [word] if word == "all" => Ok(Self::All),
            [word] if word == "auto" => Ok(Self::Auto),
            globs if globs.iter().any(|word| word == "all" || word == "auto") => {
                Err(Error::invalid_argument("streamer is all, auto, or patterns of branches"))
            }
            globs => {
                Filter::new(globs, &[])?;
                Ok(Self::Globs(globs.to_vec()))
            }
        }
    }
}

/// Options of a conversion.
#[derive(Clone, Debug)]
pub struct Options {
    /// How jagged branches become fields.
    pub layout: Layout,
    /// Algorithm and level of the output.
    pub compression: Compression,
    /// How compression effort is spent.
    pub effort: Effort,
    /// How column types are chosen. Those of the default depend on the effort too: without
    /// [`Effort::Full`], columns that compress much better unsplit are stored so.
    pub encodings: Encodings,
    /// Bytes on storage that a cluster has, within some percent; the last one may have less, or a quarter
    /// more. Clusters are smaller where the memory demands it, and where they would have ten times as many
    /// bytes before compression, as in ROOT.
    pub cluster_bytes: u64,
    /// Uncompressed bytes of a page at most.
    pub page_bytes: usize,
    /// Bytes of decoded and sealed data in flight.
    pub memory_budget: u64,
    /// What holds for some fields of the output instead, by glob; the last that match win.
    pub field_options: Vec<FieldOptions>,
    /// Which branches of classes become streamer fields.
    pub streamer: Streamer,
    /// Globs of branch names to take; empty takes all. Counters of taken branches come along.
    pub include: Vec<String>,
    /// Globs of branch names to leave out, stronger than `include`.
    pub exclude: Vec<String>,
    /// Entries to take; `None` takes all.
    pub entries: Option<Range<u64>>,
    /// Leaves out what cannot be converted, listed in the report, instead of failing.
    pub skip_unsupported: bool,
    /// Leaves out branches with damaged data, listed in the report, instead of failing.
    pub skip_unreadable: bool,
    /// Carries the other objects of the file over; else they are only named.
    pub carry: bool,
    /// Replaces an existing output.
    pub force: bool,
    /// Reads both files back and compares every value before the output appears.
    pub verify: bool,
    /// Name of the RNTuple; `None` keeps the path of the tree.
    pub name: Option<String>,
    /// Fixes the time of writing and the identity of the file: outputs of one name are then the same
    /// byte for byte.
    pub reproducible: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            layout: Layout::default(),
            compression: Compression::DEFAULT,
            effort: Effort::default(),
            encodings: Encodings::default(),
            cluster_bytes: CLUSTER_BYTES,
            page_bytes: PAGE_BYTES,
            memory_budget: MEMORY_BUDGET,
            field_options: Vec::new(),
            streamer: Streamer::default(),
            include: Vec::new(),
            exclude: Vec::new(),
            entries: None,
            skip_unsupported: false,
            skip_unreadable: false,
            carry: true,
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

    /// The branch filter.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that does not parse.
    pub fn filter(&self) -> Result<Filter> {
        Filter::new(&self.include, &self.exclude)
    }

    /// The entry range within a tree of `total` entries.
    ///
    /// # Errors
    /// `InvalidArgument` when it reaches beyond the tree or runs backwards.
    pub fn entry_range(&self, total: u64) -> Result<Range<u64>> {
        let Some(range) = self.entries.clone() else { return Ok(0..total) };
        if range.start > range.end || range.end > total {
            return Err(Error::invalid_argument(format!(
                "entries {}..{} are not within the {total} entries of the tree",
                range.start, range.end
            )));
        }
        Ok(range)
    }
}

impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "importer" => Ok(Self::Importer),
            "vectors" => Ok(Self::Vectors),
            _ => Err(Error::invalid_argument(format!(
                "layout {text:?} is not known: use importer or vectors"
            ))),
        }
    }
}
