//! Reads and writes the ROOT file container: header, keys, directories, free segments.
//!
//! ```text
//! byte 0      "root", version, where everything is          header
//! fBEGIN      key of the file itself, name, title, then the top directory record
//! ...         records: a key header and, nearly always compressed, an object
//! fSeekKeys   key list of a directory                       directory
//! fSeekInfo   list of streamer infos, which `streamer` reads
//! fSeekFree   list of free segments                         free_segments
//! fEND
//! ```
//!
//! All numbers are big-endian. Positions are 32-bit, or 64-bit where a record's version requires it:
//! file version ≥ 1,000,000; key, directory and free segment version > 1000.

mod check;
mod directory;
pub mod encode;
mod file;
mod free_segments;
mod header;
mod key;
mod lookup;
mod name;
mod scan;
pub mod writer;

pub use check::Unlisted;
pub use directory::Directory;
pub(crate) use file::Record;
pub use file::RootFile;
pub use free_segments::FreeSegment;
pub use header::Header;
pub use key::KeyEntry;
pub use name::{check_new_text, join, name_of, part_of, split};
