//! Packs the entries of stored baskets into other baskets. Entries are bytes: they are cut out of the decompressed basket
//! and copied, and nothing is decoded.
//!
//! ```text
//! basket of the file ─open─► | entry | entry | entry | ─cut─► open basket ─full, or a cluster ends─► compressed basket
//! ```
//!
//! A basket that keeps its entries is only compressed again (`reseal`).
//!
//! An entry refers to classes by positions that count from the start of the key, which change where the entry moves. An entry
//! whose old position its basket states (`TBasket::fDisplacement`) may keep it.

mod opened;
mod packer;
mod plain;
mod references;
mod reseal;
mod table;

pub use opened::OpenedBasket;
pub use packer::{PackedBasket, PackedForm, Packer, PackingMemory};
pub use reseal::{renumbered, reseal};
pub use table::reference_table;
