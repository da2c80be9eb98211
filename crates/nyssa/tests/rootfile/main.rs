//! The ROOT file container and the TTree model on real files. Expected values come from uproot 5.7
//! and ROOT 6.40, never from nyssa.

mod damage;
mod listing;
mod support;
mod trees;
