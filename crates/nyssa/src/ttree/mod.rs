//! TTree reading: baskets to Arrow arrays. Knows nothing of RNTuple.

mod array;
mod basket;
mod basket_table;
mod branch;
mod clusters;
mod column;
mod counts;
mod decode;
mod element;
mod fetch;
mod files;
mod layout;
mod leaf;
mod model;
mod options;
mod reader;
mod relations;
mod split;
mod streamed;
mod tree;
mod units;
mod verify;
mod without;

pub(crate) use array::items;
pub(crate) use branch::is_elsewhere;
pub use model::{
    Basket, Branch, ClassName, CountSource, Element, Leaf, Plain, Shape, Split, SplitMember,
    Streamed, Tree,
};
pub use options::{DEFAULT_FETCH_BYTES, Options};
pub use reader::Reader;
pub use relations::{Alias, Friend, Index, Relations};
pub use tree::load;
pub use verify::{VerifyReport, verify};
