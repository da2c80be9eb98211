//! Writes a profile as trace events, which Perfetto and `chrome://tracing` show (Trace Event Format).

use std::num::NonZero;

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use serde_json::json;

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
    #[serde(serialize_with = "trace_events")]
    trace_events: &'a ProfileReport,
}

/// A stage of a thread ("complete event").
#[derive(Serialize)]
struct Complete<'a> {
    ph: &'static str,
    name: &'static str,
    cat: &'static str,
    ts: f64,
    dur: f64,
    pid: u32,
    tid: u32,
    args: Arguments<'a>,
}

#[derive(Serialize)]
struct Arguments<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_in: Option<NonZero<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_out: Option<NonZero<u64>>,
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
            trace_events: self,
        };
        serde_json::to_string(&document).map_err(|error| Error::Limit {
            what: "the trace events have no JSON form",
            source: error.into(),
        })
    }
}

/// Writes all events, made while they are written.
fn trace_events<S: Serializer>(
    report: &ProfileReport,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let pid = std::process::id();
    let mut events = serializer.serialize_seq(None)?;
    for (log, tid) in report.logs.iter().zip(1..) {
        let args = json!({ "name": log.thread });
        let name =
            json!({ "ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": args });
        events.serialize_element(&name)?;
    }
    for &(at, bytes) in report.memory.iter().flat_map(|memory| &memory.samples) {
        let args = json!({ "MB": bytes as f64 / MEGABYTE });
        let memory = json!({ "ph": "C", "name": "memory", "ts": at * 1e6, "pid": pid, "tid": 0, "args": args });
        events.serialize_element(&memory)?;
    }
    for (log, tid) in report.logs.iter().zip(1..) {
        for run in &log.runs {
            let Some(node) = log.nodes.get(run.node) else { continue };
            let [bytes_in, bytes_out] = [run.bytes_in, run.bytes_out].map(NonZero::new);
            let args = Arguments { column: log.column_of(node), bytes_in, bytes_out };
            let (ts, dur) = (run.start as f64 / UNIT, (run.end - run.start) as f64 / UNIT);
            let (ph, name, cat) = ("X", node.stage, "nyssa");
            events.serialize_element(&Complete { ph, name, cat, ts, dur, pid, tid, args })?;
        }
    }
    events.end()
}
