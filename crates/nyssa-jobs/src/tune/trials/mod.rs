//! Finds the options that store a dataset best, by writing a sample of it with many options.
//!
//! ```text
//! clusters ─sample─► ranges of entries ─┬─ trial: write, read back ─► bytes, times, memory
//!                                       └─ one for each candidate
//! codec × encoding ─► cluster size ─► page size ─► the best on a larger sample ─► expected for the whole file
//! ```
//!
//! A trial runs [`crate::convert`] or [`crate::rewrite`] itself, so that it measures what users get. The job chooses
//! how columns are stored.

mod baskets;
mod budget;
mod cached;
mod candidate;
mod copies;
mod expect;
mod growth;
mod measured;
mod memory;
mod options;
mod pages;
mod reading;
mod reason;
mod report;
mod sample;
mod score;
mod search;
mod trial;
mod tried;

pub use baskets::{BasketReport, LargerBaskets};
pub use candidate::{Candidate, StreamerFields};
pub use expect::Expected;
pub use nyssa_root::effort::CompressionChoice;
pub use options::{DEFAULT_BUDGET, Link, Objective, TuneOptions};
pub use report::{Curve, CurvePoint, Reason, TriedCandidate, TuneReport, TunedSample};
pub use search::tune;
