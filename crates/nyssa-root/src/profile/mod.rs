//! Measures where the time and the memory of this process go, while a [`Profiler`] runs.
//!
//! The stages of the work are spans of the crate `tracing`, each in one place of the code. A span is a page, a basket
//! or a column, and never an entry. While no profiler runs, a span costs the load of one number (decision 0022).

mod flame;
mod log;
pub mod memory;
mod perfetto;
mod recorder;
mod report;
mod speedscope;
mod stage;

use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use memory::Sampler;
use recorder::Recording;

pub use flame::Flame;
pub use report::{ColumnTime, MemoryUse, ProfileReport, StageTime, ThreadTime};

/// A profiler of this process. It runs until it is finished or dropped. Only one profiler can run at a time.
pub struct Profiler {
    recording: Recording,
    sampler: Option<Sampler>,
    /// The CPU time of the process at the start.
    cpu: Option<Duration>,
}

impl Profiler {
    /// Starts the profiler.
    ///
    /// # Errors
    /// `InvalidArgument` if another profiler runs; `Unsupported` if the program has a subscriber of `tracing` of
    /// its own.
    pub fn start() -> Result<Self> {
        let begun = Instant::now();
        let recording = Recording::start(begun)?;
        Ok(Self { recording, sampler: Sampler::start(begun), cpu: nyssa_io::cpu_time() })
    }

    /// Ends the profiler, and returns its measurements. The result does not include work that still runs in other
    /// threads.
    pub fn finish(self) -> ProfileReport {
        let cpu = nyssa_io::cpu_time().zip(self.cpu).map(|(now, begin)| now.saturating_sub(begin));
        let (passed, logs) = self.recording.finish();
        let samples = self.sampler.map(Sampler::finish).unwrap_or_default();
        let cpu_seconds = cpu.map(|cpu| cpu.as_secs_f64());
        ProfileReport { cpu_seconds, ..ProfileReport::new(passed, logs, &samples) }
    }
}

/// Returns a time as a number of nanoseconds.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns a number of nanoseconds in seconds.
fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

fn runs_already() -> Error {
    Error::invalid_argument("a profiler runs already in this process; there can be one at a time")
}
