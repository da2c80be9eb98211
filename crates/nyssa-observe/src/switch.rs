//! The switch says what is observed in this process: reads, stages or nothing.

use std::sync::atomic::{AtomicU64, Ordering};

/// The first bit says whether events are recorded. The others are the number of the running profile.
static SWITCH: AtomicU64 = AtomicU64::new(0);
const RECORDS: u64 = 1;

/// Returns whether events are recorded.
#[inline]
pub(crate) fn records() -> bool {
    SWITCH.load(Ordering::Relaxed) & RECORDS != 0
}

/// Returns the number of the running profile, or 0.
#[inline]
pub(crate) fn profile() -> u64 {
    SWITCH.load(Ordering::Relaxed) >> 1
}

/// Begins or ends the recording of events.
pub(crate) fn set_records(on: bool) {
    set(|switch| switch & !RECORDS | u64::from(on));
}

/// Begins the profile with this number, or ends it (0).
pub(crate) fn set_profile(number: u64) {
    set(|switch| switch & RECORDS | number << 1);
}

fn set(change: impl Fn(u64) -> u64) {
    let _ = SWITCH.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |on| Some(change(on)));
}
