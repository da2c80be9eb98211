//! Computes the steps of a replay, and their times: each step begins some time after the step that it had to
//! wait for.
//!
//! Two steps of one thread follow each other, and the time between them is the time that the thread computed. A
//! unit is wanted when its plan has begun. Opens, plans and reads without a plan follow the step that ended
//! last before them, whatever its thread: the main thread begins a plan when all threads are done with the one
//! before it.

use std::collections::HashMap;
use std::ops::Range;

use super::event::{Event, Trace};

/// An action that is repeated.
pub(super) enum Action {
    Open {
        file: u64,
        name: String,
        size: u64,
    },
    Plan {
        plan: u64,
        file: u64,
        units: Vec<Vec<Range<u64>>>,
        ahead: u64,
    },
    /// Waits for a unit, and holds it for this number of seconds.
    Wait {
        plan: u64,
        unit: usize,
        held: f64,
    },
    Read {
        file: u64,
        ranges: Vec<Range<u64>>,
    },
}

/// An action of a thread. It begins `delay` seconds after the end of the step `after`, or after the start of
/// all.
pub(super) struct Step {
    pub action: Action,
    pub thread: u64,
    pub after: Option<usize>,
    pub delay: f64,
    start: f64,
    end: f64,
}

/// Returns the steps of a trace in the order of their begins.
pub(super) fn steps(trace: &Trace) -> Vec<Step> {
    let mut steps: Vec<Step> = trace.events.iter().filter_map(step).collect();
    steps.sort_by(|a, b| a.start.total_cmp(&b.start));
    let begin = steps.first().map_or(0.0, |step| step.start);
    let mut by_end: Vec<usize> = (0..steps.len()).collect();
    by_end.sort_by(|&a, &b| steps[a].end.total_cmp(&steps[b].end));
    let mut ended = by_end.into_iter().peekable();
    let (mut last, mut of_thread, mut of_plan) = (None, HashMap::new(), HashMap::new());
    for index in 0..steps.len() {
        let start = steps[index].start;
        while let Some(done) = ended.next_if(|&other| other < index && steps[other].end <= start) {
            last = Some(done);
        }
        let own = of_thread.insert(steps[index].thread, index);
        let after = match &steps[index].action {
            Action::Wait { plan, .. } => {
                let begun = of_plan.get(plan).copied();
                [own, begun]
                    .into_iter()
                    .flatten()
                    .max_by(|&a: &usize, &b: &usize| steps[a].end.total_cmp(&steps[b].end))
            }
            _ => last,
        };
        if let Action::Plan { plan, .. } = steps[index].action {
            of_plan.insert(plan, index);
        }
        let since = after.map_or(begin, |after| steps[after].end);
        steps[index].after = after;
        steps[index].delay = (start - since).max(0.0);
    }
    steps
}

fn step(event: &Event) -> Option<Step> {
    let (thread, start, end) = event.span()?;
    let action = match event {
        Event::Open { file, name, size, .. } => {
            Action::Open { file: *file, name: name.clone(), size: *size }
        }
        Event::Plan { plan, file, units, ahead, .. } => {
            let ranges = |unit: &Vec<super::Pair>| unit.iter().map(|pair| pair.range()).collect();
            let units = units.iter().map(ranges).collect();
            Action::Plan { plan: *plan, file: *file, units, ahead: *ahead }
        }
        Event::Wait { plan, unit, end, released, .. } => {
            Action::Wait { plan: *plan, unit: *unit, held: (released - end).max(0.0) }
        }
        _ => {
            let (file, plan, ranges) = event.request()?;
            if plan.is_some() {
                return None;
            }
            Action::Read { file, ranges: ranges.iter().map(|pair| pair.range()).collect() }
        }
    };
    Some(Step { action, thread, after: None, delay: 0.0, start, end })
}
