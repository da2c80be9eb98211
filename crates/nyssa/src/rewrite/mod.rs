//! RNTuple → RNTuple: the same values with other options, or only some fields and entries.
//!
//! ```text
//! schema ─select─► fields that stay ─target─► schema of the output, columns chosen anew
//! entries ─range, cut─► entries that stay ─clusters─► clusters of the wanted size
//! batch of fields of a cluster: read │ seal ─► put in order      (next read │ this sealed)
//! ```
//!
//! While the pages of one batch are sealed on all threads, the next batch is read; what is written
//! and in which order depends on the input and the options only.

mod attributes;
mod batches;
mod clusters;
mod columns;
mod job;
mod ntuple;
mod options;
mod report;
mod samples;
mod select;
mod sizes;
mod skim;
mod target;
mod with_rules;

pub use job::{rewrite, rewrite_all};
pub(crate) use ntuple::NTuple;
pub use options::{EntryCut, Options};
pub use report::{FieldReport, Report};
pub use target::Target;
