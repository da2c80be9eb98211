//! Takes from a TTree what an RNTuple cannot hold.

use std::collections::HashMap;

use nyssa_root::error::Result;
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::StreamerList;
use nyssa_ttree::stored::Beside;
use nyssa_ttree::{Branch, Leaf, Tree};

use super::{BranchFacts, KeptTree, LeafFacts, TreeFacts};

/// What a tree says, and how its objects are described.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// What is kept.
    pub kept: KeptTree,
    /// The streamer infos of the objects that are kept.
    pub infos: StreamerList,
    /// Notes on the parts that cannot be kept.
    pub notes: Vec<String>,
}

impl Taken {
    /// Reads the tree of a key, of which `entries` entries become an RNTuple.
    ///
    /// # Errors
    /// Returns an error if the tree is damaged or cannot be read.
    pub(crate) fn of(file: &RootFile, key: &KeyEntry, tree: &Tree, entries: u64) -> Result<Self> {
        let mut beside = Beside::read(file, key)?;
        let mut notes = std::mem::take(&mut beside.refused);
        if beside.index.is_some() && entries != tree.entries {
            beside.index = None;
            notes.push("the index of the tree is left out: it is for all entries".to_owned());
        }
        let leaves = tree.branches.iter().flat_map(|branch| &branch.leaves);
        let packed = leaves.filter(|leaf| is_packed(leaf)).map(|leaf| leaf.class.clone());
        beside.classes.extend(packed);
        let classes = &beside.classes;
        let infos = match classes.is_empty() {
            true => StreamerList::default(),
            false => file.streamer_list()?.newest(|class| classes.contains(class)),
        };
        let sizes = beside.basket_sizes.iter().copied().chain(std::iter::repeat(0));
        let branches = tree.branches.iter().zip(sizes);
        let branches = branches.map(|(branch, size)| (branch.path.clone(), facts(branch, size)));
        let kept = KeptTree {
            entries,
            tree: TreeFacts {
                class: key.class.clone(),
                weight: beside.weight,
                auto_flush: beside.auto_flush,
            },
            aliases: beside.aliases,
            friends: beside.friends,
            user_info: beside.user_info,
            index: beside.index,
            branches: branches.collect(),
        };
        Ok(Self { kept, infos, notes })
    }

    /// Keeps the branches that became fields, by the names of their fields. Without fields, a branch is not kept.
    pub(crate) fn set_fields(&mut self, fields: &HashMap<&str, &str>) {
        self.kept.branches.retain_mut(|(path, branch)| match fields.get(path.as_str()) {
            Some(field) => {
                (*field).clone_into(&mut branch.field);
                true
            }
            None => false,
        });
    }
}

fn facts(branch: &Branch, basket_size: i64) -> BranchFacts {
    let is_of_class = branch.class != "TBranch";
    BranchFacts {
        field: String::new(),
        title: branch.written_title().is_none().then(|| branch.title.clone()),
        class: if is_of_class { branch.type_name() } else { String::new() },
        basket_size,
        leaves: if is_of_class { Vec::new() } else { branch.leaves.iter().map(leaf).collect() },
    }
}

/// Returns whether numbers are stored with fewer bits, which the title of the leaf describes.
fn is_packed(leaf: &Leaf) -> bool {
    matches!(leaf.class.as_str(), "TLeafF16" | "TLeafD32")
}

fn leaf(leaf: &Leaf) -> LeafFacts {
    LeafFacts {
        name: leaf.name.clone(),
        class: leaf.class.clone(),
        title: if is_packed(leaf) { leaf.title.clone() } else { String::new() },
        unsigned: leaf.unsigned,
        counter: leaf.counter.as_ref().map(|counter| counter.branch.clone()),
    }
}
