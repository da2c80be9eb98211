//! What a conversion does.

use std::ops::Range;
use std::str::FromStr;

use crate::dataset::Filter;
use crate::error::{Error, Result};
use crate::job::OutputOptions;
use crate::job::options::entry_range;

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
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What all jobs have. Without [`crate::rntuple::write::Effort::Full`], columns that compress much better
    /// unsplit are stored so even with the default encoding.
    pub output: OutputOptions,
    /// How jagged branches become fields.
    pub layout: Layout,
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
}

impl Options {
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
