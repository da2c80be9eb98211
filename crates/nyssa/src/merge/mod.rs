//! Several RNTuples → one: sealed pages are moved, never opened.
//!
//! ```text
//! inputs ─survey─► distinct schemas ─unify─► one schema; per input: column → column
//! per input, per cluster:  pages in file order ─► large reads ─► checksums ─► large writes
//!                          page list: the same pages at their new places
//! ```
//!
//! Fields are matched by name (`tree.rs`), collections that projected fields show by what these show
//! ([`crate::rntuple::schema::align`]). Numbers get the type that holds those of all inputs. A field whose pages
//! are encoded differently in some input gets one more column representation; clusters name the one they
//! use (specification, "Column Description"). A field that an input does not have gets constant pages of
//! zeros there, a few bytes that are stored once. Reading and checking of pages runs ahead of writing in
//! a thread of its own; memory depends on neither the size nor the number of the inputs.
//!
//! Only when clusters are to be made anew (`recluster`) is everything decoded and sealed again. Then a
//! field may be projected in one input and have data of its own in another (`plain.rs`).

mod attributes;
mod input;
mod job;
mod load;
mod mapping;
mod options;
mod plain;
mod recluster;
mod report;
mod shape;
mod survey;
mod transfer;
mod tree;
mod unify;
mod verify;
mod widen;
mod zeros;

pub use job::merge;
pub use options::{Mode, Options};
pub use report::{InputReport, Report};
