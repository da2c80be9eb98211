//! Arrow IPC files and streams.

mod blocks;
pub(crate) mod read;
pub(crate) mod write;
