//! Defines the events of a process, which are the lines of a recording.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The version of the format.
pub const VERSION: u32 = 1;

/// The offset and length of a range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair(pub u64, pub u64);

impl Pair {
    /// Returns the range.
    pub fn range(self) -> Range<u64> {
        self.0..self.0.saturating_add(self.1)
    }
}

impl From<&Range<u64>> for Pair {
    fn from(range: &Range<u64>) -> Self {
        Self(range.start, range.end.saturating_sub(range.start))
    }
}

/// The common members of requests for one range and of requests for several ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestFacts {
    /// The number of the file.
    pub file: u64,
    /// The plan that the request is made for, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<u64>,
    /// The time when it began.
    pub start: f64,
    /// The time when it ended.
    pub end: f64,
    /// The thread that made the request.
    pub thread: u64,
    /// The reason why the request failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// An event, and its line in a recording. Times are seconds since the recording began. Sizes and offsets are bytes.
/// Files, plans and threads have numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Event {
    /// The first line.
    Trace {
        /// The version of the format.
        version: u32,
        /// The version of nyssa.
        nyssa: String,
        /// The time when the recording began, in UTC.
        time: String,
        /// The number of the process.
        process: u32,
    },
    /// A resource was opened. A resource that was opened before the recording began has its line when it is
    /// first used; then start and end are equal.
    Open {
        /// The number of the file.
        file: u64,
        /// The path or URL.
        name: String,
        /// The size of the resource.
        size: u64,
        /// The ranges whose bytes came with the requests that opened it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        known: Vec<Pair>,
        /// The time when it began.
        start: f64,
        /// The time when it ended.
        end: f64,
        /// The thread that waited.
        thread: u64,
    },
    /// A request for one range.
    Read {
        /// The first byte.
        offset: u64,
        /// The number of bytes.
        length: u64,
        /// The file, the thread and the times.
        #[serde(flatten)]
        facts: RequestFacts,
    },
    /// A request for several ranges.
    Readv {
        /// The offsets and lengths.
        ranges: Vec<Pair>,
        /// The file, the thread and the times.
        #[serde(flatten)]
        facts: RequestFacts,
    },
    /// A plan, whose units of work are fetched from now on.
    Plan {
        /// The number of the plan.
        plan: u64,
        /// The number of the file.
        file: u64,
        /// The ranges that each unit needs.
        units: Vec<Vec<Pair>>,
        /// The largest number of bytes that are fetched and not yet decoded.
        ahead: u64,
        /// The time when it began.
        start: f64,
        /// The thread that began it.
        thread: u64,
    },
    /// A thread waited for a unit, and used it.
    Wait {
        /// The number of the plan.
        plan: u64,
        /// The number of the unit in the plan.
        unit: usize,
        /// The time when the thread requested it.
        start: f64,
        /// The time when the thread got it.
        end: f64,
        /// The time when its bytes were no longer needed.
        released: f64,
        /// The thread that waited.
        thread: u64,
    },
    /// A resource was closed.
    Close {
        /// The number of the file.
        file: u64,
        /// The time when it began.
        start: f64,
        /// The time when it ended.
        end: f64,
        /// The thread that closed it.
        thread: u64,
    },
    /// A stage of the work ended, while a profiler ran.
    Stage {
        /// The name of the stage.
        stage: Cow<'static, str>,
        /// The path of the field or branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        column: Option<String>,
        /// The number of bytes that the stage got.
        bytes_in: u64,
        /// The number of bytes that the stage made.
        bytes_out: u64,
        /// The time when it began.
        start: f64,
        /// The time when it ended.
        end: f64,
        /// The thread that did the work.
        thread: u64,
    },
    /// The resident memory of the process, while a profiler ran.
    Memory {
        /// The time of the measurement.
        at: f64,
        /// The number of bytes.
        bytes: u64,
    },
    /// A row of the monitor: what the process and its children have used.
    Usage {
        /// The time of the measurement.
        at: f64,
        /// The values by prmon's names, in prmon's units.
        values: BTreeMap<Cow<'static, str>, f64>,
    },
    /// The recording ended. It is the last line, unless the process was killed.
    End {
        /// The time when it ended.
        end: f64,
        /// The CPU time of the process since the recording began, in seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cpu: Option<f64>,
    },
}

/// A request for one or several ranges.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The number of the file.
    pub file: u64,
    /// The plan that the request is made for, if there is one.
    pub plan: Option<u64>,
    /// The offsets and lengths.
    pub ranges: Vec<Pair>,
    /// Whether the request can have several ranges.
    pub is_vector: bool,
    /// The time when it began.
    pub start: f64,
    /// The time when it ended.
    pub end: f64,
    /// Whether it failed.
    pub has_failed: bool,
}

impl Request {
    /// Returns the number of bytes of all ranges.
    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|pair| pair.1).sum()
    }
}

impl Event {
    /// Returns the event as a request, if it is one.
    pub fn request(&self) -> Option<Request> {
        let (facts, ranges, is_vector) = match self {
            Self::Read { offset, length, facts } => (facts, vec![Pair(*offset, *length)], false),
            Self::Readv { ranges, facts } => (facts, ranges.clone(), true),
            _ => return None,
        };
        let RequestFacts { file, plan, start, end, ref error, .. } = *facts;
        Some(Request { file, plan, ranges, is_vector, start, end, has_failed: error.is_some() })
    }

    /// Returns the name of the resource that was opened.
    pub fn opened(&self) -> Option<&str> {
        match self {
            Self::Open { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Returns the thread and the begin and end of the event, if it has them.
    pub fn span(&self) -> Option<(u64, f64, f64)> {
        match *self {
            Self::Trace { .. } | Self::Memory { .. } | Self::Usage { .. } | Self::End { .. } => {
                None
            }
            Self::Open { start, end, thread, .. }
            | Self::Read { facts: RequestFacts { start, end, thread, .. }, .. }
            | Self::Readv { facts: RequestFacts { start, end, thread, .. }, .. }
            | Self::Wait { start, end, thread, .. }
            | Self::Stage { start, end, thread, .. }
            | Self::Close { start, end, thread, .. } => Some((thread, start, end)),
            Self::Plan { start, thread, .. } => Some((thread, start, start)),
        }
    }
}

/// Reads the lines of a trace. The last line may be incomplete, where the process was killed.
///
/// # Errors
/// The reason, with the number of the line.
pub fn parse_events(text: &str) -> Result<Vec<Event>, String> {
    let mut events = Vec::new();
    let lines = text.lines().count();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(event) => events.push(event),
            Err(_) if number > 0 && number + 1 == lines && !text.ends_with('\n') => {}
            Err(error) => {
                return Err(format!("line {} is not a line of a trace: {error}", number + 1));
            }
        }
    }
    match events.first() {
        Some(Event::Trace { version: VERSION, .. }) => Ok(events),
        Some(Event::Trace { version, .. }) => Err(format!(
            "it is a trace of version {version}, and this nyssa reads version {VERSION}"
        )),
        _ => {
            Err("its first line has no \"op\": \"trace\", as the first line of a trace has"
                .to_owned())
        }
    }
}
