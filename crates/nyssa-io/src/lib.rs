//! Byte ranges in, bytes out.
//!
//! A [`Source`] answers vectored reads; a [`Sink`] takes bytes at offsets. Nothing here knows what a
//! page or a basket is. The face is blocking; a runtime, where one is needed, hides inside.

mod coalesce;
mod error;
mod local;
mod memory;
mod recording;
mod sink;
mod source;

pub use coalesce::{Merged, coalesce};
pub use error::{Error, Result};
pub use local::{LocalSink, LocalSource, LocalUpdate, Spill, Staging};
pub use memory::{MemoryHandle, MemorySink, MemorySource};
pub use recording::{Counters, RecordingSource};
pub use sink::Sink;
pub use source::{Limits, Source};
