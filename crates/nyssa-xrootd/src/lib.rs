//! Reads and writes files on XRootD servers: `root://`, and with TLS `roots://`.
//!
//! This is a client of the protocol in threads, without XRootD's own library. All functions block.
//!
//! ```no_run
//! use nyssa_xrootd::{Reader, Stop, XrootdOptions};
//!
//! # fn main() -> std::io::Result<()> {
//! let url = "root://eospublic.cern.ch//eos/opendata/file.root";
//! let file = Reader::open(url, &XrootdOptions::default(), &Stop::default())?;
//! let size = file.stat().size;
//! // These are two ranges in one request.
//! let bytes = file.read(&[0..100, size - 100..size], &Stop::default())?;
//! # let _ = bytes;
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! reader, writer    a file that is read, and a file that is written
//! folder            the kind of a path, and the entries of a folder
//! streams           the connections over which one remote file is read
//! upload, temporary an open file that is written, under another name
//! part              ranges <-> requests and answers (no I/O)
//! file              an open file; found again when its server is lost
//! client            requests about paths: redirects, waits, other replicas
//! pool              the connections of this process
//! connection, auth  one socket: login, writer, the thread that reads
//! wire, url         bytes and text of the protocol (no I/O)
//! ```
//!
//! One connection serves all files on a server. Files with a high latency get a few more connections. Requests of all threads
//! are sent on a connection at the same time, and answers come in any order. Requests that were in flight when
//! a connection was lost are sent again on another one. After `fork`, a child has connections of its own.

#![deny(missing_docs, unreachable_pub)]

mod auth;
mod client;
mod connection;
mod deadline;
mod failure;
mod file;
mod folder;
mod pool;
mod read_plan;
mod reader;
mod settings;
mod streams;
mod temporary;
#[cfg(feature = "testing")]
pub mod testing;
mod upload;
mod url;
pub mod wire;
mod writer;

pub use failure::NoLogin;
pub use folder::{list, stat};
pub use nyssa_net::{Cost, Stop};
pub use read_plan::READ_BYTES;
pub use reader::{CONCURRENCY, Reader};
pub use settings::XrootdOptions;
pub use temporary::TemporaryFile;
pub use writer::Writer;
