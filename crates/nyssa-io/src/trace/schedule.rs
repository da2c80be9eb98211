//! Computes the steps of a replay, and their times: each step begins some time after the steps that it had to
//! wait for.
//!
//! Two steps of one thread follow each other, and the time between them is the time that the thread computed. A unit is
//! wanted when its plan has begun. A thread that began a plan goes on when all threads are done with the units that
//! were used before it did so. A file is read after it was opened. The first step of a thread follows the step that was
//! done last before it. The end of the job follows everything.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use nyssa_observe::{Event, Pair, Request};

use super::recorded::Trace;

/// The steps of a trace.
pub(super) struct Schedule {
    /// The steps in the order of their begins.
    pub steps: Vec<Step>,
    /// The time from the last release to the end of the job.
    pub rest: f64,
}

/// An action that is repeated.
pub(super) enum Action {
    Open { file: u64, name: String, size: u64 },
    Plan { plan: u64, file: u64, units: Vec<Vec<Range<u64>>>, ahead: u64 },
    Wait { plan: u64, unit: usize },
    Read { file: u64, ranges: Vec<Range<u64>> },
}

/// An action of a thread. It begins `delay` seconds after all that it follows, or after the start of the job.
pub(super) struct Step {
    pub action: Action,
    pub thread: u64,
    /// The steps that it follows: the ends of steps of its thread, and the releases of others.
    pub after: Vec<usize>,
    pub delay: f64,
    /// The time from its end to its release, when its bytes are no longer needed.
    pub held: f64,
    /// The times of its begin and end in the recorded job.
    pub start: f64,
    end: f64,
}

impl Step {
    /// Returns the time of its release in the recorded job.
    pub(super) fn release(&self) -> f64 {
        self.end + self.held
    }

    /// Returns the time at which another step may begin that follows this one.
    fn done_for(&self, other: &Self) -> f64 {
        if self.thread == other.thread { self.end } else { self.release() }
    }
}

/// The state after the steps so far, which the next steps need.
#[derive(Default)]
struct Before {
    /// The last step of each thread.
    of_thread: HashMap<u64, usize>,
    /// The step that opened each file.
    files: HashMap<u64, usize>,
    /// The step that began each plan.
    plans: HashMap<u64, usize>,
    /// The last step that was released.
    last: Option<usize>,
    /// The last units that each thread has released since a thread did its last step, of the plans that this thread
    /// began.
    used: HashMap<u64, BTreeMap<u64, usize>>,
}

impl Before {
    /// Adds a step that was released.
    fn release(&mut self, index: usize, steps: &[Step]) {
        self.last = Some(index);
        let Step { action: Action::Wait { plan, .. }, thread, .. } = &steps[index] else { return };
        let Some(begun) = self.plans.get(plan) else { return };
        self.used.entry(steps[*begun].thread).or_default().insert(*thread, index);
    }

    /// Adds a step that begins, and returns the steps that it follows.
    fn begin(&mut self, index: usize, step: &Step) -> Vec<usize> {
        let own = self.of_thread.insert(step.thread, index);
        let needed = match &step.action {
            Action::Wait { plan, .. } => {
                return own.into_iter().chain(self.plans.get(plan).copied()).collect();
            }
            Action::Open { file, .. } => {
                self.files.insert(*file, index);
                None
            }
            Action::Plan { plan, file, .. } => {
                self.plans.insert(*plan, index);
                self.files.get(file).copied()
            }
            Action::Read { file, .. } => self.files.get(file).copied(),
        };
        let used = self.used.remove(&step.thread).unwrap_or_default();
        own.or(self.last).into_iter().chain(needed).chain(used.into_values()).collect()
    }
}

/// Returns the steps of a trace.
pub(super) fn schedule(trace: &Trace) -> Schedule {
    let mut steps: Vec<Step> = trace.events.iter().filter_map(step).collect();
    steps.sort_by(|a, b| a.start.total_cmp(&b.start));
    // Steps with the same release stay in the order of their begins.
    let mut by_release: Vec<usize> = (0..steps.len()).collect();
    by_release.sort_by(|&a, &b| steps[a].release().total_cmp(&steps[b].release()));
    let mut released = by_release.iter().copied().peekable();
    let mut before = Before::default();
    for index in 0..steps.len() {
        let is_before =
            |other: &usize| *other < index && steps[*other].release() <= steps[index].start;
        while let Some(other) = released.next_if(is_before) {
            before.release(other, &steps);
        }
        let after = before.begin(index, &steps[index]);
        let since = after.iter().map(|&other| steps[other].done_for(&steps[index]));
        let delay = steps[index].start - since.fold(0.0, f64::max);
        (steps[index].after, steps[index].delay) = (after, delay.max(0.0));
    }
    let last = by_release.last().map_or(0.0, |&last| steps[last].release());
    Schedule { rest: (trace.seconds() - last).max(0.0), steps }
}

fn step(event: &Event) -> Option<Step> {
    let (thread, start, end) = event.span()?;
    let end = end.max(start);
    let mut held = 0.0;
    let action = match event {
        Event::Open { file, name, size, .. } => {
            Action::Open { file: *file, name: name.clone(), size: *size }
        }
        Event::Plan { plan, file, units, ahead, .. } => {
            let ranges = |unit: &Vec<Pair>| unit.iter().map(|pair| pair.range()).collect();
            let units = units.iter().map(ranges).collect();
            Action::Plan { plan: *plan, file: *file, units, ahead: *ahead }
        }
        Event::Wait { plan, unit, released, .. } => {
            held = (released - end).max(0.0);
            Action::Wait { plan: *plan, unit: *unit }
        }
        _ => {
            let Request { file, ranges, .. } =
                event.request().filter(|item| item.plan.is_none())?;
            Action::Read { file, ranges: ranges.iter().map(|pair| pair.range()).collect() }
        }
    };
    let (after, delay) = (Vec::new(), 0.0);
    Some(Step { action, thread, after, delay, held, start, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheduled(lines: &[&str]) -> Schedule {
        let events = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        schedule(&Trace { events })
    }

    fn about(computed: f64, expected: f64) -> bool {
        (computed - expected).abs() < 1e-9
    }

    #[test]
    fn the_job_begins_before_its_first_step_and_ends_after_its_last() {
        let open =
            r#"{"op":"open","file":1,"name":"a","size":9,"start":0.25,"end":0.5,"thread":1}"#;
        let plan =
            r#"{"op":"plan","plan":2,"file":1,"units":[[[0,9]]],"ahead":9,"start":1,"thread":1}"#;
        let wait = r#"{"op":"wait","plan":2,"unit":0,"start":1,"end":2,"released":2.5,"thread":3}"#;
        let all = scheduled(&[open, plan, wait, r#"{"op":"end","end":4}"#]);
        let delays: Vec<f64> = all.steps.iter().map(|step| step.delay).collect();
        assert_eq!(delays, [0.25, 0.5, 0.0]);
        assert_eq!((all.steps[2].held, all.rest), (0.5, 1.5));
        // Without its end, the job ends with its last event.
        let close = r#"{"op":"close","file":1,"start":2.5,"end":2.75,"thread":1}"#;
        assert_eq!(scheduled(&[open, plan, wait, close]).rest, 0.25);
        assert_eq!(scheduled(&[open, plan, wait]).rest, 0.0);
        assert_eq!(scheduled(&[r#"{"op":"end","end":4}"#]).rest, 4.0);
    }

    #[test]
    fn a_plan_begins_when_all_threads_are_done_with_the_units_before() {
        let all = scheduled(&[
            r#"{"op":"plan","plan":1,"file":9,"units":[[],[]],"ahead":9,"start":0,"thread":1}"#,
            r#"{"op":"wait","plan":1,"unit":0,"start":0,"end":1,"released":3,"thread":2}"#,
            r#"{"op":"wait","plan":1,"unit":1,"start":0,"end":2,"released":2.5,"thread":3}"#,
            r#"{"op":"wait","plan":1,"unit":2,"start":2.75,"end":2.8,"released":9,"thread":3}"#,
            r#"{"op":"plan","plan":4,"file":9,"units":[[]],"ahead":9,"start":3.5,"thread":1}"#,
        ]);
        let [.., third, second] = &all.steps[..] else { panic!("steps") };
        // The thread computed for 0.75 s after it had got the unit before, of which it held the unit for 0.5 s.
        assert_eq!(third.after, [2, 0]);
        assert!(about(third.delay, 0.75));
        // The plan follows the releases of the first two units, at 2.5 s and 3 s. The third is released later.
        assert_eq!(second.after, [0, 1, 2]);
        assert!(about(second.delay, 0.5));
    }

    #[test]
    fn threads_that_read_for_themselves_do_not_wait_for_each_other() {
        let all = scheduled(&[
            r#"{"op":"read","file":1,"offset":0,"length":1,"start":0,"end":1,"thread":1}"#,
            r#"{"op":"read","file":1,"offset":0,"length":1,"start":1.5,"end":2,"thread":2}"#,
            r#"{"op":"read","file":1,"offset":0,"length":1,"start":3,"end":4,"thread":1}"#,
        ]);
        // The second thread came into being after the first read.
        let follows: Vec<&[usize]> = all.steps.iter().map(|step| &step.after[..]).collect();
        assert_eq!(follows, [&[][..], &[0], &[0]]);
        assert!(about(all.steps[1].delay, 0.5) && about(all.steps[2].delay, 2.0));
    }

    #[test]
    fn a_thread_reads_a_file_after_another_one_has_opened_it() {
        let all = scheduled(&[
            r#"{"op":"read","file":9,"offset":0,"length":1,"start":0,"end":1,"thread":2}"#,
            r#"{"op":"open","file":1,"name":"a","size":9,"start":1,"end":2,"thread":1}"#,
            r#"{"op":"read","file":1,"offset":0,"length":1,"start":3,"end":4,"thread":2}"#,
        ]);
        assert_eq!((&all.steps[2].after[..], all.steps[2].delay), (&[0, 1][..], 1.0));
    }

    #[test]
    fn steps_of_no_duration_follow_only_earlier_ones() {
        let read = r#"{"op":"read","file":1,"offset":0,"length":1,"start":1,"end":1,"thread":1}"#;
        let other = read.replace("\"thread\":1", "\"thread\":2");
        let all = scheduled(&[read, &other, read]);
        let follows: Vec<&[usize]> = all.steps.iter().map(|step| &step.after[..]).collect();
        assert_eq!(follows, [&[][..], &[0], &[0]]);
    }
}
