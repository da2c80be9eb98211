//! Counts and records what is opened and read.

mod counts;
mod file;
mod plan;
mod stats;

pub use counts::IoCounts;
pub use file::ObservedFile;
pub use plan::{RecordedPlan, RecordedWait};
pub use stats::{IoStats, Opened};
