//! Defines the options of writing a tree.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use arrow_schema::Field;
use globset::GlobMatcher;
use nyssa_data::dataset::glob;
use nyssa_root::arrow::Number;
use nyssa_root::compression::Compression;
use nyssa_root::definitions::Definitions;
use nyssa_root::effort::Effort;
use nyssa_root::error::{Error, Result};
use nyssa_root::rootfile::check_new_text;
use serde::{Serialize, Serializer};

use super::declared;
use super::described::Described;
use super::kept::KeptBranch;
use super::packed::PackedLeaf;
use super::parts::TreeParts;

/// The default size of a basket in bytes, which is ROOT's.
pub const DEFAULT_BASKET_SIZE: usize = 32_000;
/// The default of [`AutoFlush`], which is ROOT's -30000000.
pub const DEFAULT_AUTO_FLUSH: AutoFlush = AutoFlush::Bytes(30_000_000);

/// The largest split level that ROOT has.
const MAX_SPLIT_LEVEL: u32 = 99;
/// The default of [`TreeWriteOptions::split_level`], which is ROOT's.
pub const DEFAULT_SPLIT_LEVEL: u32 = 99;

/// The smallest size of a basket that can be requested, in bytes.
const MIN_BASKET_SIZE: usize = 256;
/// The largest size of a basket that can be requested, in bytes.
const MAX_BASKET_SIZE: usize = 256 << 20;

/// The rule that decides where clusters end (`TTree::SetAutoFlush`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoFlush {
    /// There are no clusters: baskets are written when they are full.
    Never,
    /// A cluster has this number of entries.
    Entries(u64),
    /// The first cluster ends when its full baskets have more than this number of compressed bytes. All other
    /// clusters have the same number of entries.
    Bytes(u64),
}

impl AutoFlush {
    /// Returns ROOT's number: entries, or negative bytes.
    pub fn number(self) -> i64 {
        let number = |count| i64::try_from(count).unwrap_or(i64::MAX);
        match self {
            Self::Never => 0,
            Self::Entries(count) => number(count),
            Self::Bytes(count) => -number(count),
        }
    }
}

impl From<i64> for AutoFlush {
    fn from(number: i64) -> Self {
        match number {
            0 => Self::Never,
            1.. => Self::Entries(number.unsigned_abs()),
            _ => Self::Bytes(number.unsigned_abs()),
        }
    }
}

/// The options of a tree.
#[derive(Clone, Debug)]
pub struct TreeWriteOptions {
    /// The title of the tree.
    pub title: String,
    /// The compression of baskets and of the tree itself.
    pub compression: Compression,
    /// The effort of compression. With [`Effort::Auto`], a sample of each branch decides.
    pub effort: Effort,
    /// The size of a basket before compression, in bytes.
    pub basket_size: usize,
    /// The rule that decides where clusters end.
    pub auto_flush: AutoFlush,
    /// Whether baskets get a new size after the first cluster, so that a basket has one cluster of its branch.
    pub optimize_baskets: bool,
    /// The counters of jagged columns, by globs of the columns. The last glob that matches counts.
    pub counters: Vec<(GlobMatcher, String)>,
    /// The globs of the records that are written as one branch with several leaves.
    pub leaf_lists: Vec<GlobMatcher>,
    /// The globs of the lists that are written as `std::vector`. Lists without a possible counter are always vectors.
    pub vectors: Vec<GlobMatcher>,
    /// The options of branches, by globs. The last glob that matches counts.
    pub branches: Vec<BranchOptions>,
    /// The options of columns by their names, for programs that know all columns. Globs take precedence.
    pub columns: HashMap<String, ColumnOptions>,
    /// The classes of columns, which their metadata name (`nyssa:type`).
    pub classes: Definitions,
    /// The streamer infos of a file, for columns whose options state their class ([`ColumnOptions::class`]).
    pub described: Option<Arc<Described>>,
    /// The depth to which objects of classes are split into branches, 0 to 99. With 0 they are not split.
    pub split_level: u32,
    /// The names and formulas of aliases (`TTree::SetAlias`).
    pub aliases: Vec<(String, String)>,
    /// The names and texts of the user info (`TTree::GetUserInfo`), each a `TNamed`.
    pub user_info: Vec<(String, String)>,
    /// The parts that another tree had.
    pub parts: Option<TreeParts>,
    /// The number of the process (`TProcessID`) of the objects that others refer to by `TRef`, in the branches that another
    /// tree had. `None` refuses such branches.
    pub process: Option<u16>,
    /// The maximum number of fill contexts of a [`super::ParallelWriter`]. `None` is the number of threads of its
    /// context.
    pub contexts: Option<usize>,
    /// Whether other threads compress and write while [`super::TreeWriter::extend`] goes on. Otherwise full baskets are
    /// written when `extend` returns, so that no more of them are in memory.
    pub background: bool,
}

/// What a glob of the options matches.
#[derive(Clone, Copy)]
pub(super) enum Globbed {
    Branches,
    Counters,
    Vectors,
    LeafLists,
}

/// The options of the branches that a glob matches.
#[derive(Clone, Debug, Serialize)]
pub struct BranchOptions {
    /// Matches the names of branches.
    #[serde(serialize_with = "glob_text")]
    pub glob: GlobMatcher,
    /// The compression, whose level is used exactly; `None` means the compression of the tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
    /// The size of a basket; `None` means the size of the tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basket_size: Option<usize>,
    /// The title of the branch; `None` makes the list of its leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

fn glob_text<S: Serializer>(matcher: &GlobMatcher, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_str(matcher.glob().glob())
}

/// The options of one column, or of a member of a record by the name of its branch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnOptions {
    /// The counter of lists.
    pub counter: Option<String>,
    /// The leaf of the counter, if its column is a leaf list that comes before this column.
    pub counter_leaf: Option<usize>,
    /// Whether lists are written as `std::vector`.
    pub vector: bool,
    /// Whether a record is written as one branch with several leaves.
    pub leaf_list: bool,
    /// The names and types of the leaves; an empty list gives leaves the names and types of the column.
    pub leaves: Vec<LeafOptions>,
    /// The class of strings that are written as objects (`string`, `TString`); `None` makes a leaf.
    pub string_class: Option<&'static str>,
    /// The size of a basket; `None` means the size of the tree.
    pub basket_size: Option<usize>,
    /// The title of the branch; `None` makes the list of its leaves.
    pub title: Option<String>,
    /// The type of objects of a class, or of a collection, as the streamer infos spell it.
    pub class: Option<String>,
    /// How deep these objects are split; `None` means the level of the tree.
    pub split_level: Option<u32>,
    /// The branch that the values had in another tree. It counts more than the class.
    pub kept: Option<Arc<KeptBranch>>,
    /// Whether the branch has this name in another tree, so that all names are allowed of which [`super::is_old_name`] is
    /// true.
    pub has_old_name: bool,
}

/// The options of one leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafOptions {
    /// The name, of which [`super::is_old_leaf`] is true.
    pub name: String,
    /// The type of its numbers; `None` for strings, and for the type of the column.
    pub number: Option<Number>,
    /// The form of `Float16_t` and `Double32_t` with fewer bits. A value that would change is then refused.
    pub packed: Option<PackedLeaf>,
    /// The leaf of the same branch with the number of items, for an array of varying size.
    pub counter: Option<usize>,
    /// Whether integers of 64 bits are of the type `Long_t` (`TLeafG`), and not `Long64_t` (`TLeafL`).
    pub is_long: bool,
}

/// The options of one branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BranchSettings {
    /// The compression of its baskets.
    pub compression: Compression,
    /// The effort of the compression.
    pub effort: Effort,
    /// The size of a basket with its key before compression, in bytes.
    pub basket_size: usize,
}

impl BranchSettings {
    /// Makes the settings of a branch of a file. The file may state any value.
    pub(super) fn stored(compression: Compression, basket_size: i64) -> Self {
        let size = usize::try_from(basket_size).unwrap_or(DEFAULT_BASKET_SIZE);
        Self {
            compression,
            effort: Effort::Full,
            basket_size: size.clamp(MIN_BASKET_SIZE, MAX_BASKET_SIZE),
        }
    }
}

impl Default for TreeWriteOptions {
    fn default() -> Self {
        Self {
            title: String::new(),
            compression: Compression::DEFAULT,
            effort: Effort::default(),
            basket_size: DEFAULT_BASKET_SIZE,
            auto_flush: DEFAULT_AUTO_FLUSH,
            optimize_baskets: true,
            counters: Vec::new(),
            leaf_lists: Vec::new(),
            vectors: Vec::new(),
            branches: Vec::new(),
            columns: HashMap::new(),
            classes: Definitions::default(),
            described: None,
            split_level: DEFAULT_SPLIT_LEVEL,
            aliases: Vec::new(),
            user_info: Vec::new(),
            parts: None,
            process: None,
            contexts: None,
            background: true,
        }
    }
}

impl TreeWriteOptions {
    /// Adds the counter of the columns that `glob` matches.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that cannot be read.
    pub fn counter(mut self, glob: &str, name: &str) -> Result<Self> {
        self.counters.push((matcher(glob)?, name.to_owned()));
        Ok(self)
    }

    /// Adds records that are written as leaf lists.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that cannot be read.
    pub fn leaf_list(mut self, glob: &str) -> Result<Self> {
        self.leaf_lists.push(matcher(glob)?);
        Ok(self)
    }

    /// Adds lists that are written as `std::vector`.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that cannot be read.
    pub fn vector(mut self, glob: &str) -> Result<Self> {
        self.vectors.push(matcher(glob)?);
        Ok(self)
    }

    /// Adds counters, leaf lists and vectors, by globs.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that cannot be read.
    pub fn shaped(
        self,
        counters: &[(String, String)],
        leaf_lists: &[String],
        vectors: &[String],
    ) -> Result<Self> {
        let options = counters.iter().try_fold(self, |all, (glob, name)| all.counter(glob, name));
        let options = leaf_lists.iter().try_fold(options?, |all, glob| all.leaf_list(glob));
        vectors.iter().try_fold(options?, |all, glob| all.vector(glob))
    }

    /// Returns all globs, with what they match.
    pub(super) fn globs(&self) -> impl Iterator<Item = (Globbed, &GlobMatcher)> {
        let branches = self.branches.iter().map(|options| (Globbed::Branches, &options.glob));
        let counters = self.counters.iter().map(|(glob, _)| (Globbed::Counters, glob));
        let vectors = self.vectors.iter().map(|glob| (Globbed::Vectors, glob));
        let leaf_lists = self.leaf_lists.iter().map(|glob| (Globbed::LeafLists, glob));
        branches.chain(counters).chain(vectors).chain(leaf_lists)
    }

    /// Keeps the globs of branches, counters, vectors and leaf lists, in this order, for which `keeps` is true.
    pub fn retain_globs(&mut self, keeps: &[bool]) {
        let mut keeps = keeps.iter();
        let mut next = || keeps.next().copied().unwrap_or(true);
        self.branches.retain(|_| next());
        self.counters.retain(|_| next());
        self.vectors.retain(|_| next());
        self.leaf_lists.retain(|_| next());
    }

    /// Returns how the baskets of a branch are stored.
    pub(super) fn settings_of(&self, branch: &str) -> BranchSettings {
        let compression = self.last(branch, |options| options.compression);
        let basket_size = self.last(branch, |options| options.basket_size);
        BranchSettings {
            compression: compression.unwrap_or(self.compression),
            // A compression that is named is used with its full effort.
            effort: if compression.is_some() { Effort::Full } else { self.effort },
            basket_size: basket_size
                .or_else(|| self.columns.get(branch)?.basket_size)
                .unwrap_or(self.basket_size),
        }
    }

    /// Returns the options of a leaf of a branch.
    pub(super) fn leaf_of(&self, branch: &str, leaf: usize) -> Option<&LeafOptions> {
        self.columns.get(branch)?.leaves.get(leaf)
    }

    /// Returns the class of the strings of a branch, if they are objects.
    pub(super) fn string_class(&self, branch: &str) -> Option<&'static str> {
        self.columns.get(branch)?.string_class
    }

    /// Returns how deep the objects of a column are split.
    pub(super) fn split_level_of(&self, column: &str) -> u32 {
        let own = self.columns.get(column).and_then(|options| options.split_level);
        own.unwrap_or(self.split_level)
    }

    /// Returns whether a record must be written as one branch.
    pub(super) fn is_leaf_list(&self, record: &str) -> bool {
        let named = || self.columns.get(record).is_some_and(|options| options.leaf_list);
        self.leaf_lists.iter().any(|glob| glob.is_match(record)) || named()
    }

    /// Returns the title of a branch.
    pub(super) fn title_of(&self, branch: &str) -> Option<&str> {
        let given = self.last(branch, |options| options.title.as_deref());
        given.or_else(|| self.columns.get(branch)?.title.as_deref())
    }

    /// Returns the counter that is requested for the lists of a column.
    pub(super) fn counter_of(&self, list: &str) -> Option<&str> {
        let requested = self.counters.iter().rev().find(|(glob, _)| glob.is_match(list));
        let requested = requested.map(|(_, name)| name.as_str());
        requested.or_else(|| self.columns.get(list)?.counter.as_deref())
    }

    /// Returns the leaf list and its leaf with the number of items of a column, unless a user requests a counter.
    pub(super) fn counter_leaf_of(&self, list: &str) -> Option<(&str, usize)> {
        let own = self.columns.get(list)?;
        let is_requested = self.counters.iter().any(|(glob, _)| glob.is_match(list));
        own.counter.as_deref().zip(own.counter_leaf).filter(|_| !is_requested)
    }

    /// Returns the C++ type of a column of a class, or of a collection of a class. Returns `None` for other columns.
    ///
    /// # Errors
    /// `InvalidArgument` for a type that cannot be read.
    pub(super) fn class_of(&self, column: &Field) -> Result<Option<String>> {
        declared::class_of(column, &self.classes)
    }

    /// Returns whether the lists of a column must be written as `std::vector`.
    pub(super) fn is_vector(&self, list: &str) -> bool {
        let named = || self.columns.get(list).is_some_and(|options| options.vector);
        self.vectors.iter().any(|glob| glob.is_match(list)) || named()
    }

    fn last<'a, T>(
        &'a self,
        branch: &str,
        option: impl Fn(&'a BranchOptions) -> Option<T>,
    ) -> Option<T> {
        let matching = self.branches.iter().rev().filter(|options| options.glob.is_match(branch));
        matching.filter_map(option).next()
    }

    /// Checks the numbers and the texts.
    pub(super) fn validate(&self) -> Result<()> {
        if self.contexts == Some(0) {
            let message = "the number of fill contexts must be at least 1";
            return Err(Error::invalid_argument(message));
        }
        check_new_text("the title", &self.title)?;
        for title in self.branches.iter().filter_map(|options| options.title.as_deref()) {
            check_new_text("the title of a branch", title)?;
        }
        for (what, pairs) in [("the alias", &self.aliases), ("the user info", &self.user_info)] {
            for (name, text) in pairs {
                check_new_text(what, name).and_then(|()| check_new_text(what, text))?;
            }
        }
        let sizes = self.branches.iter().filter_map(|options| options.basket_size);
        let sizes = sizes.chain(self.columns.values().filter_map(|options| options.basket_size));
        sizes.chain([self.basket_size]).try_for_each(check_basket_size)?;
        match self.split_level {
            0..=MAX_SPLIT_LEVEL => Ok(()),
            other => Err(Error::invalid_argument(format!(
                "a split level is 0 to {MAX_SPLIT_LEVEL}, not {other}"
            ))),
        }
    }
}

/// Checks the size of baskets that is requested, in bytes.
///
/// # Errors
/// `InvalidArgument` with the range of sizes.
pub fn check_basket_size(size: usize) -> Result<()> {
    match (MIN_BASKET_SIZE..=MAX_BASKET_SIZE).contains(&size) {
        true => Ok(()),
        false => Err(Error::invalid_argument(format!(
            "a basket has {MIN_BASKET_SIZE} to {MAX_BASKET_SIZE} bytes, not {size}"
        ))),
    }
}

impl BranchOptions {
    /// Makes options that change nothing.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that cannot be read.
    pub fn new(glob: &str) -> Result<Self> {
        Ok(Self { glob: matcher(glob)?, compression: None, basket_size: None, title: None })
    }

    /// Sets the option `name` (`compression`, `basket_size` or `title`).
    ///
    /// # Errors
    /// `InvalidArgument` for other names and for values that cannot be read.
    pub fn with(mut self, name: &str, value: &str) -> Result<Self> {
        match name {
            "compression" => self.compression = Some(Compression::from_str(value)?),
            "basket_size" => {
                let size = value.parse().map_err(|_| {
                    Error::invalid_argument(format!("basket_size {value:?} is not a number"))
                })?;
                self.basket_size = Some(size);
            }
            "title" => self.title = Some(value.to_owned()),
            _ => {
                let known = ["compression", "basket_size", "title"];
                return Err(Error::invalid_argument(format!(
                    "branches have no option {name:?}: they have {}",
                    known.join(", ")
                ))
                .suggest(name, known));
            }
        }
        Ok(self)
    }
}

fn matcher(pattern: &str) -> Result<GlobMatcher> {
    Ok(glob(pattern)?.compile_matcher())
}
