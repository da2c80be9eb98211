//! Makes stored trees longer, or gives them other baskets. The bytes of the `TTree` are read with the places of all
//! members. Only members that new baskets change are written again: the tables of baskets, the numbers of entries and
//! bytes, the largest counts, the clusters. So branches of any class, friends, aliases and other parts stay unchanged.

mod agree;
mod beside;
mod clusters;
mod form;
mod grown;
mod index;
mod parts;
mod references;
mod tree;

pub(crate) use beside::drafts;
pub use beside::{Beside, BranchBeside, FormOf, PlainObject};
pub use clusters::ClusterRuns;
pub use grown::{BranchGrowth, Growth, NewBranches, add_bytes};
pub(crate) use index::check as check_index;
pub(crate) use references::renumber;
pub use references::{ReferenceTable, References};
pub(crate) use tree::branches_of;
pub use tree::{Counted, StoredBranch, StoredTree};

/// The bit of a branch whose entries have neither references between their objects nor objects behind pointers
/// (`TBranch::kDoNotUseBufferMap`).
pub(crate) const NO_REFERENCES: i64 = 1 << 22;
