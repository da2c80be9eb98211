//! Stores the facts about a TTree for which an RNTuple has no place, in an attribute set of the RNTuple
//! (`docs/kept-trees.md`).
//!
//! ```text
//! TTree ── of_tree ──► KeptTree ── rows ──► attribute set `nyssa_ttree` of the RNTuple
//!                        │   ▲                      │
//!   options of the tree ◄┘   └───────── rows ◄──────┘   joined (merge), without fields (rewrite)
//! ```
//!
//! ROOT and other readers see a set of texts, and do not need it.

mod joined;
mod of_tree;
mod process;
mod references;
mod restore;
mod rows;
mod set;

use nyssa_ttree::stored::PlainObject;
use nyssa_ttree::{Alias, Friend, FriendElement, Index, Relations};
use serde::{Deserialize, Serialize};

pub(crate) use joined::JoinedTrees;
pub(crate) use of_tree::Taken;
pub(crate) use restore::restore;
pub(crate) use set::NAME;

/// The facts about a TTree, apart from its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptTree {
    /// The number of entries of the TTree.
    pub entries: u64,
    /// The class and the numbers of the tree.
    pub tree: TreeFacts,
    /// The aliases.
    pub aliases: Vec<Alias>,
    /// The friends, each with its streamed `TFriendElement`.
    pub friends: Vec<(FriendElement, PlainObject)>,
    /// The objects of the user information.
    pub user_info: Vec<PlainObject>,
    /// The index of the entries, with its streamed `TTreeIndex`.
    pub index: Option<(Index, PlainObject)>,
    /// The entries of the table of the references between objects.
    pub references: Vec<Vec<u8>>,
    /// The top-level branches that became fields, in the order of the tree.
    pub branches: Vec<(String, BranchFacts)>,
}

/// The class and the numbers of a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeFacts {
    /// The class: `TTree`, `TNtuple` or `TNtupleD`.
    pub class: String,
    /// The weight of each entry (`TTree::SetWeight`).
    pub weight: f64,
    /// The entries of a cluster, or the negative compressed bytes (`TTree::SetAutoFlush`).
    pub auto_flush: i64,
    /// The process of the objects that others refer to by `TRef`, if the file had one process only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessFacts>,
    /// The branches and the processes in the table of the references between objects (`TBranchRef`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<ReferenceFacts>,
}

/// The facts about the table of the references between objects, apart from its entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReferenceFacts {
    /// The paths of the branches with referenced objects, in the order of their numbers.
    pub branches: Vec<String>,
    /// The identifiers of the processes of the objects, in the order of their numbers.
    pub processes: Vec<String>,
}

/// A process (`TProcessID`), by which references know objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProcessFacts {
    /// Its number in the file.
    pub number: u16,
    /// Its identifier, which no other process has.
    pub id: String,
}

/// The facts about a branch, apart from its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchFacts {
    /// The top-level field with its values.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
    /// The name (`fName`), if it is not the path because another branch has it, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The title, unless it is the description of the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The C++ class of its objects. It is empty for a branch of leaves.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// How deep its objects are split (`fSplitLevel`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_level: Option<u32>,
    /// Whether the class streams its objects by code of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_streamer: bool,
    /// The size of a basket, in bytes (`fBasketSize`).
    pub basket_size: i64,
    /// The leaves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<LeafFacts>,
    /// A branch of a class, without its baskets ([`nyssa_ttree::write::KeptBranch`]). It is empty for other branches.
    #[serde(skip)]
    pub form: Vec<u8>,
}

/// The facts about a leaf, apart from its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeafFacts {
    /// The name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The class, such as `TLeafF`.
    pub class: String,
    /// The title of a `TLeafF16` or `TLeafD32`, which has the range of its numbers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Whether its integers have no sign.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsigned: bool,
    /// The branch with the number of elements, for an array whose length varies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<String>,
    /// The leaf with the number of elements, if it is in the same branch or one of several leaves of the other branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter_leaf: Option<String>,
}

impl Default for TreeFacts {
    fn default() -> Self {
        Self {
            class: "TTree".to_owned(),
            weight: 1.0,
            auto_flush: 0,
            process: None,
            references: None,
        }
    }
}

impl KeptTree {
    /// Returns the aliases, friends and index as they are read from a TTree.
    pub fn relations(&self) -> Relations {
        Relations {
            aliases: self.aliases.clone(),
            friends: Friend::of_elements(self.friends.iter().map(|(friend, _)| friend.clone())),
            index: self.index.as_ref().map(|(index, _)| Ok(index.clone())),
            weight: Some(self.tree.weight).filter(|weight| *weight != 1.0),
            user_objects: self.user_info.len(),
        }
    }
}
