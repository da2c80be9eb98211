//! Contains the code that all jobs share which make a file from other files.
//!
//! ```text
//! options, plan ─► output ─► directories ─► RNTuples ─► other objects ─► finish ─► verify ─► publish ─► report
//!                                          └ pipeline: tasks made on many threads, written in order
//! ```
//!
//! A job brings a plan and says how it writes and verifies (`run::Job`); the rest is the same for all.

pub(crate) mod asked;
pub(crate) mod clusters;
pub(crate) mod cutting;
pub(crate) mod held;
mod identity;
pub(crate) mod largest_entry;
pub(crate) mod options;
pub(crate) mod others;
pub(crate) mod output;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod stored_trees;

pub use asked::AskedOptions;
pub use identity::{MadeOf, identity};
pub use options::{DEFAULT_MEMORY, OutputOptions};
pub use report::{ProcessUsage, Reencoded, Written};
