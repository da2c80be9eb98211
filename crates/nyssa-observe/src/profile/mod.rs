//! Measures where the time and the memory of this process go, while a [`Profiler`] runs.

mod flame;
mod log;
pub(crate) mod logs;
mod memory;
mod perfetto;
mod report;
mod stages;

use std::time::{Duration, Instant};

use crate::error::Result;
use crate::time::{cpu_since, cpu_time};
use logs::RunningLogs;

pub use flame::Flame;
pub use memory::MemorySampler;
pub use report::{ColumnTime, MemoryUse, ProfileReport, StageTime, ThreadTime};

/// A profiler of this process. It runs until it is finished or dropped. Only one profiler can run at a time.
pub struct Profiler {
    logs: RunningLogs,
    sampler: Option<MemorySampler>,
    /// The CPU time of the process at the start.
    cpu: Option<Duration>,
}

impl Profiler {
    /// Starts the profiler.
    ///
    /// # Errors
    /// `Invalid` if another profiler runs.
    pub fn start() -> Result<Self> {
        let begun = Instant::now();
        let logs = RunningLogs::start(begun)?;
        Ok(Self { logs, sampler: MemorySampler::start(begun), cpu: cpu_time() })
    }

    /// Ends the profiler, and returns its measurements. The result does not include work that still runs in other
    /// threads.
    pub fn finish(self) -> ProfileReport {
        let cpu_seconds = cpu_since(self.cpu).map(|cpu| cpu.as_secs_f64());
        let (passed, logs) = self.logs.finish();
        let samples = self.sampler.map(MemorySampler::finish).unwrap_or_default();
        ProfileReport { cpu_seconds, ..ProfileReport::new(passed, logs, &samples) }
    }
}
