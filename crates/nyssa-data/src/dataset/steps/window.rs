//! Finds the ends of the steps of a window.

use std::ops::Range;

use super::size::{MemoryPlan, MemoryTaken, StepSize};

use crate::heuristics::steps;

/// The data that decides where the steps of a window end.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowPlan {
    pub size: StepSize,
    /// The number of columns.
    pub columns: usize,
    /// The memory that the entries read so far have taken. With [`StepSize::Memory`] it must be known.
    pub taken: Option<MemoryTaken>,
    /// The number of steps in the last window.
    pub steps: u64,
    /// The number of threads that decompress pages and baskets.
    pub threads: usize,
    /// The number of bytes of the largest page or basket so far.
    pub largest: u64,
}

/// The steps of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedWindow {
    /// The ends of its steps.
    pub ends: Vec<u64>,
    /// The number of bytes for the pages and baskets that it shares with the next window, if memory is limited.
    pub opened: Option<u64>,
}

impl WindowPlan {
    /// Returns the largest number of bytes of a small window.
    pub(super) fn small_bytes(size: StepSize) -> f64 {
        match size {
            StepSize::Memory(memory) => steps::WINDOW_BYTES.min(memory as f64 * steps::SMALL),
            _ => steps::WINDOW_BYTES,
        }
    }

    /// Returns the number of bytes that entries take, if it is known.
    pub(super) fn bytes(&self, entries: u64) -> Option<f64> {
        self.taken.map(|taken| taken.entry * entries as f64)
    }

    /// Plans the window that begins at entry `from` of a part, which ends at `stop`.
    pub(super) fn window(&self, from: u64, stop: u64, clusters: &[Range<u64>]) -> PlannedWindow {
        let (ends, opened) = match self.size {
            StepSize::Cluster => {
                let next = clusters.partition_point(|cluster| cluster.end <= from);
                (vec![clusters.get(next).map_or(stop, |cluster| cluster.end.min(stop))], None)
            }
            StepSize::Entries(entries) => (self.of_entries(entries.max(1), from, stop), None),
            StepSize::Memory(memory) => {
                let plan = MemoryPlan::new(memory, self.columns);
                let plan = plan.while_open(self.threads, self.largest);
                let step = plan.step(from, stop, clusters, &self.taken.unwrap_or_default());
                (vec![step.end], Some(step.opened))
            }
        };
        PlannedWindow { ends, opened }
    }

    /// Plans a window of at most `most` bytes that begins at entry `from` of a part, which ends at `stop`. Returns
    /// `None` if not even one step is so small.
    pub(super) fn window_of(
        &self,
        most: f64,
        entries: &Range<u64>,
        clusters: &[Range<u64>],
    ) -> Option<PlannedWindow> {
        if entries.is_empty() || self.taken.is_none() {
            return None;
        }
        let mut window = self.window(entries.start, entries.end, clusters);
        window.ends.retain(|end| self.bytes(end - entries.start).is_some_and(|item| item <= most));
        (!window.ends.is_empty()).then_some(window)
    }

    fn of_entries(&self, entries: u64, from: u64, stop: u64) -> Vec<u64> {
        let fit = self.bytes(entries).map_or(1.0, |bytes| steps::WINDOW_BYTES / bytes.max(1.0));
        let most = self.steps.saturating_mul(steps::GROWTH).max(1);
        let count = (fit as u64).clamp(1, most);
        let ends = (1..=count).map(|step| from.saturating_add(step.saturating_mul(entries)));
        let mut ends: Vec<u64> = ends.take_while(|&end| end < stop).collect();
        if (ends.len() as u64) < count {
            ends.push(stop);
        }
        ends
    }
}
