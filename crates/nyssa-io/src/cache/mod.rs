//! Keeps bytes of remote resources in a folder near the reader.
//!
//! ```text
//! nyssa-cache.json        says that the folder is a cache, and its format
//! seen/                   which version of a URL its server had, and when it said so: a small file for each URL
//! lock                    is locked by the process that removes what was not used for long
//! 0123...cdef/            one folder for each resource: its URL, size and version give the name
//!     about.json          the URL, size and version; the time of its last change is the time of the last use
//!     index               records of 64 bytes with checksums, each of which points into the data file
//!     data                bytes of the resource, one after the other
//! ```
//!
//! Processes and threads share a folder without a server: they only add to files, under short locks, and
//! readers need no lock. Every byte that is read is checked by the XXH3 of its block. Damaged bytes are fetched
//! from the resource again. Decision 0019 says why these are plain files.
//!
//! This module knows bytes at an offset, and the unpacked form of the bytes at an offset. It does not know what a page
//! or a basket is.

mod blocks;
mod choice;
mod entry;
mod folder;
mod identity;
mod index;
mod limit;
mod origin;
mod pages;
mod record;
mod report;
mod seen;
mod source;
mod trusted;
mod unpacked;

pub use choice::{CacheChoice, folder_of_environment, parse_age, parse_limit, set_process_cache};
pub use folder::{Cache, CacheOptions};
pub use record::Form;
pub use report::{CacheReport, CachedResource, VerifiedResource};
pub use unpacked::{Unpacked, UnpackedPage};
