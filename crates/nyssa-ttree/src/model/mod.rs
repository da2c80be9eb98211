//! Defines the model of a tree: its branches, their leaves, and the positions of their baskets. This module
//! reads no basket.

mod basket_table;
mod branch;
mod element;
mod files;
mod layout;
mod leaf;
pub(crate) mod leaf_class;
mod quantized;
mod relations;
mod split;
mod title;
mod tree;
mod types;

pub(crate) use basket_table::basket_table;
pub(crate) use branch::first_entry;
pub(crate) use files::{Files, JoinedFiles, place_in_file};
pub(crate) use layout::{EntryKind, EntryLayout, Member};
pub use leaf_class::number_of_leaf;
pub use relations::{Alias, Friend, FriendElement, Index, Relations};
pub(crate) use split::data_type;
pub use tree::load;
pub(crate) use tree::{load_with, read_branch};
pub use types::{
    Basket, Branch, ClassName, CountSource, Element, Leaf, Plain, Shape, Split, SplitMember,
    Stated, Streamed, Tree,
};
