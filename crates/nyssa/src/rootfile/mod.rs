//! The ROOT file container: header, keys, directories, free segments, streamer info, objects.
//!
//! ```text
//! byte 0      "root", version, where everything is          header
//! fBEGIN      key of the file itself, name, title, then the top directory record
//! ...         records: a key header and, nearly always compressed, an object
//! fSeekKeys   key list of a directory                       directory
//! fSeekInfo   list of streamer infos                        streamer_info
//! fSeekFree   list of free segments                         free_segments
//! fEND
//! ```
//!
//! All numbers are big-endian. Positions are 32-bit, or 64-bit where a record's version says so:
//! file version ≥ 1,000,000; key, directory and free segment version > 1000.

mod carry;
mod directory;
mod encode;
mod file;
mod free_segments;
mod header;
mod key;
pub(crate) mod known;
mod lookup;
pub mod object;
mod scan;
mod streamer_info;
mod streamer_list;
pub mod writer;

pub use carry::{Carry, Refused};
pub use directory::Directory;
pub use file::RootFile;
pub use free_segments::FreeSegment;
pub use header::Header;
pub use key::KeyEntry;
pub use object::{Object, View};
pub use scan::NOT_CLOSED;
pub use streamer_info::{ClassInfo, Element, StreamerInfos};
pub use streamer_list::StreamerList;
