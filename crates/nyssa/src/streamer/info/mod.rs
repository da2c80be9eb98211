//! Streamer info: what every class in a file looks like, in each version that the file holds.
//!
//! A file keeps it as a streamed list. [`StreamerInfos`] is what the list says; a [`StreamerList`] is the
//! list itself, whose entries go into other files unchanged.

mod bootstrap;
mod class;
mod form;
mod infos;
pub(crate) mod known;
mod list;
mod written;

pub use class::{ClassInfo, Element};
pub(crate) use form::Form;
pub use infos::StreamerInfos;
pub use list::StreamerList;
