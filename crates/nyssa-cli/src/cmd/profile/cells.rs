//! Makes the cells of the rows of a profile, for the tables and for the page.

use std::collections::BTreeMap;

use nyssa_observe::{ColumnTime, StageTime, ThreadTime};

use crate::units::{count, size};

/// The largest number of stages that are named in a cell.
const STAGES: usize = 3;

/// Returns stage, seconds, share, calls, bytes in and out, and rate.
pub(super) fn of_stage(stage: &StageTime) -> [String; 7] {
    let bytes = |bytes: u64| if bytes == 0 { String::new() } else { size(bytes) };
    let rate = |rate: f64| format!("{}/s", size(rate as u64));
    [
        stage.stage.clone(),
        seconds(stage.seconds),
        percent(stage.share),
        count(stage.calls),
        bytes(stage.bytes_in),
        bytes(stage.bytes_out),
        stage.bytes_per_second.map_or_else(String::new, rate),
    ]
}

/// Returns column, seconds, share, and the stages that took most.
pub(super) fn of_column(column: &ColumnTime) -> [String; 4] {
    [column.column.clone(), seconds(column.seconds), percent(column.share), most(&column.stages)]
}

/// Returns thread, number of threads, seconds, share, and the stages that took most.
pub(super) fn of_thread(thread: &ThreadTime) -> [String; 5] {
    [
        thread.thread.clone(),
        count(thread.threads),
        seconds(thread.seconds),
        percent(thread.share),
        most(&thread.stages),
    ]
}

/// Returns seconds such as `0.123`.
pub(super) fn seconds(seconds: f64) -> String {
    format!("{seconds:.3}")
}

/// Returns the stages that took most time, with their parts of it.
fn most(stages: &BTreeMap<&'static str, f64>) -> String {
    let total: f64 = stages.values().sum();
    let mut stages: Vec<_> = stages.iter().filter(|(_, seconds)| **seconds > 0.0).collect();
    stages.sort_by(|a, b| b.1.total_cmp(a.1));
    let named = stages.iter().take(STAGES);
    let named = named.map(|(stage, seconds)| format!("{stage} {}", percent(*seconds / total)));
    named.collect::<Vec<_>>().join(", ")
}

/// Returns a part such as `12.3%`.
pub(super) fn percent(part: f64) -> String {
    format!("{:.1}%", 100.0 * part)
}
