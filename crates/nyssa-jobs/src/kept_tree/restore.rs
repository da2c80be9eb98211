//! Makes the options of a tree of what an RNTuple keeps of its TTree.

use std::collections::HashMap;

use nyssa_root::error::{Error, Result};
use nyssa_root::rootfile::RootFile;
use nyssa_ttree::model::number_of_leaf;
use nyssa_ttree::stored::PlainObject;
use nyssa_ttree::write::{
    AutoFlush, ColumnOptions, LeafOptions, PackedLeaf, TreeParts, TreeWriteOptions, is_reserved,
};

use super::{BranchFacts, KeptTree};

/// The class of the trees that are written.
const CLASS: &str = "TTree";
/// The classes of strings that a tree can have as objects.
const STRINGS: [&str; 2] = ["string", "TString"];
/// The sizes of baskets that a writer takes, in bytes.
const BASKET_SIZES: std::ops::RangeInclusive<i64> = 256..=256 << 20;

/// Gives a tree the parts that `kept` has. A rule for clusters that the user states (`stated`) stays. `unused` returns the note
/// on a part with objects that are no objects of their classes, if the tree may lack it. Returns notes on what the tree cannot
/// be again.
///
/// # Errors
/// An error of `unused`; `OutOfSpecification` for damaged streamer infos.
pub(crate) fn restore(
    kept: &KeptTree,
    file: &RootFile,
    options: &mut TreeWriteOptions,
    stated: Option<i64>,
    unused: impl Fn(&str, Error) -> Result<String>,
) -> Result<Vec<String>> {
    let friends: Vec<PlainObject> = kept.friends.iter().map(|(_, object)| object.clone()).collect();
    let mut parts = TreeParts::new(kept.tree.weight, file.streamer_infos()?, file.streamer_list()?);
    let set_index = |(_, object): &(_, PlainObject)| parts.set_index(object, kept.entries);
    let index = kept.index.as_ref().map_or(Ok(()), set_index);
    let set = [
        ("the friends", parts.set_friends(&friends)),
        ("the user information", parts.set_user_info(&kept.user_info)),
        ("the index", index),
    ];
    let refused = set.into_iter().filter_map(|(part, set)| Some((part, set.err()?)));
    let mut notes = refused.map(|(part, error)| unused(part, error)).collect::<Result<Vec<_>>>()?;
    options.parts = Some(parts);
    options.aliases = kept.formulas();
    if stated.is_none() {
        options.auto_flush = AutoFlush::from(kept.tree.auto_flush);
        options.optimize_baskets = matches!(options.auto_flush, AutoFlush::Bytes(_));
    }
    let class = &kept.tree.class;
    notes.extend(
        (class != CLASS)
            .then(|| format!("the data come from a {class}, and the tree is a {CLASS}")),
    );
    Ok(notes)
}

impl KeptTree {
    fn formulas(&self) -> Vec<(String, String)> {
        let pair = |alias: &nyssa_ttree::Alias| (alias.name.clone(), alias.formula.clone());
        self.aliases.iter().map(pair).collect()
    }

    /// Returns the branches with their places in the tree, by the names of their fields.
    pub(crate) fn by_field(&self) -> HashMap<&str, (usize, &str, &BranchFacts)> {
        let branches = self.branches.iter().enumerate();
        branches
            .map(|(at, (path, item))| (item.field.as_str(), (at, path.as_str(), item)))
            .collect()
    }

    /// Returns whether a branch counts the items of others, and is only that.
    fn is_counter(&self, path: &str) -> bool {
        self.branches.iter().any(|(known, item)| known == path && item.leaves.len() == 1)
    }

    /// Returns how the column of a branch is written.
    pub(crate) fn column(&self, branch: &BranchFacts) -> ColumnOptions {
        let leaf = |leaf: &super::LeafFacts| LeafOptions {
            name: leaf.name.clone(),
            number: number_of_leaf(&leaf.class, leaf.unsigned),
            packed: PackedLeaf::of(&leaf.class, &leaf.title),
            counter: position(branch, leaf.counter_leaf.as_ref()),
            is_long: leaf.class == "TLeafG",
        };
        let is_named = branch.leaves.iter().all(|leaf| is_name(&leaf.name));
        let counter = branch.leaves.first().and_then(|leaf| leaf.counter.clone());
        let size = Some(branch.basket_size).filter(|size| BASKET_SIZES.contains(size));
        ColumnOptions {
            counter: counter.filter(|counter| self.is_counter(counter)),
            vector: branch.leaves.is_empty(),
            string_class: STRINGS.into_iter().find(|class| *class == branch.class),
            leaf_list: branch.leaves.len() > 1,
            leaves: if is_named { branch.leaves.iter().map(leaf).collect() } else { Vec::new() },
            basket_size: size.and_then(|size| usize::try_from(size).ok()),
            title: branch.title.clone(),
            class: None,
            split_level: branch.split_level,
            kept: None,
        }
    }
}

/// Returns the place of a leaf in its branch.
fn position(branch: &BranchFacts, leaf: Option<&String>) -> Option<usize> {
    branch.leaves.iter().position(|other| Some(&other.name) == leaf)
}

/// Returns whether nyssa writes leaves of this name.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.trim() == name && !name.contains(is_reserved)
}
