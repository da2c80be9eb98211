//! Keeps the spans of one thread: sums for each place in the tree of spans, and the spans themselves while there is
//! room.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The largest number of spans of all threads that are recorded singly. Further spans count only in the sums.
pub(super) const MAX_EVENTS: u64 = 1_000_000;

/// A place in the tree of spans: a stage inside other stages, for one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// The index of the node of the surrounding span.
    pub parent: Option<usize>,
    pub stage: &'static str,
    /// The index of the column in [`Log::columns`].
    pub column: Option<usize>,
    /// Whether the span itself names the column, and not a surrounding span.
    pub names_column: bool,
    pub calls: u64,
    /// The time in the spans in nanoseconds, without the spans inside them.
    pub own: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

/// One span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub node: usize,
    /// The nanoseconds from the start of the profile.
    pub start: u64,
    pub end: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

/// The values that a span may have.
#[derive(Debug, Default)]
pub(super) struct Values {
    pub column: Option<String>,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

/// A span that was made and has not begun.
#[derive(Debug)]
struct Made {
    id: u64,
    stage: &'static str,
    values: Values,
}

/// A span that runs.
#[derive(Debug)]
struct Open {
    id: u64,
    node: usize,
    start: u64,
    /// The time of the spans inside it that have ended.
    inner: u64,
    bytes_in: u64,
    bytes_out: u64,
}

/// The spans of one thread.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub thread: String,
    pub nodes: Vec<Node>,
    pub columns: Vec<String>,
    pub events: Vec<Event>,
    /// The number of spans that are not in `events`.
    pub left_out: u64,
    /// Whether the profile has ended.
    pub ended: bool,
    places: HashMap<(Option<usize>, &'static str, Option<usize>), usize>,
    by_name: HashMap<String, usize>,
    made: Vec<Made>,
    open: Vec<Open>,
}

impl Log {
    pub(super) fn new(thread: String) -> Self {
        Self { thread, ..Self::default() }
    }

    pub(super) fn make(&mut self, id: u64, stage: &'static str, values: Values) {
        if !self.ended {
            self.made.push(Made { id, stage, values });
        }
    }

    /// Adds values to a span that was made or that runs.
    pub(super) fn record(&mut self, id: u64, values: &Values) {
        let made = self.made.iter_mut().rev().find(|made| made.id == id);
        if let Some(made) = made {
            made.values.bytes_in += values.bytes_in;
            made.values.bytes_out += values.bytes_out;
        } else if let Some(open) = self.open.iter_mut().rev().find(|open| open.id == id) {
            open.bytes_in += values.bytes_in;
            open.bytes_out += values.bytes_out;
        }
    }

    pub(super) fn begin(&mut self, id: u64, now: u64) {
        let Some(at) = self.made.iter().rposition(|made| made.id == id) else { return };
        let Made { stage, values, .. } = self.made.swap_remove(at);
        let node = self.node(stage, values.column);
        let Values { bytes_in, bytes_out, .. } = values;
        self.open.push(Open { id, node, start: now, inner: 0, bytes_in, bytes_out });
    }

    /// Ends the innermost span. `events` counts the spans of all threads.
    pub(super) fn end(&mut self, id: u64, now: u64, events: &AtomicU64) {
        if self.open.last().is_none_or(|open| open.id != id) {
            return;
        }
        let Some(Open { node, start, inner, bytes_in, bytes_out, .. }) = self.open.pop() else {
            return;
        };
        let took = now.saturating_sub(start);
        if let Some(outer) = self.open.last_mut() {
            outer.inner += took;
        }
        if let Some(sums) = self.nodes.get_mut(node) {
            sums.calls += 1;
            sums.own += took.saturating_sub(inner);
            sums.bytes_in += bytes_in;
            sums.bytes_out += bytes_out;
        }
        if events.fetch_add(1, Ordering::Relaxed) < MAX_EVENTS {
            self.events.push(Event { node, start, end: now, bytes_in, bytes_out });
        } else {
            self.left_out += 1;
        }
    }

    /// Forgets a span that never began.
    pub(super) fn drop(&mut self, id: u64) {
        self.made.retain(|made| made.id != id);
    }

    /// Returns the index of the node of a span that begins now. A span without a column takes the column of the
    /// surrounding span.
    fn node(&mut self, stage: &'static str, column: Option<String>) -> usize {
        let parent = self.open.last().map(|open| open.node);
        let names_column = column.is_some();
        let column = match column {
            Some(name) => Some(self.column(name)),
            None => parent.and_then(|parent| self.nodes.get(parent)?.column),
        };
        let nodes = &mut self.nodes;
        *self.places.entry((parent, stage, column)).or_insert_with(|| {
            let (calls, own, bytes_in, bytes_out) = (0, 0, 0, 0);
            nodes.push(Node {
                parent,
                stage,
                column,
                names_column,
                calls,
                own,
                bytes_in,
                bytes_out,
            });
            nodes.len() - 1
        })
    }

    fn column(&mut self, name: String) -> usize {
        if let Some(&known) = self.by_name.get(&name) {
            return known;
        }
        self.columns.push(name.clone());
        self.by_name.insert(name, self.columns.len() - 1);
        self.columns.len() - 1
    }

    /// Returns the name of the column of a node.
    pub(super) fn column_of(&self, node: &Node) -> Option<&str> {
        self.columns.get(node.column?).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(log: &Log, stage: &str) -> Node {
        log.nodes.iter().find(|node| node.stage == stage).unwrap().clone()
    }

    #[test]
    fn own_time_is_without_that_of_inner_spans() {
        let (mut log, events) = (Log::new("one".to_owned()), AtomicU64::new(0));
        let column = Some("pt".to_owned());
        log.make(1, "page", Values { column, ..Values::default() });
        log.begin(1, 100);
        log.make(2, "unzip", Values { bytes_in: 10, ..Values::default() });
        log.begin(2, 130);
        log.record(2, &Values { bytes_out: 40, ..Values::default() });
        log.end(2, 190, &events);
        log.make(3, "unzip", Values::default());
        log.drop(3);
        log.begin(3, 195);
        log.end(1, 200, &events);
        let (page, unzip) = (node(&log, "page"), node(&log, "unzip"));
        assert_eq!((page.own, page.calls, page.names_column), (40, 1, true));
        assert_eq!((unzip.own, unzip.bytes_in, unzip.bytes_out), (60, 10, 40));
        assert_eq!((unzip.parent, unzip.names_column), (Some(0), false));
        assert_eq!(log.column_of(&unzip), Some("pt"));
        assert_eq!(log.events.len(), 2);
    }

    #[test]
    fn spans_that_are_not_kept_are_in_the_sums() {
        let (mut log, events) = (Log::new("one".to_owned()), AtomicU64::new(MAX_EVENTS - 1));
        for id in 1..=3 {
            log.make(id, "zip", Values::default());
            log.begin(id, id);
            log.end(id, id + 1, &events);
        }
        assert_eq!((log.events.len(), log.left_out, node(&log, "zip").calls), (1, 2, 3));
    }
}
