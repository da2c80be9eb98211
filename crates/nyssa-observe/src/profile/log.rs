//! Keeps the stages of one thread: sums for each place in the tree of stages, and the stages themselves while there is
//! room.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The largest number of stages of all threads that are recorded singly. Further stages count only in the sums.
pub(super) const MAX_RUNS: u64 = 1_000_000;

/// A place in the tree of stages: a stage inside other stages, for one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// The index of the node of the surrounding stage.
    pub parent: Option<usize>,
    pub stage: &'static str,
    /// The index of the column in [`Log::columns`].
    pub column: Option<usize>,
    pub calls: u64,
    /// The time in these stages in nanoseconds, without the stages inside them.
    pub own: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

/// One run of a stage, which has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub node: usize,
    /// The nanoseconds from the start of the profile.
    pub start: u64,
    pub end: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

/// A stage that runs.
#[derive(Debug)]
struct Open {
    node: usize,
    start: u64,
    /// The time of the stages inside it that have ended.
    inner: u64,
}

/// The stages of one thread.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub thread: String,
    pub nodes: Vec<Node>,
    pub columns: Vec<String>,
    pub runs: Vec<Run>,
    /// The number of stages that are not in `runs`.
    pub left_out: u64,
    places: HashMap<(Option<usize>, &'static str, Option<usize>), usize>,
    by_name: HashMap<String, usize>,
    open: Vec<Open>,
}

impl Log {
    pub(super) fn new(thread: String) -> Self {
        Self { thread, ..Self::default() }
    }

    /// Begins a stage. Returns the number of stages around it.
    pub(super) fn begin(&mut self, stage: &'static str, column: Option<&str>, now: u64) -> usize {
        let node = self.node(stage, column);
        self.open.push(Open { node, start: now, inner: 0 });
        self.open.len() - 1
    }

    /// Ends the innermost stage, and returns it. It has `depth` stages around it, or nothing is done. `ended` counts the
    /// stages of all threads.
    pub(super) fn end(
        &mut self,
        depth: usize,
        now: u64,
        bytes_in: u64,
        bytes_out: u64,
        ended: &AtomicU64,
    ) -> Option<Run> {
        if self.open.len() != depth + 1 {
            return None;
        }
        let Open { node, start, inner } = self.open.pop()?;
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
        let run = Run { node, start, end: now, bytes_in, bytes_out };
        if ended.fetch_add(1, Ordering::Relaxed) < MAX_RUNS {
            self.runs.push(run);
        } else {
            self.left_out += 1;
        }
        Some(run)
    }

    /// Returns the index of the node of a stage that begins now. A stage without a column takes the column of the
    /// surrounding stage.
    fn node(&mut self, stage: &'static str, column: Option<&str>) -> usize {
        let parent = self.open.last().map(|open| open.node);
        let column = match column {
            Some(name) => Some(self.column(name)),
            None => parent.and_then(|parent| self.nodes.get(parent)?.column),
        };
        let nodes = &mut self.nodes;
        *self.places.entry((parent, stage, column)).or_insert_with(|| {
            let (calls, own, bytes_in, bytes_out) = (0, 0, 0, 0);
            nodes.push(Node { parent, stage, column, calls, own, bytes_in, bytes_out });
            nodes.len() - 1
        })
    }

    fn column(&mut self, name: &str) -> usize {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        self.columns.push(name.to_owned());
        self.by_name.insert(name.to_owned(), self.columns.len() - 1);
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
    fn own_time_is_without_that_of_inner_stages() {
        let (mut log, ended) = (Log::new("one".to_owned()), AtomicU64::new(0));
        let page = log.begin("page", Some("pt"), 100);
        let unzip = log.begin("unzip", None, 130);
        assert_eq!((page, unzip), (0, 1));
        // A stage ends after the stages inside it.
        log.end(page, 150, 0, 0, &ended);
        log.end(unzip, 190, 10, 40, &ended);
        log.end(page, 200, 0, 0, &ended);
        let (page, unzip) = (node(&log, "page"), node(&log, "unzip"));
        assert_eq!((page.own, page.calls), (40, 1));
        assert_eq!((unzip.own, unzip.bytes_in, unzip.bytes_out), (60, 10, 40));
        assert_eq!(unzip.parent, Some(0));
        assert_eq!(log.column_of(&unzip), Some("pt"));
        assert_eq!(log.runs.len(), 2);
    }

    #[test]
    fn stages_that_are_not_kept_are_in_the_sums() {
        let (mut log, ended) = (Log::new("one".to_owned()), AtomicU64::new(MAX_RUNS - 1));
        for at in 1..=3 {
            let zip = log.begin("zip", None, at);
            log.end(zip, at + 1, 0, 0, &ended);
        }
        assert_eq!((log.runs.len(), log.left_out, node(&log, "zip").calls), (1, 2, 3));
    }
}
