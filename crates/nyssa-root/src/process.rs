//! Measures the resources that this process uses: time, memory, bytes.

use std::path::Path;
use std::time::{Duration, Instant};

use nyssa_observe::{IoStats, Monitor, Recording, cpu_time};
use serde::Serialize;

use crate::error::{Error, Result};

/// The time and the bytes that the process used while a job wrote its output. Verification is not counted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ProcessUsage {
    /// The wall-clock time in seconds.
    pub seconds: f64,
    /// The CPU time of all threads of the process in seconds, where the system reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<f64>,
    /// The CPU time divided by (wall-clock time × number of worker threads), from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_efficiency: Option<f64>,
    /// The number of bytes that were read from files, servers and caches.
    pub read_bytes: u64,
    /// The number of megabytes (10⁶ bytes) that were read per second.
    pub read_megabytes_per_second: f64,
    /// The number of megabytes (10⁶ bytes) of the output that were written per second.
    pub write_megabytes_per_second: f64,
}

impl ProcessUsage {
    /// Returns the CPU time in seconds, or the wall-clock time where the system does not report it.
    pub fn cpu_or_wall_seconds(&self) -> f64 {
        self.cpu_seconds.unwrap_or(self.seconds)
    }
}

/// The time and the bytes that the process had used when something began.
pub struct UsageAtStart {
    at: Instant,
    cpu: Option<Duration>,
    read_bytes: u64,
}

impl UsageAtStart {
    /// Returns the time and the bytes that the process has used until now.
    pub fn now() -> Self {
        Self { at: Instant::now(), cpu: cpu_time(), read_bytes: read_bytes() }
    }

    /// Returns the usage since then of a job with `threads` threads, whose output has `written` bytes.
    pub fn usage(&self, written: u64, threads: usize) -> ProcessUsage {
        let seconds = self.at.elapsed().as_secs_f64().max(1e-9);
        let cpu = cpu_time().zip(self.cpu).map(|(now, begin)| now.saturating_sub(begin));
        let cpu_seconds = cpu.map(|cpu| cpu.as_secs_f64());
        let read_bytes = read_bytes().saturating_sub(self.read_bytes);
        let rate = |bytes: u64| bytes as f64 / 1e6 / seconds;
        ProcessUsage {
            seconds,
            cpu_seconds,
            cpu_efficiency: cpu_seconds.map(|cpu| cpu / seconds / threads as f64),
            read_bytes,
            read_megabytes_per_second: rate(read_bytes),
            write_megabytes_per_second: rate(written),
        }
    }
}

/// Returns the bytes that this process has read from all sources.
fn read_bytes() -> u64 {
    let counts = IoStats::of_process().counts();
    counts.bytes() + counts.hit_bytes()
}

/// Starts a monitor that writes to the table `path`, as [`Monitor::start`] does.
///
/// # Errors
/// `Unsupported` for a URL, and on other systems than Linux; `InvalidArgument` if the file exists and no monitor wrote
/// it; `Io` if the files cannot be written.
pub fn monitor(path: &Path, interval: Duration) -> Result<Monitor> {
    if nyssa_io::is_remote(path) {
        let why = "the files of a monitor are written to this machine";
        return Err(Error::unsupported(format!("{why}, not to {}", path.display())));
    }
    Ok(Monitor::start(&nyssa_io::local_path(path, "create")?, interval)?)
}

/// Begins to record all opens and reads of this process in the file `path`, as [`nyssa_observe::record`] does.
///
/// # Errors
/// `Unsupported` for a URL; `AlreadyExists` when another recording runs; `Io` if the file cannot be created.
pub fn record(path: &Path) -> Result<Recording> {
    Ok(nyssa_observe::record(&nyssa_io::local_path(path, "create")?)?)
}
