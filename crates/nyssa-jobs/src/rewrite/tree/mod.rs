//! Rewrites TTrees of any class: their entries are cut from their baskets and packed into others, without decoding.
//!
//! ```text
//! branches ─select─► branches to write ─form─► moved as they are │ packed again (compression, basket size)
//! entries ─range, cut─► entries to write ─clusters─► clusters ─groups─► clusters that are written together
//! branch in a group: read ─unseal─► cut ─seal─► put in order
//! ```
//!
//! Only members that follow from other baskets and branches are written again in the `TTree` itself, so that friends,
//! aliases, user information and streamer infos stay.

mod branches;
mod clusters;
mod dataset;
mod entries;
mod form;
mod groups;
mod opened;
mod work;

pub(super) use dataset::Tree;
