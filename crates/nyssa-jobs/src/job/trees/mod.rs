//! Writes the entries of stored TTrees, of any class, to an output. Nothing is decoded.
//!
//! ```text
//! trees ─joined─► entries that follow each other ─clusters─► clusters ─groups─► clusters that are written together
//! branch ─fate─► left out │ moved as it is │ compressed again │ packed again (compression, basket size)
//! branch in a group: read ─unseal─► cut ─seal─► put in order
//! ```
//!
//! `copy` moves all baskets of a tree as they are, in the order of its file.

mod clusters;
mod copy;
mod entries;
mod form;
mod groups;
mod joined;
mod opened;
mod options;
mod read_ahead;
mod work;

pub(crate) use clusters::Clusters;
pub(crate) use copy::{Copy, basket_bytes};
pub(crate) use entries::Entries;
pub(crate) use form::{Fate, Flush, Wanted};
pub(crate) use groups::groups;
pub(crate) use joined::Joined;
pub use options::BasketOptions;
pub(crate) use work::{Progress, Work};
