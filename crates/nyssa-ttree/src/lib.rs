//! Contains the model of a tree, and the reader that turns its baskets into Arrow arrays. This module does not
//! know RNTuple.

pub mod model;
pub mod read;
pub mod stored;
pub mod write;

pub use model::{
    Alias, Basket, Branch, ClassName, CountSource, Element, Friend, Index, Leaf, Plain, Relations,
    Shape, Split, SplitMember, Stated, Streamed, Tree, load,
};
pub use read::{DEFAULT_FETCH_BYTES, Reader, TTreeReadOptions, verify};
