//! Writes TTrees: Arrow arrays → baskets → clusters → a `TTree` in a ROOT file.
//!
//! ```text
//! Arrow schema ── plan ──► branches and leaves, and which column fills them
//! Arrow arrays ── columns ──► numbers of each branch ── open basket ──► full baskets ── seal ──► sealed baskets
//!                  (checked)     one branch, one thread                      (many threads)        │
//!                                           baskets in the order in which they are full  ◄─────────┘
//!                                           TTree with the places of all baskets, last
//! ```
//!
//! Sizes of baskets, clusters and the numbers in the metadata are those that ROOT makes of the same entries
//! (`TBranch::Fill`, `TTree::Fill`, `TTree::OptimizeBaskets`).

mod basket;
mod branch;
mod clusters;
mod columns;
mod form;
mod metadata;
mod names;
mod numbers;
mod options;
mod plan;
mod seal;
mod vector;
mod writer;

pub use options::{
    AutoFlush, BranchOptions, DEFAULT_AUTO_FLUSH, DEFAULT_BASKET_SIZE, TreeWriteOptions,
};
pub use writer::{TreeReport, TreeWriter};
