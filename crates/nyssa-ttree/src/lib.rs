//! The model of a tree, and the reader and writer of its baskets as Arrow arrays. This crate does not know RNTuple.

#![deny(missing_docs, unreachable_pub)]

mod heuristics;
pub mod model;
pub mod read;
pub mod repack;
pub mod stored;
pub mod write;

pub use model::{
    Alias, Basket, Branch, ClassName, CountSource, Element, Friend, FriendElement, Index, Leaf,
    Plain, Relations, Shape, Split, SplitMember, Stated, Streamed, Tree, load,
};
pub use read::{DEFAULT_FETCH_BYTES, Reader, TTreeReadOptions, verify};
