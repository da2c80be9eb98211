//! Packs the entries of stored baskets into other baskets. Entries are bytes: they are cut out of the decompressed basket
//! and copied, and nothing is decoded.
//!
//! ```text
//! basket of the file ─open─► | entry | entry | entry | ─cut─► open basket ─full, or a cluster ends─► compressed basket
//! ```
//!
//! Objects in an entry refer to each other by positions that count from the start of the key. A basket keeps the positions
//! for which such entries were streamed (`TBasket::fDisplacement`), so that readers find the objects.

mod opened;
mod packer;
mod references;

pub use opened::OpenedBasket;
pub use packer::{PackedBasket, PackedForm, Packer, PackingMemory};
