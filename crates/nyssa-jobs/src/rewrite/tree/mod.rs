//! Rewrites TTrees of any class: their entries are cut from their baskets and packed into others, without decoding
//! (`job::trees`).
//!
//! ```text
//! branches ─select─► branches to write
//! entries ─range, cut─► entries to write
//! ```
//!
//! Only members that follow from other baskets and branches are written again in the `TTree` itself, so that friends,
//! aliases, user information and streamer infos stay.

mod branches;
mod dataset;

pub(super) use dataset::Tree;
