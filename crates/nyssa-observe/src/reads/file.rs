//! Counts and records the opens and reads of one resource.

use std::ops::Range;
use std::time::Instant;

use super::plan::RecordedPlan;
use super::stats::{IoStats, Opened};
use crate::event::{Event, Pair, RequestFacts};
use crate::recorder::{Recorder, next_number, recorder, thread};

/// A resource whose opens and reads are counted, and recorded while a recording runs.
pub struct ObservedFile {
    number: u64,
    stats: IoStats,
}

impl ObservedFile {
    /// Opens a resource by `open`, and counts in `stats` and for the process. `opened` describes the resource.
    ///
    /// # Errors
    /// `open` failed.
    pub fn open<T, E>(
        stats: &IoStats,
        open: impl FnOnce() -> Result<T, E>,
        opened: impl Fn(&T) -> Opened,
    ) -> Result<(Self, T), E> {
        let file = Self { number: next_number(), stats: stats.clone() };
        let start = Instant::now();
        let resource = stats.open(open, &opened)?;
        if let Some(recorder) = recorder() {
            file.announce(&recorder, || opened(&resource), start, Instant::now());
        }
        Ok((file, resource))
    }

    /// Writes the line of the open file if it was not written yet.
    fn announce(
        &self,
        recorder: &Recorder,
        opened: impl FnOnce() -> Opened,
        start: Instant,
        end: Instant,
    ) {
        if !recorder.begins(self.number) {
            return;
        }
        let Opened { name, size, known } = opened();
        recorder.write(&Event::Open {
            file: self.number,
            name,
            size,
            known: known.iter().map(Pair::from).collect(),
            start: recorder.time(start),
            end: recorder.time(end),
            thread: thread(),
        });
    }

    /// Makes a request by `read`. The origin sees its `ranges`, if there are any. `opened` describes the resource.
    ///
    /// # Errors
    /// `read` failed.
    pub fn read<T, E: ToString>(
        &self,
        opened: impl FnOnce() -> Opened,
        ranges: impl Iterator<Item = Pair> + Clone,
        read: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let number = ranges.clone().count() as u64;
        if number == 0 {
            return read();
        }
        let bytes = ranges.clone().map(|Pair(_, length)| length).sum();
        let read = || self.stats.read(number, bytes, read);
        let Some(recorder) = recorder() else { return read() };
        let begin = Instant::now();
        self.announce(&recorder, opened, begin, begin);
        let done = read();
        let error = done.as_ref().err().map(ToString::to_string);
        let (start, end) = (recorder.time(begin), recorder.time(Instant::now()));
        let (file, plan, thread) = (self.number, RecordedPlan::of_thread(), thread());
        let facts = RequestFacts { file, plan, start, end, thread, error };
        let ranges: Vec<Pair> = ranges.collect();
        recorder.write(&match ranges[..] {
            [Pair(offset, length)] => Event::Read { offset, length, facts },
            _ => Event::Readv { ranges, facts },
        });
        done
    }

    /// Closes the resource by `close`.
    pub fn close(&self, close: impl FnOnce()) {
        let Some(recorder) = recorder() else { return close() };
        let start = Instant::now();
        close();
        if !recorder.ends(self.number) {
            return;
        }
        let (start, end) = (recorder.time(start), recorder.time(Instant::now()));
        recorder.write(&Event::Close { file: self.number, start, end, thread: thread() });
    }

    /// Begins a plan, if a recording runs. `opened` describes the resource.
    pub fn plan(
        &self,
        opened: impl FnOnce() -> Opened,
        units: &[Vec<Range<u64>>],
        ahead: u64,
    ) -> Option<RecordedPlan> {
        // A resource makes plans of its own for a request of a plan. They are a part of this request.
        let recorder = recorder().filter(|_| RecordedPlan::of_thread().is_none())?;
        let now = Instant::now();
        self.announce(&recorder, opened, now, now);
        let plan = next_number();
        let pairs = |unit: &Vec<Range<u64>>| unit.iter().map(Pair::from).collect();
        recorder.write(&Event::Plan {
            plan,
            file: self.number,
            units: units.iter().map(pairs).collect(),
            ahead,
            start: recorder.time(now),
            thread: thread(),
        });
        Some(RecordedPlan::new(recorder, plan))
    }
}
