//! Files on a local disk.

mod buffers;
mod cached;
mod finished;
mod folder;
mod lock;
mod partial;
mod position;
mod sink;
mod source;
mod spill;
mod update;

pub use finished::Upload;
pub use folder::{kind, list};
pub use sink::LocalSink;
pub use source::LocalSource;
pub use spill::Spill;
pub use update::LocalUpdate;
