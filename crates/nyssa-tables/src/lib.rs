//! Parquet and Arrow IPC files, which hold one table each: datasets to read, and writers.
//!
//! This crate is a layer of `nyssa`, and its interface may change at any time. Use the crate `nyssa`.
//!
//! ```text
//! parquet | ipc     the formats: `read` gives a dataset, `write` takes steps of arrays
//! writer · output   what both writers share: options, reports, bytes to a sink
//! metadata          what tables keep of TTrees and RNTuples
//! shown · written   the types of files -> the types of nyssa · the types of nyssa -> the types of files
//! table · columns   an open table as a dataset · which columns it shows, and finds by name
//! reader · layout   an open table that also checks itself · how its values are stored
//! guard · format    errors and panics of the libraries · which format a file has
//! ```
//!
//! The libraries `parquet` and `arrow-ipc` decode and encode. This crate gives them bytes by the sources and sinks of
//! nyssa, work on all threads, and types that TTrees and RNTuples have, too. Decision 0043 says why they are used.

#![deny(missing_docs, unreachable_pub)]

mod columns;
mod format;
mod guard;
mod ipc;
mod layout;
mod metadata;
mod open;
mod output;
mod parquet;
mod reader;
mod shown;
mod table;
mod writer;
mod written;

pub use format::{ending, format_of_name, format_of_source, named, other_format_of_name};
pub use layout::{Layout, Leaf, StoredPage};
pub use open::open;
pub use output::{TableOptions, TableReport};
pub use reader::Reader;
pub use shown::{fit, may_be_null, of_root, without_nulls};
pub use writer::TableWriter;
pub use written::{Column, written_field};
