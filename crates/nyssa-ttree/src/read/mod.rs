//! Reads baskets into Arrow arrays.

mod ahead;
mod array;
mod assemble;
pub(crate) mod basket;
pub(crate) mod basket_header;
mod basket_sizes;
mod branch_read;
mod branches;
mod clusters;
mod counts;
mod decode;
mod entry_references;
mod moved;
mod options;
mod reader;
mod renumbering;
mod streamed;
mod units;
mod variable_data;
mod verify;
mod without;

pub use array::items;
pub use basket_header::Expected;
pub use entry_references::EntryReferences;
pub(crate) use entry_references::{Referring, cannot_move};
pub use moved::MovedBasket;
pub use options::{DEFAULT_FETCH_BYTES, TTreeReadOptions};
pub use reader::Reader;
pub(crate) use renumbering::Renumbered;
pub use renumbering::Renumbering;
pub use verify::verify;
