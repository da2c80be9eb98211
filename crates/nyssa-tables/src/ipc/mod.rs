//! Arrow IPC files and streams.

mod blocks;
mod buffers;
mod layout;
pub(crate) mod read;
mod values;
mod verify;
pub(crate) mod write;
