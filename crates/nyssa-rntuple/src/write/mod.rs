//! Writes RNTuples: Arrow arrays → sealed pages → clusters → an RNTuple in a ROOT file.
//!
//! ```text
//! Arrow array ── shred ──► elements of columns ── cut, encode, compress ──► sealed pages
//!     one field, one cluster       (no copy)           (many threads)           │
//!                                                                    Writer::put, in order
//!                          header · pages · page lists · footer · anchor  ◄─────┘
//! ```
//!
//! [`seal_field`] is a pure function, which any thread can call. [`Writer`] stores sealed columns in the
//! given order. [`TableWriter`] does both, with threads and a memory budget. [`ParallelWriter`] accepts rows
//! from many threads at once.

mod attributes;
mod blob;
mod blocks;
mod budget;
mod choose_columns;
pub mod choosing;
mod classes;
mod cluster_builder;
mod cluster_target;
mod column_choice;
mod column_data;
pub mod column_report;
mod elements;
mod estimate;
mod extension;
mod field_options;
mod finished_set;
mod known_pages;
mod limits;
pub mod loss;
mod numbers;
mod open_cluster;
mod options;
mod parallel;
mod plane_choice;
pub mod profile;
mod projected;
mod report;
mod seal;
mod seal_fields;
mod settings;
mod shred;
#[cfg(test)]
mod shred_tests;
mod table;
mod variant;
mod workers;
mod writer;

pub use crate::choose::Encodings;
pub use attributes::AttributeSetWriter;
pub use blob::{reserve_blob, write_blob};
pub use choose_columns::choose_columns;
pub use column_choice::ColumnChoice;
pub use column_report::ColumnReport;
pub use estimate::{MemoryEstimate, estimate};
pub use field_options::FieldOptions;
pub use finished_set::FinishedSet;
pub use limits::{
    MAX_REMEMBERED_PAGES, MAX_UNZIPPED_PAGE, MIN_CLUSTER, MIN_CLUSTER_OF_COLUMN, MIN_MEMORY,
    MIN_UNZIPPED_PAGE,
};
pub use limits::{check_cluster, check_memory, check_page, cluster_of};
pub use nyssa_root::effort::Trial;
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
pub use seal::{seal_field, seal_offsets};
pub use seal_fields::Sealer;
pub use settings::{ColumnSettings, Scratch, SealSettings};
pub use table::TableWriter;
pub use writer::StoredColumn;
pub use writer::{Existing, Writer};
