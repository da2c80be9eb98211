//! Counts what is opened and read.

mod counts;
mod stats;

pub use counts::IoCounts;
pub use stats::{IoStats, Opened};
