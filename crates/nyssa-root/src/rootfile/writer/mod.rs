//! Writes ROOT files: objects in directories, and keys that no directory lists.
//!
//! ```text
//! header, TFile record          written last: they say where everything else is
//! unlisted keys                 the blobs of RNTuples, which are known by their positions
//! TDirectory records            one per subdirectory, at its first use
//! object keys                   one per object
//! key lists, streamer info, free segments      the tail, by `finish`
//! ```
//!
//! `update` and `commit` add to an existing file in place.
//!
//! New keys hold 64-bit positions (key version 1004), both above and below 2 GiB. The header, the directory records
//! and the free segments use the small form in files below 2 GB.

mod basket;
mod behind;
mod buffered;
mod commit;
mod datime;
mod delete;
mod directory;
mod existing;
mod file;
mod header;
mod key;
mod options;
mod patch;
mod stored;
mod unwritten;
mod update;

pub use basket::{StoredBasket, without_process_offset};
pub(crate) use delete::Cycles;
pub use file::RootFileWriter;
pub use options::FileOptions;
pub use unwritten::Unwritten;
