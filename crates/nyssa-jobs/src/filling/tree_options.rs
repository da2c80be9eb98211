//! Declares the options of TTrees that callers fill.

use nyssa_rntuple::write::RNTupleWriteOptions;
use nyssa_root::effort::{CompressionChoice, Effort};
use nyssa_root::error::{Error, Result};
use nyssa_ttree::write::{Order, TreeWriteOptions};

use crate::job::BasketOptions;

/// The options of TTrees that callers fill. An option that is `None` keeps its default.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct TreeFillOptions {
    /// The title of the TTree.
    #[cfg_attr(feature = "cli", arg(long, default_value = ""))]
    pub title: String,
    /// zstd, zlib, lz4 or lzma, with or without a level from 1 to 9; a ROOT setting such as 505; or none.
    #[cfg_attr(feature = "cli", arg(long))]
    pub compression: Option<CompressionChoice>,
    /// The time that compression may take: auto or full.
    #[cfg_attr(feature = "cli", arg(long))]
    pub effort: Option<Effort>,
    /// How the branches are stored.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub baskets: BasketOptions,
    /// Whether baskets get a new size after the first cluster.
    #[cfg_attr(feature = "cli", arg(long))]
    pub optimize_baskets: Option<bool>,
    /// The counters of the lists whose branch matches a glob.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "GLOB:NAME", value_parser = crate::job::by_glob::counter)
    )]
    pub counters: Vec<(String, String)>,
    /// The globs of the records that become one branch with several leaves.
    #[cfg_attr(feature = "cli", arg(long))]
    pub leaf_lists: Vec<String>,
    /// The globs of the lists that become `std::vector`.
    #[cfg_attr(feature = "cli", arg(long))]
    pub vectors: Vec<String>,
    /// How deep objects of classes are split into branches, 0 to 99.
    #[cfg_attr(feature = "cli", arg(long))]
    pub split_level: Option<u32>,
    /// Names and formulas of aliases.
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME=FORMULA", value_parser = crate::job::words::pair))]
    pub aliases: Vec<(String, String)>,
    /// Names and texts of the user information.
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME=TEXT", value_parser = crate::job::words::pair))]
    pub user_info: Vec<(String, String)>,
    /// Largest number of fill contexts.
    #[cfg_attr(feature = "cli", arg(long))]
    pub fill_contexts: Option<usize>,
    /// Order of the clusters of fill contexts: completion or round-robin.
    #[cfg_attr(feature = "cli", arg(long))]
    pub fill_order: Option<Order>,
}

impl TreeFillOptions {
    /// Returns the options of the writer. Compression, effort and the number of fill contexts are the options of the file
    /// if they are not given.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that does not parse, and for a name that is given twice.
    pub fn write_options(self, file: &RNTupleWriteOptions) -> Result<TreeWriteOptions> {
        for (what, pairs) in [("alias", &self.aliases), ("text of the user info", &self.user_info)]
        {
            for (at, (name, _)) in pairs.iter().enumerate() {
                if pairs[..at].iter().any(|(earlier, _)| earlier == name) {
                    let message = format!("the {what} {name:?} is given twice");
                    return Err(Error::invalid_argument(message));
                }
            }
        }
        let (compression, effort) = match self.compression {
            Some(choice) => (choice.compression, choice.effort(self.effort)),
            None => (file.compression, self.effort.unwrap_or(file.effort)),
        };
        let default = self.baskets.write_options();
        let options = TreeWriteOptions {
            title: self.title,
            compression,
            effort,
            optimize_baskets: self.optimize_baskets.unwrap_or(default.optimize_baskets),
            aliases: self.aliases,
            user_info: self.user_info,
            split_level: self.split_level.unwrap_or(default.split_level),
            contexts: self.fill_contexts.or(file.contexts),
            ..default
        };
        options.shaped(&self.counters, &self.leaf_lists, &self.vectors)
    }
}
