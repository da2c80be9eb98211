//! Prints a profile as tables.

use std::collections::BTreeMap;

use nyssa::profile::{MemoryUse, ProfileReport};

use crate::output::Columns;
use crate::units::{count, counted, size};

/// The largest number of columns in the table.
const COLUMNS: usize = 12;
/// The largest number of stages that are named in a line.
const STAGES: usize = 3;

/// Returns the tables of a profile, for people.
pub fn table(report: &ProfileReport) -> String {
    let mut lines = vec![summary(report)];
    lines.extend(report.memory.as_ref().map(memory));
    let parts = [
        (stages(report), report.stages.len()),
        (columns(report), report.columns.len()),
        (threads(report), report.threads.len()),
    ];
    for (part, _) in parts.into_iter().filter(|(_, rows)| *rows > 0) {
        lines.push(String::new());
        lines.extend(part.lines(None));
    }
    if report.spans_left_out > 0 {
        let spans = counted(report.spans_left_out, "span");
        lines.push(format!("{spans} are in these sums, and not in traces"));
    }
    lines.join("\n") + "\n"
}

/// Returns the times in one line.
pub(super) fn summary(report: &ProfileReport) -> String {
    let threads = report.threads.iter().map(|thread| thread.threads).sum();
    let (wall, busy) = (report.seconds, report.busy_seconds);
    format!("time: {wall:.3} s; stages: {busy:.3} s in {}", counted(threads, "thread"))
}

/// Returns the memory in one line.
pub(super) fn memory(memory: &MemoryUse) -> String {
    let at_peak = memory.at_peak.iter().map(|(stage, number)| format!("{stage} × {number}"));
    let at_peak: Vec<_> = at_peak.collect();
    let during = match at_peak.is_empty() {
        true => String::new(),
        false => format!(", during {}", at_peak.join(", ")),
    };
    let (begin, peak) = (size(memory.begin_bytes), size(memory.peak_bytes));
    format!(
        "memory: {begin} at the start, {peak} at most (at {:.3} s{during})",
        memory.peak_seconds
    )
}

fn stages(report: &ProfileReport) -> Columns {
    let mut columns =
        Columns::new(&["stage", ">seconds", ">share", ">calls", ">in", ">out", ">rate"]);
    for stage in &report.stages {
        let bytes = |bytes: u64| if bytes == 0 { String::new() } else { size(bytes) };
        columns.row([
            stage.stage.clone(),
            format!("{:.3}", stage.seconds),
            percent(stage.share),
            count(stage.calls),
            bytes(stage.bytes_in),
            bytes(stage.bytes_out),
            rate(stage.bytes_per_second),
        ]);
    }
    columns
}

/// Returns a number of bytes in a second, or nothing if it is not known.
pub(super) fn rate(rate: Option<f64>) -> String {
    rate.map_or_else(String::new, |rate| format!("{}/s", size(rate as u64)))
}

fn columns(report: &ProfileReport) -> Columns {
    let mut columns = Columns::new(&["column", ">seconds", ">share", "most in"]);
    for column in report.columns.iter().take(COLUMNS) {
        columns.row([
            column.column.clone(),
            format!("{:.3}", column.seconds),
            percent(column.share),
            most(&column.stages),
        ]);
    }
    let rest = report.columns.get(COLUMNS..).unwrap_or_default();
    if !rest.is_empty() {
        let seconds = rest.iter().map(|column| column.seconds).sum::<f64>();
        let share = rest.iter().map(|column| column.share).sum();
        let name = counted(rest.len() as u64, "other column");
        columns.row([name, format!("{seconds:.3}"), percent(share), String::new()]);
    }
    columns
}

fn threads(report: &ProfileReport) -> Columns {
    let mut columns = Columns::new(&["thread", ">threads", ">seconds", ">busy", "most in"]);
    for thread in &report.threads {
        columns.row([
            thread.thread.clone(),
            count(thread.threads),
            format!("{:.3}", thread.seconds),
            percent(thread.share),
            most(&thread.stages),
        ]);
    }
    columns
}

/// Returns the stages that took most time, with their parts of it.
pub(super) fn most(stages: &BTreeMap<&'static str, f64>) -> String {
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
