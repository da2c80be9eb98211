//! The branches of a TTree and their leaves.

use nyssa_data::dataset::Dataset;
use nyssa_root::error::Result;
use nyssa_ttree::{Alias, Branch, Friend, Reader};
use serde::Serialize;

/// The branches, aliases and friends of a TTree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Branches {
    /// The branches. Each comes before its sub-branches.
    pub branches: Vec<BranchEntry>,
    /// The aliases: names of formulas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Alias>,
    /// The friends: trees whose entries belong to the entries of this tree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub friends: Vec<Friend>,
}

/// A branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BranchEntry {
    /// The path, which is unique in the tree.
    pub path: String,
    /// The name as stored. Several branches may have one name.
    pub name: String,
    /// The path from the parent branch on.
    #[serde(skip)]
    pub below_parent: String,
    /// The title.
    pub title: String,
    /// The class of the branch.
    pub class: String,
    /// The C++ type of one entry. `None` for a branch that has only sub-branches.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// The number of branches above this branch.
    #[serde(skip)]
    pub depth: usize,
    /// The branch that counts the elements.
    pub counter: Option<String>,
    /// The names of the leaves.
    pub leaves: Vec<String>,
    /// The number of baskets.
    pub baskets: usize,
    /// The first entry for which the branch has values, if it is not 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_entry: Option<u64>,
    /// The reason why nyssa cannot read the branch.
    pub unreadable: Option<String>,
}

/// Returns the branches, aliases and friends of a TTree.
///
/// # Errors
/// Returns an error if the relations of the tree are damaged or cannot be read.
pub(super) fn branches(reader: &Reader) -> Result<Branches> {
    let mut branches = Vec::new();
    add(reader, &reader.tree().branches, "", 0, &mut branches);
    let relations = reader.relations()?;
    let (aliases, friends) = (relations.aliases.clone(), relations.friends.clone());
    Ok(Branches { branches, aliases, friends })
}

/// Adds branches and their sub-branches.
fn add(
    reader: &Reader,
    branches: &[Branch],
    parent: &str,
    depth: usize,
    rows: &mut Vec<BranchEntry>,
) {
    for branch in branches {
        let item = reader.find_column(&branch.path);
        let counter = branch.leaves.iter().find_map(|leaf| leaf.counter.as_ref());
        rows.push(BranchEntry {
            path: branch.path.clone(),
            name: branch.name.clone(),
            below_parent: branch.path.strip_prefix(parent).unwrap_or(&branch.path).to_owned(),
            title: branch.title.clone(),
            class: branch.class.clone(),
            type_name: item.map(|item| item.type_name.clone()),
            depth,
            counter: counter.map(|counter| counter.branch.clone()),
            leaves: branch.leaves.iter().map(|leaf| leaf.name.clone()).collect(),
            baskets: branch.baskets.len(),
            first_entry: Some(branch.first_entry).filter(|&first| first > 0),
            unreadable: item.and_then(|item| item.field.as_ref().err().cloned()),
        });
        add(reader, &branch.branches, &format!("{}/", branch.path), depth + 1, rows);
    }
}
