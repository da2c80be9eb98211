//! Records the opens and reads of one source.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::event::{Event, Pair};
use super::recorder::{RecordedPlan, Recorder, next_number, recorder, thread};
use crate::{Result, Source};

/// A resource whose opens and reads are recorded while a recorder runs.
pub(crate) struct RecordedFile(u64);

impl RecordedFile {
    /// Opens a source by `open`.
    pub(crate) fn open(
        open: impl FnOnce() -> Result<Arc<dyn Source>>,
    ) -> Result<(Self, Arc<dyn Source>)> {
        let file = Self(next_number());
        let start = Instant::now();
        let source = open()?;
        if let Some(recorder) = recorder() {
            file.announce(&recorder, source.as_ref(), start, Instant::now());
        }
        Ok((file, source))
    }

    /// Writes the line of the open file if it was not written yet.
    fn announce(&self, recorder: &Recorder, source: &dyn Source, start: Instant, end: Instant) {
        if !recorder.begins(self.0) {
            return;
        }
        recorder.write(&Event::Open {
            file: self.0,
            name: source.name().to_owned(),
            size: source.size(),
            known: source.opened_with().iter().map(Pair::from).collect(),
            start: recorder.time(start),
            end: recorder.time(end),
            thread: thread(),
        });
    }

    /// Makes a request to `source` for `ranges` by `read`.
    pub(crate) fn read<T>(
        &self,
        source: &dyn Source,
        ranges: impl Iterator<Item = Pair>,
        read: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let Some(recorder) = recorder() else { return read() };
        let begin = Instant::now();
        self.announce(&recorder, source, begin, begin);
        let done = read();
        let error = done.as_ref().err().map(ToString::to_string);
        let (start, end) = (recorder.time(begin), recorder.time(Instant::now()));
        let (file, plan, thread) = (self.0, RecordedPlan::of_thread(), thread());
        let ranges: Vec<Pair> = ranges.collect();
        recorder.write(&match ranges[..] {
            [Pair(offset, length)] => {
                Event::Read { file, offset, length, plan, start, end, thread, error }
            }
            _ => Event::Readv { file, ranges, plan, start, end, thread, error },
        });
        done
    }

    /// Closes `source`.
    pub(crate) fn close(&self, source: &dyn Source) {
        let Some(recorder) = recorder() else { return source.close() };
        let start = Instant::now();
        source.close();
        if !recorder.ends(self.0) {
            return;
        }
        let (start, end) = (recorder.time(start), recorder.time(Instant::now()));
        recorder.write(&Event::Close { file: self.0, start, end, thread: thread() });
    }

    /// Begins a plan for `source`, if a recorder runs.
    pub(crate) fn plan(
        &self,
        source: &dyn Source,
        units: &[Vec<Range<u64>>],
        ahead: u64,
    ) -> Option<RecordedPlan> {
        // A source makes plans of its own for a request of a plan. They are a part of this request.
        let recorder = recorder().filter(|_| RecordedPlan::of_thread().is_none())?;
        let now = Instant::now();
        self.announce(&recorder, source, now, now);
        let plan = next_number();
        let pairs = |unit: &Vec<Range<u64>>| unit.iter().map(Pair::from).collect();
        recorder.write(&Event::Plan {
            plan,
            file: self.0,
            units: units.iter().map(pairs).collect(),
            ahead,
            start: recorder.time(now),
            thread: thread(),
        });
        Some(RecordedPlan::new(recorder, plan))
    }
}
