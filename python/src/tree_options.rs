//! Reads the options of trees that come from Python. An option that is `None` keeps its default.

use nyssa_jobs::filling::TreeFillOptions;
use nyssa_jobs::job::BasketOptions;
use nyssa_rntuple::write::RNTupleWriteOptions;
use nyssa_root::{Error, Result};
use nyssa_ttree::write::{BranchOptions, TreeWriteOptions};
use pyo3::prelude::*;

use crate::options::ByField;

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
        let level = self.split_level.map(|level| {
            let refused =
                |_| Error::invalid_argument(format!("a split level is 0 to 99, not {level}"));
            u32::try_from(level).map_err(refused)
        });
        let options = TreeFillOptions {
            title: self.title,
            compression: self.compression.map(|text| text.parse()).transpose()?,
            effort: self.effort.map(|text| text.parse()).transpose()?,
            baskets: BasketOptions {
                basket_size: self.basket_size,
                auto_flush: self.auto_flush,
                branch_options: by_branch(self.branch_options)?,
            },
            optimize_baskets: Some(self.optimize_baskets),
            counters: self.counters,
            leaf_lists: self.leaf_lists,
            vectors: self.vectors,
            split_level: level.transpose()?,
            aliases: self.aliases,
            user_info: self.user_info,
            fill_contexts: None,
            fill_order: None,
        };
        options.write_options(file)
    }
}
