//! Rewrites RNTuples and TTrees: with other options, or only some fields and entries.
//!
//! ```text
//! schema ─select─► fields to write ─target─► schema of the output, columns chosen anew
//! entries ─range, cut─► entries to write ─clusters─► clusters of the wanted size
//! batch of fields of a cluster: read │ seal ─► put in order      (next read │ this sealed)
//! ```
//!
//! While all threads seal the pages of one batch, the next batch is read. The bytes that are written, and their
//! order, depend only on the input and the options. `tree` rewrites TTrees, whose entries are not decoded.

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
mod split;
mod streamed;
mod target;
mod tree;
mod with_rules;

pub use crate::job::BasketOptions;
pub use job::{rewrite, rewrite_all};
pub(crate) use ntuple::NTuple;
pub use options::{EntryCut, RewriteOptions};
pub use report::{FieldReport, RewriteReport};
pub use target::OutputSchema;
