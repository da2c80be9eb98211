//! Contains the code that all jobs share that make a file from other files.
//!
//! ```text
//! options, plan ─► output ─► directories ─► RNTuples ─► other objects ─► finish ─► verify ─► publish ─► report
//!                                          └ pipeline: tasks made on many threads, written in order
//! ```
//!
//! A job has a plan and defines how it writes and verifies (`run::Job`); all other steps are common to all jobs.

#[cfg(feature = "cli")]
pub(crate) mod auto_flush;
#[cfg(feature = "cli")]
pub(crate) mod by_glob;
pub(crate) mod choosing;
pub(crate) mod clusters;
pub(crate) mod cutting;
mod entry_range;
pub(crate) mod given;
pub(crate) mod globs;
mod identity;
pub(crate) mod largest_entry;
pub(crate) mod largest_part;
mod options;
pub(crate) mod others;
pub(crate) mod output;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod stopped;
mod storage;
pub(crate) mod trees;
#[cfg(feature = "cli")]
pub mod words;

pub use entry_range::EntryRange;
pub use identity::{MadeOf, identity};
pub use options::{DEFAULT_MEMORY, OutputOptions};
pub use output::check_root_name;
pub use report::{ProcessUsage, Reencoded, Written};
pub use storage::StorageOptions;
pub use trees::BasketOptions;
