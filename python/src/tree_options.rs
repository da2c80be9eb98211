//! Reads the options of trees that come from Python. An option that is `None` keeps its default.

use nyssa_rntuple::write::RNTupleWriteOptions;
use nyssa_root::effort::{CompressionChoice, Effort};
use nyssa_root::{Error, Result};
use nyssa_ttree::write::{AutoFlush, BranchOptions, TreeWriteOptions};
use pyo3::prelude::*;

use crate::options::{ByField, memory};

/// Returns the options of branches.
pub(crate) fn by_branch(given: ByField) -> Result<Vec<BranchOptions>> {
    let branch = |(glob, options): (String, Vec<(String, String)>)| {
        let none = BranchOptions::new(&glob)?;
        options.iter().try_fold(none, |options, (name, value)| options.with(name, value))
    };
    given.into_iter().map(branch).collect()
}

/// The options of a tree, from a `nyssa.write.tree.TreeOptions`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TreeOptions {
    title: String,
    compression: Option<String>,
    effort: Option<String>,
    basket_size: Option<u64>,
    auto_flush: Option<i64>,
    optimize_baskets: bool,
    counters: Vec<(String, String)>,
    leaf_lists: Vec<String>,
    vectors: Vec<String>,
    branch_options: ByField,
    aliases: Vec<(String, String)>,
    user_info: Vec<(String, String)>,
    split_level: Option<i64>,
}

impl TreeOptions {
    /// Returns the same in the types of the core. `file` has the compression and the effort of the file.
    pub(crate) fn parse(self, file: &RNTupleWriteOptions) -> Result<TreeWriteOptions> {
        let effort: Option<Effort> = self.effort.map(|text| text.parse()).transpose()?;
        let (compression, effort) = match self.compression {
            Some(text) => {
                let choice: CompressionChoice = text.parse()?;
                (choice.compression, choice.effort(effort))
            }
            None => (file.compression, effort.unwrap_or(file.effort)),
        };
        let level = self.split_level.map(|level| {
            let refused =
                |_| Error::invalid_argument(format!("a split level is 0 to 99, not {level}"));
            u32::try_from(level).map_err(refused)
        });
        let level = level.transpose()?;
        let default = TreeWriteOptions::default();
        let mut options = TreeWriteOptions {
            title: self.title,
            compression,
            effort,
            basket_size: self.basket_size.map_or(default.basket_size, memory),
            auto_flush: self.auto_flush.map_or(default.auto_flush, AutoFlush::from),
            optimize_baskets: self.optimize_baskets,
            branches: by_branch(self.branch_options)?,
            aliases: self.aliases,
            user_info: self.user_info,
            split_level: level.unwrap_or(default.split_level),
            ..default
        };
        for (glob, name) in &self.counters {
            options = options.counter(glob, name)?;
        }
        for glob in &self.leaf_lists {
            options = options.leaf_list(glob)?;
        }
        for glob in &self.vectors {
            options = options.vector(glob)?;
        }
        Ok(options)
    }
}
