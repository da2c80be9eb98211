//! Declares the options of a conversion. The command line makes flags and help of a declaration, and Python reads its
//! keywords by these flags.

use nyssa_data::dataset::{Filter, Format};
use nyssa_rntuple::choose::Encodings;
use nyssa_root::compression::Algorithm;
use nyssa_root::effort::Effort;
use nyssa_root::error::{Error, Result};
use nyssa_ttree::write::TreeWriteOptions;
use serde::Serialize;

use crate::job::{BasketOptions, EntryRange, OutputOptions, StorageOptions};

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

/// The format of the output.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// use nyssa::{Direction, Format, To, ToTTree};
///
/// assert_eq!(ToTTree::TO, To::TTree);
/// assert_eq!(To::TTree.input(), Some(Format::RNTuple));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum To {
    /// TTrees become RNTuples.
    #[default]
    RNTuple,
    /// RNTuples become TTrees.
    TTree,
    /// A dataset becomes the table of a Parquet file.
    Parquet,
    /// A dataset becomes the table of an Arrow IPC file.
    Arrow,
}

impl To {
    /// Returns the format of the input. `None` means any format.
    pub fn input(self) -> Option<Format> {
        match self {
            Self::RNTuple => Some(Format::TTree),
            Self::TTree => Some(Format::RNTuple),
            Self::Parquet | Self::Arrow => None,
        }
    }

    /// Returns the format of the output.
    pub fn output(self) -> Format {
        match self {
            Self::RNTuple => Format::RNTuple,
            Self::TTree => Format::TTree,
            Self::Parquet => Format::Parquet,
            Self::Arrow => Format::Arrow,
        }
    }

    /// Returns the conversion whose output has this format of tables.
    pub(crate) fn of_format(format: Format) -> Option<Self> {
        match format {
            Format::Parquet => Some(Self::Parquet),
            Format::Arrow => Some(Self::Arrow),
            Format::RNTuple => Some(Self::RNTuple),
            Format::TTree => Some(Self::TTree),
        }
    }
}

/// The part of the input that is converted, in both directions.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let include = vec!["Muon_*".to_owned()];
/// let input = nyssa::InputOptions { include, skip_unreadable: true, ..Default::default() };
/// let options = nyssa::ToTTree { input, ..Default::default() };
/// # let _ = options;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct InputOptions {
    /// Convert only branches, or fields, that match a glob (repeatable). Counters of these branches are always
    /// converted.
    #[cfg_attr(feature = "cli", arg(long, value_name = "GLOB"))]
    pub include: Vec<String>,
    /// Leave out branches, or fields, that match a glob (repeatable).
    #[cfg_attr(feature = "cli", arg(long, value_name = "GLOB"))]
    pub exclude: Vec<String>,
    /// Convert entries A up to, not including, B.
    #[cfg_attr(feature = "cli", arg(long, value_name = "A:B", allow_hyphen_values = true))]
    pub entries: Option<EntryRange>,
    /// Leave out branches that nyssa cannot convert, or fields that a TTree cannot hold. The report lists them.
    #[cfg_attr(feature = "cli", arg(long))]
    pub skip_unsupported: bool,
    /// Leave out branches, or fields, with damaged data. The report lists them; the exit status is then 1.
    #[cfg_attr(feature = "cli", arg(long))]
    pub skip_unreadable: bool,
}

/// The conversion of TTrees to RNTuples, and its options.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let mut options = nyssa::ToRNTuple::default();
/// options.input.include.push("Muon_*".to_owned());
/// options.input.skip_unsupported = true;
/// options.output.verify = true;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct ToRNTuple {
    /// importer: branches with the same counter share a collection, as with ROOT's importer; vectors: each
    /// branch becomes a std::vector of its own.
    #[cfg_attr(feature = "cli", arg(long, default_value = "importer"))]
    pub layout: Layout,
    /// Store objects of classes and standard containers as the bytes of ROOT's streamer: all; auto, if this is
    /// smaller; or branches that match a glob (repeatable).
    #[cfg_attr(feature = "cli", arg(long, value_name = "GLOB"))]
    pub streamer: Vec<String>,
    /// Store Float16_t and Double32_t with a range as the integers that the TTree has: files are smaller, and
    /// values may differ in the last bits.
    #[cfg_attr(feature = "cli", arg(long))]
    pub quantize: bool,
    /// The part of the input that is converted.
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub input: InputOptions,
    /// The options that all jobs share.
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub output: OutputOptions,
    /// The options that say how the RNTuple is stored. Columns that compress much better unsplit are stored unsplit, even
    /// with the default encoding, unless the effort is [`nyssa_root::effort::Effort::Full`].
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub storage: StorageOptions,
}

/// The conversion of RNTuples to TTrees, and its options.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let mut options = nyssa::ToTTree::default();
/// options.counters.push(("Jet_*".to_owned(), "nJet".to_owned()));
/// options.output.verify = true;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct ToTTree {
    /// The options that say how the TTree is stored.
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub baskets: BasketOptions,
    /// Arrays with this counter, instead of std::vector, for lists whose branch matches a glob (repeatable; the last glob
    /// that matches counts). A backslash before a colon makes it a character of the glob or of the name.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "GLOB:NAME", value_parser = crate::job::by_glob::counter)
    )]
    pub counters: Vec<(String, String)>,
    /// One branch with several leaves for records whose branch matches a glob (repeatable).
    #[cfg_attr(feature = "cli", arg(long, value_name = "GLOB"))]
    pub leaf_lists: Vec<String>,
    /// std::vector, instead of arrays with a counter, for lists whose branch matches a glob (repeatable).
    #[cfg_attr(feature = "cli", arg(long, value_name = "GLOB"))]
    pub vectors: Vec<String>,
    /// How deep objects of classes are split into branches, 0 to 99; 0 makes one branch of each field. The default is
    /// 99, as in ROOT.
    #[cfg_attr(feature = "cli", arg(long, value_name = "LEVEL"))]
    pub split_level: Option<u32>,
    /// Write the members of objects of classes as branches of numbers, as the members of records without a class.
    #[cfg_attr(feature = "cli", arg(long))]
    pub open_classes: bool,
    /// The part of the input that is converted.
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub input: InputOptions,
    /// The options that all jobs share.
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub output: OutputOptions,
}

impl ToTTree {
    /// Returns the options of the trees that are written.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that does not parse.
    pub(super) fn tree_options(&self) -> Result<TreeWriteOptions> {
        let Self { baskets, counters, leaf_lists, vectors, .. } = self;
        let default = baskets.write_options();
        let options = TreeWriteOptions {
            compression: self.output.compression(),
            effort: self.output.effort(),
            split_level: self.split_level.unwrap_or(default.split_level),
            ..default
        };
        options.shaped(counters, leaf_lists, vectors)
    }
}

/// The branches of classes and of standard containers that become streamer fields. A streamer field stores each
/// object as the bytes of ROOT's `TClass::Streamer`. ROOT needs the dictionary of the class to read them. Branches
/// that have no other type in RNTuple always become streamer fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Streamer {
    /// Only branches without another type in RNTuple.
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
    pub(super) fn of(words: &[String]) -> Result<Self> {
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

/// Returns the way in which a conversion to an RNTuple chooses column types if the options do not state it. A user
/// who names a level, full effort or another algorithm gets ROOT's types.
pub(crate) fn default_encoding(output: &OutputOptions) -> Encodings {
    let compression = output.compression();
    match (compression.algorithm, output.effort()) {
        (Algorithm::Zstd, Effort::Auto) if compression.setting() != 0 => Encodings::Auto,
        _ => Encodings::Default,
    }
}

nyssa_root::named_variants!(Layout, "layout", Importer = "importer", Vectors = "vectors");
nyssa_root::named_variants!(
    To,
    "the format",
    RNTuple = "rntuple",
    TTree = "ttree",
    Parquet = "parquet",
    Arrow = "arrow"
);
