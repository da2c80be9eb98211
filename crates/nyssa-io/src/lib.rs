//! Reads byte ranges and writes bytes.
//!
//! [`open`], [`create`], [`stage`] and [`update`] take a path or URL and return a [`Source`], which answers
//! vectored reads, or a [`Sink`], which takes bytes at offsets. [`kind`] returns the kind of a location, and
//! [`list`] the entries of a folder. The [fetcher](fetch) makes requests to a source from the plan of a read.
//! Nothing here knows what a page or a basket is. All functions block; decision 0013 says why there is no async
//! runtime.

#![deny(missing_docs, unreachable_pub)]

mod access;
mod bridge;
mod built_in;
pub mod cache;
mod counted;
mod earlier;
mod entry;
mod error;
pub mod fetch;
mod for_people;
mod heuristics;
mod http;
mod known;
mod limits;
mod local;
mod located;
mod location;
mod memory;
mod named;
mod open_options;
mod protocol;
mod protocols;
mod s3;
mod sink;
mod sizes;
mod source;
mod staging;
#[cfg(feature = "testing")]
pub mod testing;
pub mod trace;
mod warning;
mod write_buffer;
mod xrootd;

pub use access::{
    Lines, Update, create, exists, identity, is_same, kind, lines, list, make_folder, open,
    open_with, read, stage, update, write,
};
pub use bridge::{Bridge, set_bridge};
pub use counted::open_by;
pub use entry::{EntryKind, FolderEntry};
pub use error::{Error, Result};
pub use for_people::{printable, printable_lines, printable_message, shown, without_secrets};
pub use http::HttpOptions;
pub use limits::{Limits, NETWORK_OVER_READ};
pub use local::{LocalSink, LocalSource, ScratchFolder, Spill, Upload};
pub use location::{
    absolute, file_name, is_remote, is_url, local as local_path, query_digest,
    question_mark_begins_query, scheme_without_slashes,
};
pub use memory::{MemoryHandle, MemorySink, MemorySource};
pub use named::{NamedFile, OtherFilesAllowed};
pub use nyssa_net::{Cost, Stop, StopOfProcess};
pub use nyssa_observe::{IoCounts, IoStats};
pub use nyssa_xrootd::XrootdOptions;
pub use open_options::OpenOptions;
pub use sink::{Sink, WriteAt};
pub use sizes::parse_size;
pub use source::{Source, check_range, closed};
pub use staging::Staging;
pub use warning::warn;
