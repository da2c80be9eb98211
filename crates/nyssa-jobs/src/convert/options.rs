//! Defines the options of a conversion.

use std::ops::Range;
use std::str::FromStr;

use nyssa_data::dataset::{Filter, Format};
use nyssa_rntuple::choose::{Encodings, StorageChoices};
use nyssa_root::compression::Algorithm;
use nyssa_root::effort::Effort;
use nyssa_root::error::{Error, Result};
use nyssa_ttree::write::{AutoFlush, BranchOptions, TreeWriteOptions};
use serde::Serialize;

use crate::job::OutputOptions;
use crate::job::options::entry_range;

/// The fields that jagged branches become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// The fields that ROOT's importer makes: one untyped collection of records for each counter, and projected
    /// fields (`ROOT::VecOps::RVec<T>`, cardinality) with the names of the branches. Offsets are stored once.
    #[default]
    Importer,
    /// A separate `std::vector<T>` for each jagged branch, and plain numbers for counters.
    Vectors,
}

/// The branches of classes and of standard containers that become streamer fields. A streamer field stores each
/// object as the bytes of ROOT's `TClass::Streamer`. ROOT needs the dictionary of the class to read them. Branches
/// that have no other type in RNTuple always become streamer fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Streamer {
    /// Only branches without another type in RNTuple.
    #[default]
    None,
    /// Top-level branches whose name matches one of these globs.
    Globs(Vec<String>),
    /// All branches of classes and containers.
    All,
    /// Branches that are smaller as a streamer field than in columns, on a sample of the first cluster.
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

/// The format of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum To {
    /// TTrees become RNTuples.
    #[default]
    RNTuple,
    /// RNTuples become TTrees.
    TTree,
}

impl To {
    /// Returns the format of the input.
    pub(super) fn input(self) -> Format {
        match self {
            Self::RNTuple => Format::TTree,
            Self::TTree => Format::RNTuple,
        }
    }

    /// Returns the format of the output.
    pub(super) fn output(self) -> Format {
        match self {
            Self::RNTuple => Format::RNTuple,
            Self::TTree => Format::TTree,
        }
    }
}

/// The options of the trees that a conversion writes.
#[derive(Clone, Debug, Default)]
pub struct TreeOptions {
    /// The size of a basket before compression, in bytes. `None` means ROOT's default.
    pub basket_size: Option<usize>,
    /// The rule that decides where clusters end, as ROOT's number: entries, negative bytes, or 0 for no clusters.
    /// `None` means ROOT's default.
    pub auto_flush: Option<i64>,
    /// The counters of lists, by globs of branches. These lists are then no `std::vector`. The last glob that matches
    /// counts.
    pub counters: Vec<(String, String)>,
    /// The globs of the branches of records that get one branch with several leaves.
    pub leaf_lists: Vec<String>,
    /// The globs of the branches of lists that are written as `std::vector`, and not with a counter.
    pub vectors: Vec<String>,
    /// The options of branches, by globs. The last glob that matches counts.
    pub branch_options: Vec<BranchOptions>,
}

/// The options of a conversion.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let mut options = nyssa::ConvertOptions::default();
/// options.include.push("Muon_*".to_owned());
/// options.skip_unsupported = true;
/// options.output.verify = true;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct ConvertOptions {
    /// The options that all jobs share. Columns that compress much better unsplit are stored unsplit, even with
    /// the default encoding, unless the effort is [`nyssa_root::effort::Effort::Full`].
    pub output: OutputOptions,
    /// The format of the output.
    pub to: To,
    /// The options of the trees that are written.
    pub tree: TreeOptions,
    /// The fields that jagged branches become.
    pub layout: Layout,
    /// The branches of classes that become streamer fields.
    pub streamer: Streamer,
    /// Whether `Float16_t` and `Double32_t` with a range are stored as the integers of the tree. Reading computes
    /// their values in another order than for a tree, so that they may differ in the last bits.
    pub quantize: bool,
    /// The globs of the names of branches to convert. An empty list takes all branches. The counters of these
    /// branches are always converted.
    pub include: Vec<String>,
    /// The globs of the names of branches to leave out, even if `include` takes them.
    pub exclude: Vec<String>,
    /// The range of entries to convert. `None` takes all entries.
    pub entries: Option<Range<u64>>,
    /// Whether branches that cannot be converted are left out. Otherwise the conversion fails. The report lists
    /// them.
    pub skip_unsupported: bool,
    /// Whether branches with damaged data are left out. Otherwise the conversion fails. The report lists them.
    pub skip_unreadable: bool,
}

impl ConvertOptions {
    /// Returns the options with the default encoding of conversions, and with the branches of streamer fields that
    /// the profile states, unless others are requested.
    ///
    /// # Errors
    /// `InvalidArgument` for a file that is no profile, and for globs that do not parse; an error if it cannot be
    /// read.
    pub(super) fn settled(&self) -> Result<Self> {
        let stated = match (&self.streamer, &self.output.profile) {
            (Streamer::None, Some(profile)) => StorageChoices::stated(profile)?,
            _ => None,
        };
        let stated = stated.and_then(|options| options.streamer).map(|words| Streamer::of(&words));
        let streamer = stated.transpose()?.unwrap_or_else(|| self.streamer.clone());
        let mut settled = Self { streamer, ..self.clone() };
        settled.output.encoding.get_or_insert(default_encoding(&self.output));
        Ok(settled)
    }

    /// Returns the filter of branches.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that does not parse.
    pub fn filter(&self) -> Result<Filter> {
        Filter::new(&self.include, &self.exclude)
    }

    /// Returns the range of entries within an input of `total` entries.
    ///
    /// # Errors
    /// `InvalidArgument` when it reaches beyond the input or runs backwards.
    pub fn entry_range(&self, total: u64) -> Result<Range<u64>> {
        let what = match self.to {
            To::RNTuple => "tree",
            To::TTree => "RNTuple",
        };
        entry_range(self.entries.as_ref(), total, what)
    }

    /// Returns the options of the trees that are written.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that does not parse.
    pub(super) fn tree_options(&self) -> Result<TreeWriteOptions> {
        let TreeOptions { basket_size, auto_flush, counters, leaf_lists, vectors, branch_options } =
            &self.tree;
        let default = TreeWriteOptions::default();
        let options = TreeWriteOptions {
            compression: self.output.compression,
            effort: self.output.effort,
            basket_size: basket_size.unwrap_or(default.basket_size),
            auto_flush: auto_flush.map_or(default.auto_flush, AutoFlush::from),
            branches: branch_options.clone(),
            ..default
        };
        let options =
            counters.iter().try_fold(options, |all, (glob, name)| all.counter(glob, name));
        let options = leaf_lists.iter().try_fold(options?, |all, glob| all.leaf_list(glob));
        vectors.iter().try_fold(options?, |all, glob| all.vector(glob))
    }

    /// Refuses options that the format of the output does not have.
    ///
    /// # Errors
    /// `InvalidArgument` with their names.
    pub(super) fn check_format(&self) -> Result<()> {
        let (own, default) = (&self.output, OutputOptions::default());
        let tree = TreeOptions::default();
        let (format, options) = match self.to {
            To::RNTuple => (
                "TTrees",
                vec![
                    ("basket_size", self.tree.basket_size != tree.basket_size),
                    ("auto_flush", self.tree.auto_flush != tree.auto_flush),
                    ("counters", self.tree.counters != tree.counters),
                    ("leaf_lists", self.tree.leaf_lists != tree.leaf_lists),
                    ("vectors", self.tree.vectors != tree.vectors),
                    ("branch_options", !self.tree.branch_options.is_empty()),
                ],
            ),
            To::TTree => (
                "RNTuples",
                vec![
                    ("layout", self.layout != Layout::default()),
                    ("streamer", self.streamer != Streamer::default()),
                    ("quantize", self.quantize),
                    ("encoding", own.encoding.unwrap_or_default() != Encodings::Default),
                    ("profile", own.profile.is_some()),
                    ("field_options", !own.field_options.is_empty()),
                    ("cluster_size", own.cluster_size != default.cluster_size),
                    ("page_size", own.page_size != default.page_size),
                ],
            ),
        };
        let given = options.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
        let given: Vec<_> = given.collect();
        if given.is_empty() {
            return Ok(());
        }
        Err(Error::invalid_argument(format!(
            "these options are for {format}, which this conversion does not write: {}",
            given.join(", ")
        )))
    }
}

/// Returns the way in which a conversion to an RNTuple chooses column types if the options do not state it. A user
/// who names a level, full effort or another algorithm gets ROOT's types.
pub(crate) fn default_encoding(output: &OutputOptions) -> Encodings {
    match (output.compression.algorithm, output.effort) {
        (Algorithm::Zstd, Effort::Auto) if output.compression.setting() != 0 => Encodings::Auto,
        _ => Encodings::Default,
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

impl FromStr for To {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "rntuple" => Ok(Self::RNTuple),
            "ttree" => Ok(Self::TTree),
            _ => Err(Error::invalid_argument(format!(
                "the format {text:?} is not known: use rntuple or ttree"
            ))),
        }
    }
}
