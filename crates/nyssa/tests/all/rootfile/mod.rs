//! Tests the ROOT file container and the TTree model on real files. Expected values come from uproot 5.7 and ROOT 6.40,
//! never from nyssa.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test stops at the first surprise

mod carry;
mod damage;
mod listing;
mod trees;
