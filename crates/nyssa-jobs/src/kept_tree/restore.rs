//! Makes the options of a tree of what an RNTuple keeps of its TTree.

use std::collections::HashMap;

use nyssa_root::error::{Error, Result};
use nyssa_root::rootfile::RootFile;
use nyssa_ttree::model::number_of_leaf;
use nyssa_ttree::stored::PlainObject;
use nyssa_ttree::write::{
    AutoFlush, ColumnOptions, LeafOptions, PackedLeaf, TreeParts, TreeWriteOptions, is_old_leaf,
    is_old_name,
};

use super::{BranchFacts, KeptTree, LeafFacts};

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

    /// Returns the counter of a branch, and its leaf if the counter has several.
    fn counter(&self, branch: &BranchFacts) -> Option<(String, Option<usize>)> {
        let leaf = branch.leaves.first()?;
        let counter = leaf.counter.clone()?;
        let (_, item) = self.branches.iter().find(|(path, _)| *path == counter)?;
        let is_plain = |leaf: &LeafFacts| {
            leaf.counter_leaf.is_none() && number_of_leaf(&leaf.class, leaf.unsigned).is_some()
        };
        match item.leaves.len() {
            1 => Some((counter, None)),
            _ if item.leaves.iter().all(is_plain) => {
                let at = position(item, leaf.counter_leaf.as_ref())?;
                Some((counter, Some(at)))
            }
            _ => None,
        }
    }

    /// Returns how the column of a branch is written.
    pub(crate) fn column(&self, branch: &BranchFacts) -> ColumnOptions {
        let own_counter = |leaf: &LeafFacts| {
            position(branch, leaf.counter_leaf.as_ref().filter(|_| leaf.counter.is_none()))
        };
        let leaf = |leaf: &LeafFacts| LeafOptions {
            name: name_of_leaf(&leaf.name),
            number: number_of_leaf(&leaf.class, leaf.unsigned),
            packed: PackedLeaf::of(&leaf.class, &leaf.title),
            counter: own_counter(leaf),
            is_long: leaf.class == "TLeafG",
        };
        let (counter, counter_leaf) = self.counter(branch).unzip();
        let size = Some(branch.basket_size).filter(|size| BASKET_SIZES.contains(size));
        ColumnOptions {
            counter,
            counter_leaf: counter_leaf.flatten(),
            vector: branch.leaves.is_empty(),
            string_class: STRINGS.into_iter().find(|class| *class == branch.class),
            leaf_list: branch.leaves.len() > 1,
            leaves: branch.leaves.iter().map(leaf).collect(),
            basket_size: size.and_then(|size| usize::try_from(size).ok()),
            title: branch.title.clone(),
            class: None,
            split_level: branch.split_level,
            kept: None,
            has_old_name: true,
        }
    }
}

impl BranchFacts {
    /// Returns notes on the names that the branch at `path`, which is called `name` now, cannot have again.
    pub(crate) fn renamed(&self, path: &str, name: &str) -> Vec<String> {
        let changed = |what: &str, was: &str, name: &str, why: &str| {
            format!("{path}: {what} was {was:?}, and is {name:?}: {why}")
        };
        let own = match &self.name {
            Some(was) => Some((was.as_str(), "another branch has this name, too")),
            None => (!is_old_name(path)).then_some((path, "names have no control characters")),
        };
        let own = own.map(|(was, why)| changed("its name", was, name, why));
        let leaves = self.leaves.iter().map(|leaf| (&leaf.name, name_of_leaf(&leaf.name)));
        let leaves = leaves.filter(|(was, name)| *was != name).map(|(was, name)| {
            let why = "names of leaves have no brackets and no control characters";
            changed("the name of its leaf", was, &name, why)
        });
        own.into_iter().chain(leaves).collect()
    }
}

/// Returns the name that a leaf gets.
fn name_of_leaf(name: &str) -> String {
    let allowed = |own: char| if is_old_leaf(own.encode_utf8(&mut [0; 4])) { own } else { '_' };
    match name.is_empty() {
        true => "_".to_owned(),
        false => name.chars().map(allowed).collect(),
    }
}

/// Returns the place of a leaf in its branch.
fn position(branch: &BranchFacts, leaf: Option<&String>) -> Option<usize> {
    branch.leaves.iter().position(|other| Some(&other.name) == leaf)
}
