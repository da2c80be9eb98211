//! TTree reading: baskets to Arrow arrays. Knows nothing of RNTuple.

mod basket;
mod clusters;
mod column;
mod counts;
mod decode;
mod fetch;
mod model;
mod options;
mod reader;
mod type_name;

pub use model::{Basket, Branch, CountSource, Element, Leaf, Shape, Tree};
pub use options::{DEFAULT_FETCH_BYTES, Options};
pub use reader::Reader;
