//! Tells the CPU time of this process.

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
