//! TTree: the model of a tree, and reading baskets to Arrow arrays. Knows nothing of RNTuple.

pub(crate) mod model;
pub(crate) mod read;

pub use model::{
    Alias, Basket, Branch, ClassName, CountSource, Element, Friend, Index, Leaf, Plain, Relations,
    Shape, Split, SplitMember, Streamed, Tree, load,
};
pub use read::{DEFAULT_FETCH_BYTES, Options, Reader, verify};
