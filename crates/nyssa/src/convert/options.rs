//! Defines the options of a conversion.

use std::ops::Range;
use std::str::FromStr;

use crate::dataset::Filter;
use crate::error::{Error, Result};
use crate::job::OutputOptions;
use crate::job::options::entry_range;

/// The fields that jagged branches become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// The fields that ROOT's importer makes: one untyped collection of records for each counter, and projected
    /// fields (`ROOT::VecOps::RVec<T>`, cardinality) with the names of the branches. Offsets are stored once.
    #[default]
    Importer,
    /// A `std::vector<T>` of its own for each jagged branch, and plain numbers for counters.
    Vectors,
}

/// The branches of classes and of standard containers that become streamer fields. A streamer field stores each
/// object as the bytes that ROOT's `TClass::Streamer` makes of it. ROOT needs the dictionary of the class to
/// read them. Branches that have no other type in RNTuple always become streamer fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Streamer {
    /// Only branches that have no other type.
    #[default]
    None,
    /// Top-level branches whose name matches one of these globs.
    Globs(Vec<String>),
    /// All branches of classes and containers.
    All,
    /// Branches whose first cluster is smaller as a streamer field than in columns.
    Auto,
}

impl Streamer {
    /// Parses `all`, `auto`, or globs. An empty list is [`Streamer::None`].
    ///
    /// # Errors
    /// `InvalidArgument` if `all` or `auto` is not the only word, or a glob does not parse.
    pub fn of(words: &[String]) -> Result<Self> {
        match words {
            [] => Ok(Self::None),
            [word] if word == "all" => Ok(Self::All),
            [word] if word == "auto" => Ok(Self::Auto),
            globs if globs.iter().any(|word| word == "all" || word == "auto") => {
                Err(Error::invalid_argument(
                    "streamer takes either all, or auto, or patterns of branches",
                ))
            }
            globs => {
                Filter::new(globs, &[])?;
                Ok(Self::Globs(globs.to_vec()))
            }
        }
    }
}

/// The options of a conversion.
#[derive(Clone, Debug, Default)]
pub struct ConvertOptions {
    /// The options that all jobs share. Columns that compress much better unsplit are stored unsplit, even with
    /// the default encoding, unless the effort is [`crate::effort::Effort::Full`].
    pub output: OutputOptions,
    /// The fields that jagged branches become.
    pub layout: Layout,
    /// The branches of classes that become streamer fields.
    pub streamer: Streamer,
    /// The globs of the names of branches to convert. An empty list takes all branches. The counters of these
    /// branches are always converted.
    pub include: Vec<String>,
    /// The globs of the names of branches to leave out, even if `include` takes them.
    pub exclude: Vec<String>,
    /// The range of entries to convert. `None` takes all.
    pub entries: Option<Range<u64>>,
    /// Whether branches that cannot be converted are left out. Otherwise the conversion fails. The report lists
    /// them.
    pub skip_unsupported: bool,
    /// Whether branches with damaged data are left out. Otherwise the conversion fails. The report lists them.
    pub skip_unreadable: bool,
}

impl ConvertOptions {
    /// Returns the filter of branches.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that does not parse.
    pub fn filter(&self) -> Result<Filter> {
        Filter::new(&self.include, &self.exclude)
    }

    /// Returns the range of entries within a tree of `total` entries.
    ///
    /// # Errors
    /// `InvalidArgument` when it reaches beyond the tree or runs backwards.
    pub fn entry_range(&self, total: u64) -> Result<Range<u64>> {
        entry_range(self.entries.as_ref(), total, "tree")
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
