//! Reads streamer info, which describes each version of each class whose objects are in a file.
//!
//! A file stores it as a streamed list. [`StreamerInfos`] holds the classes that the list describes. A
//! [`StreamerList`] holds the list itself, whose entries can be copied to other files without change.

mod bootstrap;
mod clash;
mod class;
mod form;
mod infos;
pub(crate) mod known;
mod list;
mod written;

pub(crate) use clash::Clashes;
pub use class::{ClassInfo, Element};
pub use form::ElementForm;
pub(super) use form::{ANY_POINTER, ARRAY, CONTAINER, OBJECT};
pub use infos::StreamerInfos;
pub use list::StreamerList;
