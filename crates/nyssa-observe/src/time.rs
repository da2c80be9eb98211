//! Tells the CPU time of this process, and converts times.

use std::time::Duration;

/// Returns the CPU time of all threads of this process. `None` where the system does not tell it.
#[cfg(unix)]
pub fn cpu_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
}

/// Returns the CPU time of all threads of this process. `None` where the system does not tell it.
#[cfg(not(unix))]
pub fn cpu_time() -> Option<Duration> {
    None
}

/// Returns the CPU time since the process had used `begin`.
pub(crate) fn cpu_since(begin: Option<Duration>) -> Option<Duration> {
    cpu_time().zip(begin).map(|(now, begin)| now.saturating_sub(begin))
}

/// Returns a time as a number of nanoseconds.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns a number of nanoseconds in seconds.
pub(crate) fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}
