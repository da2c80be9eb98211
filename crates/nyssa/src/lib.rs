//! Reads, writes, converts, merges, checks and compares RNTuple and TTree data in ROOT files, without ROOT.
//!
//! ```
//! # fn main() -> nyssa::Result<()> {
//! let context = nyssa::Context::new(None)?;
//! let events = nyssa::open("../../testdata/rntuple/plain.root")?;
//! let names: Vec<&str> = events.columns().iter().map(|column| column.name.as_str()).collect();
//! let batch = nyssa::read(&*events, &names[..1], 0..events.num_entries(), &context)?;
//! assert_eq!(batch.num_rows() as u64, events.num_entries());
//! # Ok(())
//! # }
//! ```
//!
//! [`open`] returns a [`Dataset`], and [`read`] its columns as Arrow arrays. [`chain`] joins files, [`select`] takes the
//! entries that pass a cut. [`create`] and [`update`] write files. [`convert`], [`rewrite`] and [`merge`] make files of
//! files; [`verify`], [`diff`], [`digest`] and [`inspect`] check, compare and describe them. Paths are `file.root` or
//! `file.root:dir/Events`, and may be URLs. The folder `examples` has eight small programs.
//!
//! This crate is the interface for others. It stands on crates that are its layers (`docs/architecture.md`). Their
//! interfaces may change at any time.

#![deny(missing_docs, unreachable_pub)]

mod jobs;
mod read;
mod write;

pub use jobs::{convert, diff, digest, inspect, merge, rewrite, skim, verify};
pub use read::{batches, chain, open, open_with, read, select};
pub use write::{NewFile, create, update};

// The arrays and types of data in memory.
pub use arrow_array;
pub use arrow_schema;

pub use nyssa_data::dataset::{AnyDataset, ColumnBytes, ColumnInfo, Dataset, Filter, Format};
pub use nyssa_data::view::ChainOptions;
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let mut options = nyssa::OpenOptions::default();
/// options.allow_other_files = Some(false);
/// let events = nyssa::open_with("../../testdata/rntuple/plain.root", &options)?;
/// assert!(!events.columns().is_empty());
/// # Ok(())
/// # }
/// ```
pub use nyssa_io::OpenOptions;
pub use nyssa_jobs::compare::Selection;
pub use nyssa_jobs::compare::diff::{DiffOptions, DiffReport};
pub use nyssa_jobs::compare::digest::DigestReport;
pub use nyssa_jobs::convert::{ConvertReport, Direction, InputOptions, To, ToRNTuple, ToTTree};
pub use nyssa_jobs::job::{EntryRange, OutputOptions, StorageOptions};
pub use nyssa_jobs::merge::{MergeOptions, MergeReport, Mode};
pub use nyssa_jobs::rewrite::{RewriteOptions, RewriteReport};
pub use nyssa_jobs::skim::{SkimOptions, SkimReport};
pub use nyssa_jobs::tune::inspect::Inspection;
pub use nyssa_jobs::update::Update;
pub use nyssa_jobs::verify::VerifyReport;
pub use nyssa_rntuple::write::{
    Encodings, FieldOptions, FillContext, ParallelWriter, RNTupleWriteOptions, TableWriter,
    WriteReport,
};
pub use nyssa_root::compression::Compression;
pub use nyssa_root::{Context, Error, Kind, Problem, Result};
