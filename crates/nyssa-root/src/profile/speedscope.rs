//! Writes a profile in the file format of speedscope (<https://www.speedscope.app>), a viewer of flame graphs.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::Serialize;

use super::log::{Event, Log};
use super::nanoseconds;
use super::report::ProfileReport;
use crate::error::{Error, Result};

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: &'static str,
    active_profile_index: usize,
    shared: Shared,
    profiles: Vec<Thread>,
}

#[derive(Serialize)]
struct Shared {
    frames: Vec<Frame>,
}

#[derive(Serialize)]
struct Frame {
    name: String,
}

/// The spans of one thread ("evented profile").
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Thread {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    events: Vec<Turn>,
}

/// The begin (`O`) or end (`C`) of a span.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Turn {
    #[serde(rename = "type")]
    kind: char,
    frame: usize,
    at: u64,
}

/// The names of spans, each with its number.
#[derive(Default)]
struct Frames {
    frames: Vec<Frame>,
    by_name: HashMap<String, usize>,
}

impl Frames {
    fn number(&mut self, name: String) -> usize {
        if let Some(&number) = self.by_name.get(&name) {
            return number;
        }
        self.frames.push(Frame { name: name.clone() });
        self.by_name.insert(name, self.frames.len() - 1);
        self.frames.len() - 1
    }
}

impl ProfileReport {
    /// Returns the spans of each thread as JSON in the format of speedscope.
    ///
    /// # Errors
    /// `LimitExceeded` if there is no memory for the text.
    pub fn to_speedscope(&self) -> Result<String> {
        let end_value = nanoseconds(std::time::Duration::from_secs_f64(self.seconds));
        let mut frames = Frames::default();
        let profiles = self.logs.iter().map(|log| Thread {
            kind: "evented",
            name: log.thread.clone(),
            unit: "nanoseconds",
            start_value: 0,
            end_value,
            events: turns(log, &mut frames),
        });
        let profiles = profiles.collect();
        let document = Document {
            schema: SCHEMA,
            exporter: concat!("nyssa ", env!("CARGO_PKG_VERSION")),
            name: "nyssa",
            active_profile_index: 0,
            shared: Shared { frames: frames.frames },
            profiles,
        };
        serde_json::to_string(&document)
            .map_err(|error| Error::limit("the profile has no JSON form").with_source(error))
    }
}

/// Returns the begins and ends of the spans of a thread in their order.
fn turns(log: &Log, frames: &mut Frames) -> Vec<Turn> {
    let mut order: Vec<(usize, &Event)> = log.events.iter().enumerate().collect();
    // A span is stored when it ends, after the spans inside it.
    order.sort_by_key(|(number, event)| (event.start, Reverse(event.end), Reverse(*number)));
    let mut turns = Vec::with_capacity(2 * order.len());
    let mut open: Vec<Turn> = Vec::new();
    for (_, event) in order {
        while let Some(end) = open.pop_if(|end| end.at <= event.start) {
            turns.push(end);
        }
        let Some(node) = log.nodes.get(event.node) else { continue };
        let column = log.column_of(node).filter(|_| node.names_column);
        let name = column
            .map_or_else(|| node.stage.to_owned(), |column| format!("{} {column}", node.stage));
        let frame = frames.number(name);
        turns.push(Turn { kind: 'O', frame, at: event.start });
        open.push(Turn { kind: 'C', frame, at: event.end });
    }
    turns.extend(open.into_iter().rev());
    turns
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::super::log::Values;
    use super::*;

    #[test]
    fn spans_begin_and_end_in_the_order_of_a_stack() {
        let (mut log, events) = (Log::new("one".to_owned()), AtomicU64::new(0));
        // The inner span takes the whole time of the outer span, by the resolution of the clock.
        for (outer, begin) in [(1, 0), (3, 10)] {
            log.make(outer, "page", Values { column: Some("pt".to_owned()), ..Values::default() });
            log.begin(outer, begin);
            log.make(outer + 1, "unzip", Values::default());
            log.begin(outer + 1, begin);
            log.end(outer + 1, begin + 10, &events);
            log.end(outer, begin + 10, &events);
        }
        let mut frames = Frames::default();
        let turns: Vec<_> =
            turns(&log, &mut frames).iter().map(|t| (t.kind, t.frame, t.at)).collect();
        let expected = [('O', 0, 0), ('O', 1, 0), ('C', 1, 10), ('C', 0, 10)];
        let later = [('O', 0, 10), ('O', 1, 10), ('C', 1, 20), ('C', 0, 20)];
        assert_eq!(turns, [expected, later].concat());
        let names: Vec<_> = frames.frames.iter().map(|frame| frame.name.as_str()).collect();
        assert_eq!(names, ["page pt", "unzip"]);
    }
}
