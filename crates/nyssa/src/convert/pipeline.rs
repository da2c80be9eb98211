//! Units on all threads, committed in order.
//!
//! Each thread takes the next unit, reads its branch and seals its columns. What is sealed waits
//! until everything before it has been written; the thread that completes the next unit in line
//! writes it and all that follow, while the others go on. A thread waits before taking a unit when
//! the bytes in flight would exceed the budget, unless its unit is the next in line, so there is
//! always one that goes on.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::clusters::{decoded, stored};
use super::digests::Digests;
use super::map::{Source, Unit};
use super::unit::Units;
use crate::Context;
use crate::error::{Error, Result, ResultExt};
use crate::page::SealedColumn;
use crate::write::{Scratch, SealSettings, Writer};

/// A planned conversion.
pub(super) struct Pipeline<'a> {
    pub units: &'a Units<'a>,
    pub clusters: &'a [Range<u64>],
    pub settings: &'a SealSettings,
    pub budget: u64,
    /// Zipped bytes of the input, for progress.
    pub total_bytes: u64,
    /// Whether the conversion is to begin anew without a unit that failed; then nothing more is written, but
    /// the others are tried too.
    pub spared: &'a (dyn Fn(&Unit, &Error) -> bool + Sync),
    /// Take what is read.
    pub digests: &'a Digests,
    pub context: &'a Context,
}

/// Why a pipeline did not come to the end.
pub(super) enum Stop {
    Error(Error),
    /// These units failed, all of which are to be spared; by index.
    Units(BTreeMap<usize, Error>),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// What a pipeline did: per unit, compressed bytes of its columns.
pub(super) struct Written {
    pub unit_bytes: Vec<u64>,
}

/// A sealed unit that waits for its turn.
struct Sealed {
    columns: Vec<SealedColumn>,
    bytes: u64,
}

/// Shared by the threads.
struct State<'w> {
    /// The next unit that nobody has taken.
    next: usize,
    /// The next unit in line to be written.
    turn: usize,
    /// Sealed units that are not in line yet.
    waiting: BTreeMap<usize, Sealed>,
    /// Bytes of units taken and not written.
    in_flight: u64,
    /// `None` while a thread writes.
    writer: Option<&'w mut Writer>,
    written: Written,
    done_bytes: u64,
    error: Option<Error>,
    /// Units that failed and are spared: the first error of each.
    failed: BTreeMap<usize, Error>,
    stop: bool,
}

impl Pipeline<'_> {
    /// Runs to the end. `writer` gets every cluster, complete.
    ///
    /// # Errors
    /// The first error of any unit, `Cancelled`; the units that are spared.
    pub fn run(&self, writer: &mut Writer) -> std::result::Result<Written, Stop> {
        let written = Written { unit_bytes: vec![0; self.units.units.len()] };
        if self.units.units.is_empty() {
            return Ok(self.run_empty(writer).map(|()| written)?);
        }
        let state = State {
            next: 0,
            turn: 0,
            waiting: BTreeMap::new(),
            in_flight: 0,
            writer: Some(writer),
            written,
            done_bytes: 0,
            error: None,
            failed: BTreeMap::new(),
            stop: false,
        };
        let shared = Shared { pipeline: self, state: Mutex::new(state), change: Condvar::new() };
        self.context.pool().scope(|scope| {
            for _ in 0..self.context.threads() {
                scope.spawn(|_| shared.work());
            }
        });
        let state = shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.error {
            Some(error) => Err(Stop::Error(error)),
            None if !state.failed.is_empty() => Err(Stop::Units(state.failed)),
            None => Ok(state.written),
        }
    }

    /// Entries without branches are only counted.
    fn run_empty(&self, writer: &mut Writer) -> Result<()> {
        self.clusters.iter().try_for_each(|entries| {
            writer.begin_cluster(entries.end - entries.start)?;
            writer.commit_cluster()
        })
    }

    fn report(&self, done: u64) {
        self.context.report(done.min(self.total_bytes), self.total_bytes);
    }

    fn total(&self) -> usize {
        self.units.units.len() * self.clusters.len()
    }

    /// Cluster and unit of a task.
    fn task(&self, task: usize) -> (usize, &Unit) {
        let units = self.units.units;
        (task / units.len(), &units[task % units.len()])
    }

    /// Bytes of decoded and sealed data that a unit will take, as far as known beforehand.
    fn estimate(&self, task: usize) -> u64 {
        let (cluster, unit) = self.task(task);
        let entries = &self.clusters[cluster];
        match unit.source {
            Source::Branch(index) | Source::Items(index) | Source::Streamed(index) => {
                self.units.inputs.get(index).map_or(0, |input| 2 * decoded(input.branch, entries))
            }
            Source::Offsets(_) => 16 * (entries.end - entries.start),
        }
    }

    /// Zipped bytes that a unit reads; counters are read with the offsets.
    fn input_bytes(&self, task: usize) -> u64 {
        let (cluster, unit) = self.task(task);
        let entries = &self.clusters[cluster];
        let branch = match &unit.source {
            Source::Branch(index) | Source::Items(index) | Source::Streamed(index) => {
                self.units.inputs.get(*index).map(|input| input.branch)
            }
            Source::Offsets(counter) => self.units.reader.branch(&counter.branch),
        };
        branch.map_or(0, |branch| stored(branch, entries))
    }
}

struct Shared<'a> {
    pipeline: &'a Pipeline<'a>,
    state: Mutex<State<'a>>,
    change: Condvar,
}

impl<'a> Shared<'a> {
    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One thread: takes units until there are none.
    fn work(&self) {
        // A panic below must not leave the others waiting for a unit that never comes.
        let guard = StopOnDrop(self);
        let mut scratch = Scratch::new();
        while let Some((task, reserved)) = self.take() {
            let sealed = self.pipeline.context.check().and_then(|()| self.seal(task, &mut scratch));
            match sealed {
                Ok(columns) => self.commit(task, reserved, columns),
                Err(error) if (self.pipeline.spared)(self.pipeline.task(task).1, &error) => {
                    self.spare(task, reserved, error);
                }
                Err(error) => self.fail(error),
            }
        }
        std::mem::forget(guard);
    }

    /// The next unit and the bytes reserved for it.
    fn take(&self) -> Option<(usize, u64)> {
        let mut state = self.lock();
        let (total, units) = (self.pipeline.total(), self.pipeline.units.units.len());
        while state.next < total && state.failed.contains_key(&(state.next % units)) {
            state.next += 1;
        }
        let task = state.next;
        if state.stop || task >= total {
            return None;
        }
        state.next += 1;
        let bytes = self.pipeline.estimate(task);
        while !state.stop
            && state.failed.is_empty()
            && state.turn != task
            && state.in_flight.saturating_add(bytes) > self.pipeline.budget
        {
            state = self.change.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.stop {
            return None;
        }
        state.in_flight = state.in_flight.saturating_add(bytes);
        Some((task, bytes))
    }

    /// Reads and seals one unit.
    fn seal(&self, task: usize, scratch: &mut Scratch) -> Result<Vec<SealedColumn>> {
        let Pipeline { units, settings, clusters, .. } = self.pipeline;
        let (cluster, unit) = self.pipeline.task(task);
        units
            .read(unit, cluster, &clusters[cluster])
            .and_then(|data| {
                self.pipeline.digests.add(task % units.units.len(), cluster, &data);
                units.seal(unit, &data, settings, scratch)
            })
            .at(|place| place.cluster = Some(cluster as u64))
    }

    /// Puts a sealed unit in line and writes whatever is next, unless another thread does.
    fn commit(&self, task: usize, reserved: u64, columns: Vec<SealedColumn>) {
        let pages = columns.iter().flat_map(|column| &column.pages);
        let bytes: u64 = pages.map(|page| page.bytes.len() as u64).sum();
        let mut state = self.lock();
        state.in_flight = state.in_flight.saturating_sub(reserved);
        if !state.failed.is_empty() {
            return;
        }
        state.in_flight = state.in_flight.saturating_add(bytes);
        state.waiting.insert(task, Sealed { columns, bytes });
        self.change.notify_all();
        while !state.stop {
            let turn = state.turn;
            if !state.waiting.contains_key(&turn) {
                return;
            }
            let Some(writer) = state.writer.take() else { return };
            let Some(sealed) = state.waiting.remove(&turn) else { return };
            drop(state);
            let written = self.write(writer, turn, sealed.columns);
            let input = self.pipeline.input_bytes(turn);
            state = self.lock();
            state.writer = Some(writer);
            state.turn += 1;
            state.in_flight = state.in_flight.saturating_sub(sealed.bytes);
            state.done_bytes += input;
            let unit = turn % self.pipeline.units.units.len();
            state.written.unit_bytes[unit] += sealed.bytes;
            self.change.notify_all();
            let done = state.done_bytes;
            if let Err(error) = written {
                drop(state);
                return self.fail(error);
            }
            drop(state);
            self.pipeline.report(done);
            state = self.lock();
        }
    }

    fn write(&self, writer: &mut Writer, task: usize, columns: Vec<SealedColumn>) -> Result<()> {
        let (cluster, _) = self.pipeline.task(task);
        let unit = task % self.pipeline.units.units.len();
        if unit == 0 {
            let entries = &self.pipeline.clusters[cluster];
            writer.begin_cluster(entries.end - entries.start)?;
        }
        columns.into_iter().try_for_each(|column| writer.put(column))?;
        if unit + 1 == self.pipeline.units.units.len() {
            writer.commit_cluster()?;
        }
        Ok(())
    }

    /// Takes note of a unit that fails. The others are still tried, to know all that do.
    fn spare(&self, task: usize, reserved: u64, error: Error) {
        let mut state = self.lock();
        state.failed.entry(task % self.pipeline.units.units.len()).or_insert(error);
        state.in_flight = state.in_flight.saturating_sub(reserved);
        state.waiting.clear();
        drop(state);
        self.pipeline.digests.stop();
        self.change.notify_all();
    }

    fn fail(&self, error: Error) {
        let mut state = self.lock();
        state.error.get_or_insert(error);
        state.stop = true;
        drop(state);
        self.pipeline.digests.stop();
        self.change.notify_all();
    }
}

struct StopOnDrop<'a, 'b>(&'a Shared<'b>);

impl Drop for StopOnDrop<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().stop = true;
        self.0.pipeline.digests.stop();
        self.0.change.notify_all();
    }
}
