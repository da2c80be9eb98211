//! Reads and writes files on a local disk.

mod buffers;
mod cached;
mod finished;
mod folder;
mod lines;
mod lock;
mod partial;
mod position;
mod scratch;
mod sink;
mod source;
mod spill;
mod update;

pub(crate) use buffers::Buffer;
pub(crate) use cached::is_cached;
pub use finished::Upload;
pub(crate) use folder::{kind, list};
pub(crate) use lines::LocalLines;
pub(crate) use lock::{Lock, lock};
pub(crate) use partial::is_at;
pub(crate) use position::{read_at, read_exact_at, write_all_at};
pub use scratch::ScratchFolder;
pub use sink::LocalSink;
pub use source::LocalSource;
pub use spill::Spill;
pub(crate) use update::LocalUpdate;
