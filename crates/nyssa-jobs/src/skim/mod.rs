//! Skims datasets: some columns of some entries of one or several files, and new columns, in a new file of any format.
//! Conversions from and to tables (Parquet, Arrow IPC) are skims that take everything.
//!
//! ```text
//! inputs ─plan─► columns, definitions, cuts ─query─► entries that pass, with the columns ─steps─► target ─► report
//! ```
//!
//! The columns of the cuts are read first, then the others where entries pass. While a step is written, the next one
//! is read. `target` has one writer for each format.

mod convert;
mod input;
mod job;
mod nulls;
mod options;
mod plan;
mod report;
mod target;

pub use convert::{convert_table, has_table};
pub use job::skim;
pub use options::{NamedCut, SkimOptions};
pub use report::{CutFlowRow, SkimColumn, SkimReport, SkimSkipped};
