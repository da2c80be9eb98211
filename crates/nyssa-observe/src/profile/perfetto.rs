//! Writes a profile as trace events, which Perfetto and `chrome://tracing` show (Trace Event Format).

use serde::{Serialize, Serializer};
use serde_json::json;

use super::log::{Log, Run};
use super::report::ProfileReport;
use crate::error::{Error, Result};

/// The number of nanoseconds of a unit of time.
const UNIT: f64 = 1e3;
/// The number of bytes of a unit of the memory.
const MEGABYTE: f64 = 1e6;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    display_time_unit: &'static str,
    other_data: serde_json::Value,
    trace_events: TraceEvents<'a>,
}

/// All events, made while they are written.
struct TraceEvents<'a>(&'a ProfileReport);

/// A stage of a thread ("complete event").
#[derive(Serialize)]
struct Complete<'a> {
    ph: &'static str,
    name: &'static str,
    cat: &'static str,
    ts: f64,
    dur: f64,
    pid: u32,
    tid: usize,
    args: Arguments<'a>,
}

#[derive(Serialize)]
struct Arguments<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<&'a str>,
    #[serde(skip_serializing_if = "is_zero")]
    bytes_in: u64,
    #[serde(skip_serializing_if = "is_zero")]
    bytes_out: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl ProfileReport {
    /// Returns the trace events as JSON: a track for each thread, and the memory over time.
    ///
    /// # Errors
    /// `Limit` if there is no memory for the text.
    pub fn to_perfetto(&self) -> Result<String> {
        let document = Document {
            display_time_unit: "ms",
            other_data: json!({ "spans_left_out": self.spans_left_out }),
            trace_events: TraceEvents(self),
        };
        serde_json::to_string(&document).map_err(|error| Error::Limit {
            what: "the trace events have no JSON form",
            source: error.into(),
        })
    }
}

impl Serialize for TraceEvents<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let process = std::process::id();
        let names = self.0.logs.iter().enumerate().map(|(thread, log)| {
            let args = json!({ "name": log.thread });
            Line::Other(json!({ "ph": "M", "name": "thread_name", "pid": process, "tid": thread + 1, "args": args }))
        });
        let memory = self.0.memory.iter().flat_map(|memory| &memory.samples);
        let memory = memory.map(|&(at, bytes)| {
            let args = json!({ "MB": bytes as f64 / MEGABYTE });
            Line::Other(json!({ "ph": "C", "name": "memory", "ts": at * 1e6, "pid": process, "tid": 0, "args": args }))
        });
        let spans = self.0.logs.iter().enumerate().flat_map(|(thread, log)| {
            let line = move |run| complete(log, run, process, thread + 1).map(Line::Complete);
            log.runs.iter().filter_map(line)
        });
        serializer.collect_seq(names.chain(memory).chain(spans))
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Line<'a> {
    Complete(Complete<'a>),
    Other(serde_json::Value),
}

fn complete<'a>(log: &'a Log, run: &Run, pid: u32, tid: usize) -> Option<Complete<'a>> {
    let node = log.nodes.get(run.node)?;
    let (ts, dur) = (run.start as f64 / UNIT, (run.end - run.start) as f64 / UNIT);
    let Run { bytes_in, bytes_out, .. } = *run;
    let args = Arguments { column: log.column_of(node), bytes_in, bytes_out };
    Some(Complete { ph: "X", name: node.stage, cat: "nyssa", ts, dur, pid, tid, args })
}
