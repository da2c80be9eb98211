//! Files on a local disk.

mod position;
mod sink;
mod source;

pub use sink::LocalSink;
pub use source::LocalSource;
