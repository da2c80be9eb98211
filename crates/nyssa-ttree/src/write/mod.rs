//! Writes TTrees: Arrow arrays → baskets → clusters → a `TTree` in a ROOT file.
//!
//! ```text
//! Arrow schema ── plan ──► branches and leaves, and which column fills them
//! Arrow arrays ── columns ──► numbers of each branch ── open basket ──► full baskets ── compress ──► compressed baskets
//!                  (checked)     one branch, one thread                      (many threads)        │
//!                                           baskets in the order in which they are full  ◄─────────┘
//!                                           TTree with the places of all baskets, last
//! ```
//!
//! A [`TreeWriter`] writes baskets as soon as they are full. With a [`ParallelWriter`], each thread fills on its own,
//! threads of the pool compress, and the baskets of a cluster are written together when the cluster is complete.
//!
//! ```text
//! filler ──► stored tree ──► file                  TreeWriter
//! filler ──► queue ──► cluster ──┐
//! filler ──► queue ──► cluster ──┴──► stored tree ──► file   FillContext of a ParallelWriter
//! ```
//!
//! An existing tree can be continued (`resume`): it gets new baskets, and its `TTree` is written again with all
//! baskets.
//!
//! Sizes of baskets and clusters, and the numbers in the metadata, match ROOT's for these entries (`TBranch::Fill`,
//! `TTree::Fill`, `TTree::OptimizeBaskets`).

mod add;
mod background;
pub(crate) mod basket;
mod before;
mod branch;
mod class_members;
mod clusters;
pub(crate) mod codec;
mod codecs;
mod columns;
pub(crate) mod compress;
mod conform;
mod declared;
mod described;
mod element;
mod existing;
mod filler;
mod filling;
mod form;
mod in_order;
mod kept;
mod kept_form;
mod leaf_form;
mod leaf_list;
mod leaf_types;
mod metadata;
mod names;
mod numbers;
mod options;
mod packed;
mod parallel;
mod parts;
mod plan;
mod references;
mod report;
mod resume;
mod shape;
mod spare;
mod start;
mod stored;
mod stored_branch;
mod target;
mod tree_columns;
mod unroll;
mod vector;
mod workers;
mod writer;

pub use basket::optimized_size;
pub use before::EmbeddedBasket;
pub use declared::column_of;
pub use described::{Described, classes_in};
pub use kept::KeptBranch;
pub use kept_form::form_of;
pub use names::{is_old_leaf, is_old_name, is_reserved};
pub use options::{
    AutoFlush, BranchOptions, ColumnOptions, DEFAULT_AUTO_FLUSH, DEFAULT_BASKET_SIZE,
    DEFAULT_SPLIT_LEVEL, LeafOptions, TreeWriteOptions, check_basket_size,
};
pub use packed::PackedLeaf;
pub use parallel::{FillContext, ParallelWriter};
pub use parts::TreeParts;
pub use plan::{branches_of, check};
pub use references::check_references;
pub use report::TreeReport;
pub use resume::ExistingTree;
pub use tree_columns::TreeColumns;
pub use writer::TreeWriter;

pub use nyssa_root::fill::Order;
