//! Writing ROOT files: blobs in keys of their own, objects in directories.
//!
//! ```text
//! header, TFile record          written last: they say where everything else is
//! RBlob keys                    header, pages, page lists, footer of RNTuples; in no key list
//! TDirectory records            one per subdirectory, at its first use
//! object keys                   RNTuple anchors
//! key lists, streamer info, free segments      the tail, by `finish`
//! ```
//!
//! An existing file gets more in place: see `update`.
//!
//! All keys hold 64-bit positions (key version 1004), so nothing depends on where a file ends up
//! relative to 2 GiB; header, directory records and free segments choose the small form below it.

mod blob;
mod buffered;
mod datime;
mod directory;
mod file;
mod header;
mod key;
mod options;
mod patch;
mod stored;
mod streamer_info;
mod update;

pub use file::RootFileWriter;
pub use options::Options;
