//! Prints a profile as tables.

use nyssa_observe::{MemoryUse, ProfileReport};

use super::cells::{self, percent};
use crate::output::Columns;
use crate::units::{counted, size};

/// The largest number of columns in the table.
const COLUMNS: usize = 12;

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
    let cpu = report.cpu_seconds.map_or(String::new(), |cpu| format!("CPU: {cpu:.3} s; "));
    format!("time: {wall:.3} s; {cpu}stages: {busy:.3} s in {}", counted(threads, "thread"))
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
    report.stages.iter().for_each(|stage| columns.row(cells::of_stage(stage)));
    columns
}

fn columns(report: &ProfileReport) -> Columns {
    let mut columns = Columns::new(&["column", ">seconds", ">share", "most in"]);
    let named = report.columns.iter().take(COLUMNS);
    named.for_each(|column| columns.row(cells::of_column(column)));
    let rest = report.columns.get(COLUMNS..).unwrap_or_default();
    if !rest.is_empty() {
        let seconds = rest.iter().map(|column| column.seconds).sum();
        let share = rest.iter().map(|column| column.share).sum();
        let name = counted(rest.len() as u64, "other column");
        columns.row([name, cells::seconds(seconds), percent(share), String::new()]);
    }
    columns
}

fn threads(report: &ProfileReport) -> Columns {
    let mut columns = Columns::new(&["thread", ">threads", ">seconds", ">busy", "most in"]);
    report.threads.iter().for_each(|thread| columns.row(cells::of_thread(thread)));
    columns
}
