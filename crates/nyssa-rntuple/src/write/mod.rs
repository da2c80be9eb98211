//! Writes RNTuples: Arrow arrays → sealed pages → clusters → an RNTuple in a ROOT file.
//!
//! ```text
//! Arrow array ── seal ──► sealed pages ── Writer::put, in order ──► header · pages · page lists · footer · anchor
//!     one field, one cluster (many threads)
//! ```
//!
//! [`crate::seal::seal_field`] is a pure function, which any thread can call. [`Writer`] stores sealed columns in the
//! given order. [`TableWriter`] lets other threads do both, within a memory budget. [`ParallelWriter`] accepts rows
//! from many threads at once. [`crate::choose`] chooses how columns are stored.

mod attributes;
mod blob;
mod budget;
mod classes;
mod cluster_builder;
mod cluster_target;
mod estimate;
mod extension;
mod filler;
mod finished_set;
mod known_pages;
mod limits;
mod open_cluster;
mod options;
mod parallel;
mod projected;
mod report;
mod table;
mod workers;
mod writer;

pub use crate::choose::{ColumnReport, Encodings, FieldOptions};
pub use attributes::AttributeSetWriter;
pub use blob::{reserve_blob, write_blob};
pub use classes::describe_classes;
pub use estimate::{MemoryEstimate, estimate};
pub use finished_set::FinishedSet;
pub use limits::{MAX_REMEMBERED_PAGES, MIN_CLUSTER, MIN_CLUSTER_OF_COLUMN, MIN_MEMORY};
pub use limits::{check_cluster, check_memory, cluster_of};
pub use nyssa_root::fill::Order;
pub use nyssa_root::shared_file::SharedFile;
pub use options::{
    DEFAULT_APPROX_ZIPPED_CLUSTER, DEFAULT_CLUSTERS_PER_GROUP, DEFAULT_INITIAL_UNZIPPED_PAGE,
    DEFAULT_MAX_UNZIPPED_CLUSTER, DEFAULT_MAX_UNZIPPED_PAGE, DEFAULT_MEMORY, RNTupleWriteOptions,
    default_memory,
};
pub use parallel::{FillContext, ParallelWriter};
pub use projected::rows;
pub use report::WriteReport;
pub use table::TableWriter;
pub use writer::StoredColumn;
pub use writer::{Existing, Writer};
