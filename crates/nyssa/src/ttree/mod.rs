//! TTree reading: baskets to Arrow arrays. Knows nothing of RNTuple.

mod model;

pub use model::{Basket, Branch, CountSource, Element, Leaf, Shape, Tree};
