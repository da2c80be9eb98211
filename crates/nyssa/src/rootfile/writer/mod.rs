//! Writing ROOT files: objects in directories, and keys that no directory lists.
//!
//! ```text
//! header, TFile record          written last: they say where everything else is
//! unlisted keys                 what is known by its position: the blobs of RNTuples
//! TDirectory records            one per subdirectory, at its first use
//! object keys                   one per object
//! key lists, streamer info, free segments      the tail, by `finish`
//! ```
//!
//! An existing file gets more in place: see `update`.
//!
//! All keys hold 64-bit positions (key version 1004), so nothing depends on where a file ends up
//! relative to 2 GiB; header, directory records and free segments choose the small form below it.

mod buffered;
mod datime;
mod directory;
mod existing;
mod file;
mod header;
mod key;
mod options;
mod patch;
mod stored;
mod update;

pub use file::RootFileWriter;
pub use options::Options;
