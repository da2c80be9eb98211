//! Reads the options of trees that come from Python. An option that is `None` keeps its default.

use nyssa::Result;
use nyssa::compression::Compression;
use nyssa::ttree::write::{AutoFlush, BranchOptions, TreeWriteOptions};
use pyo3::prelude::*;

use crate::options::{ByField, memory};

/// The options of a tree, from a `nyssa.tree_writing.TreeOptions`.
#[derive(FromPyObject)]
pub struct TreeOptions {
    title: String,
    compression: Option<String>,
    basket_size: Option<u64>,
    auto_flush: Option<i64>,
    optimize_baskets: bool,
    counters: Vec<(String, String)>,
    leaf_lists: Vec<String>,
    vectors: Vec<String>,
    branch_options: ByField,
    aliases: Vec<(String, String)>,
    user_info: Vec<(String, String)>,
}

impl TreeOptions {
    /// Returns the same in the types of the core. `compression` is that of the file.
    pub fn parse(self, compression: Compression) -> Result<TreeWriteOptions> {
        let given = self.compression.map(|text| text.parse()).transpose()?;
        let default = TreeWriteOptions::default();
        let branch = |(glob, options): (String, Vec<(String, String)>)| {
            let none = BranchOptions::new(&glob)?;
            options.iter().try_fold(none, |options, (name, value)| options.with(name, value))
        };
        let mut options = TreeWriteOptions {
            title: self.title,
            compression: given.unwrap_or(compression),
            basket_size: self.basket_size.map_or(default.basket_size, memory),
            auto_flush: self.auto_flush.map_or(default.auto_flush, AutoFlush::from),
            optimize_baskets: self.optimize_baskets,
            branches: self.branch_options.into_iter().map(branch).collect::<Result<_>>()?,
            aliases: self.aliases,
            user_info: self.user_info,
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
