//! Contains a kit of tests for sources: the tests that every new source must pass, a source that is slow, and one
//! that records its requests.
//!
//! The functions panic if a source does not do what [`Source`](crate::Source) promises.

mod conformance;
mod recording;
mod served;
mod slow;
mod version;
mod web;

pub use conformance::{check_closed, check_source, content};
pub use recording::{Counters, RecordingSource};
pub(crate) use served::{SCHEME, Served};
pub use served::{serve, times_opened};
pub use slow::{Observed, SlowSource};
pub use version::WithVersion;
pub use web::{WebAnswer, WebRequest, WebServer, impatient};
