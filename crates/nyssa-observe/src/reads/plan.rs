//! Records plans of reads, and the threads that wait for them.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use crate::event::Event;
use crate::recorder::{Recorder, thread};

thread_local! {
    /// The plan that this thread makes a request for.
    static PLAN: Cell<Option<u64>> = const { Cell::new(None) };
}

/// A plan that is recorded. A clone is the same plan.
#[derive(Clone)]
pub struct RecordedPlan {
    recorder: Arc<Recorder>,
    plan: u64,
}

impl RecordedPlan {
    /// Makes the plan with a number.
    pub(super) fn new(recorder: Arc<Recorder>, plan: u64) -> Self {
        Self { recorder, plan }
    }

    /// Returns the number of the plan that this thread makes a request for.
    pub(super) fn of_thread() -> Option<u64> {
        PLAN.get()
    }

    /// Makes a request for the plan by `request`.
    pub fn requesting<T>(&self, request: impl FnOnce() -> T) -> T {
        let before = PLAN.replace(Some(self.plan));
        let done = request();
        PLAN.set(before);
        done
    }

    /// Begins the record of a thread that waited for a unit since `start` and has it now.
    pub fn waited(&self, unit: usize, start: Instant) -> RecordedWait {
        RecordedWait { plan: self.clone(), unit, start, end: Instant::now(), thread: thread() }
    }
}

/// A unit that a thread uses. Its line is written when this is dropped.
pub struct RecordedWait {
    plan: RecordedPlan,
    unit: usize,
    start: Instant,
    end: Instant,
    thread: u64,
}

impl Drop for RecordedWait {
    fn drop(&mut self) {
        let RecordedPlan { recorder, plan } = &self.plan;
        recorder.write(&Event::Wait {
            plan: *plan,
            unit: self.unit,
            start: recorder.time(self.start),
            end: recorder.time(self.end),
            released: recorder.time(Instant::now()),
            thread: self.thread,
        });
    }
}
