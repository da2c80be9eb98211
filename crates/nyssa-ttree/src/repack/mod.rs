//! Packs the entries of stored baskets into other baskets. Entries are bytes: they are cut out of the decompressed basket
//! and copied, and nothing is decoded.
//!
//! ```text
//! basket of the file ─open─► | entry | entry | entry | ─cut─► open basket ─full, or a cluster ends─► compressed basket
//! ```
//!
//! A basket that keeps its entries is only compressed again (`reseal`).
//!
//! An entry refers to objects and classes by positions that count from the start of the key, which change where the entry moves.
//! The streamer infos say where they are (`read/entry_references.rs`). An entry whose old position its basket states
//! (`TBasket::fDisplacement`) may keep it.

mod opened;
mod packer;
mod plain;
mod reseal;
mod table;

pub use opened::OpenedBasket;
pub use packer::{BasketSource, PackedBasket, PackedForm, Packer, PackingMemory};
pub use reseal::{renumbered, reseal};
pub use table::reference_table;
