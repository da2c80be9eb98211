//! Units on all threads, committed in order.
//!
//! Each thread takes the next unit, reads its branch and seals its columns. What is sealed waits
//! until everything before it has been written; the thread that completes the next unit in line
//! writes it and all that follow, while the others go on. A thread waits before taking a unit when
//! the bytes in flight would exceed the budget, unless its unit is the next in line, so there is
//! always one that goes on.
//!
//! Where a cluster ends follows from what clusters before it took on storage: those that are written for
//! certain, whatever the number of threads, so that the output does not depend on it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::clusters::{Sizes, stored};
use super::digests::Digests;
use super::map::{Source, Unit};
use super::unit::Units;
use crate::Context;
use crate::error::{Error, Result, ResultExt};
use crate::rntuple::page::SealedColumn;
use crate::rntuple::write::cutting::Cutter;
use crate::rntuple::write::{Scratch, SealSettings, Writer};

/// A cluster is planned when all but this many before it are written,
const AHEAD: usize = 2;
/// or more, as long as they have no more than so many units: there is work for all threads.
const UNITS_AHEAD: usize = 64;

/// A planned conversion.
pub(super) struct Pipeline<'a> {
    pub units: &'a Units<'a>,
    pub sizes: &'a Sizes,
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

/// What a pipeline did.
pub(super) struct Written {
    /// Per unit, compressed bytes of its columns.
    pub unit_bytes: Vec<u64>,
    /// Per column, bytes before and after compression.
    pub column_bytes: Vec<(u64, u64)>,
}

/// A sealed unit that waits for its turn.
struct Sealed {
    columns: Vec<SealedColumn>,
    bytes: u64,
}

/// Shared by the threads.
struct State<'w> {
    cutter: Cutter,
    /// The clusters that are planned.
    clusters: Vec<Range<u64>>,
    /// Stored bytes of those that are written, and of all together.
    cluster_bytes: Vec<u64>,
    stored: u64,
    /// No cluster comes after those.
    complete: bool,
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
    pub fn run(
        &self,
        mut cutter: Cutter,
        writer: &mut Writer,
    ) -> std::result::Result<(Written, Cutter), Stop> {
        let written = Written {
            unit_bytes: vec![0; self.units.units.len()],
            column_bytes: vec![(0, 0); self.units.schema.columns.len()],
        };
        if self.units.units.is_empty() {
            run_empty(&mut cutter, writer)?;
            return Ok((written, cutter));
        }
        let state = State {
            cutter,
            clusters: Vec::new(),
            cluster_bytes: Vec::new(),
            stored: 0,
            complete: false,
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
            None => Ok((state.written, state.cutter)),
        }
    }

    fn report(&self, done: u64) {
        self.context.report(done.min(self.total_bytes), self.total_bytes);
    }

    /// How many clusters before one may still be in flight when it is planned.
    fn ahead(&self) -> usize {
        AHEAD.max(UNITS_AHEAD / self.units.units.len().max(1))
    }

    /// Cluster and unit of a task.
    fn task(&self, task: usize) -> (usize, &Unit) {
        let units = self.units.units;
        (task / units.len(), &units[task % units.len()])
    }

    /// Bytes of decoded and sealed data that a unit will take, as far as known beforehand.
    fn estimate(&self, task: usize, entries: &Range<u64>) -> u64 {
        let unit = task % self.units.units.len();
        (2.0 * self.sizes.decoded(self.units, unit, entries)) as u64
    }

    /// Zipped bytes that a unit reads; counters are read with the offsets.
    fn input_bytes(&self, task: usize, entries: &Range<u64>) -> u64 {
        let (_, unit) = self.task(task);
        let branch = match &unit.source {
            Source::Branch(index) | Source::Items(index) | Source::Streamed(index) => {
                self.units.inputs.get(*index).map(|input| input.branch)
            }
            Source::Offsets(counter) => self.units.reader.branch(&counter.branch),
        };
        branch.map_or(0, |branch| stored(branch, entries))
    }
}

/// Entries without branches are only counted.
fn run_empty(cutter: &mut Cutter, writer: &mut Writer) -> Result<()> {
    while let Some(entries) = cutter.next() {
        writer.begin_cluster(entries.end - entries.start)?;
        writer.commit_cluster()?;
    }
    Ok(())
}

/// A unit that a thread has taken.
struct Task {
    number: usize,
    entries: Range<u64>,
    /// Bytes that are reserved for it.
    reserved: u64,
}

impl State<'_> {
    /// Plans the next cluster, if all that it depends on is known.
    fn plan(&mut self, ahead: usize) {
        let number = self.clusters.len();
        let known = number.checked_sub(ahead).map(|last| self.cluster_bytes.get(last).copied());
        match known {
            // What comes after a failure is not written.
            Some(None) if self.failed.is_empty() => return,
            Some(Some(bytes)) => {
                if let Some(cluster) = self.clusters.get(number - ahead) {
                    self.cutter.took(cluster, bytes);
                }
            }
            _ => {}
        }
        match self.cutter.next() {
            Some(cluster) => self.clusters.push(cluster),
            None => self.complete = true,
        }
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
        while let Some(task) = self.take() {
            let sealed =
                self.pipeline.context.check().and_then(|()| self.seal(&task, &mut scratch));
            match sealed {
                Ok(columns) => self.commit(&task, columns),
                Err(error) if (self.pipeline.spared)(self.pipeline.task(task.number).1, &error) => {
                    self.spare(&task, error);
                }
                Err(error) => self.fail(error),
            }
        }
        std::mem::forget(guard);
    }

    /// The next unit.
    fn take(&self) -> Option<Task> {
        let mut state = self.lock();
        let units = self.pipeline.units.units.len();
        let entries = loop {
            if state.stop {
                return None;
            }
            let cluster = state.next / units;
            match state.clusters.get(cluster) {
                Some(_) if state.failed.contains_key(&(state.next % units)) => state.next += 1,
                Some(entries) => break entries.clone(),
                None if state.complete => return None,
                None => {
                    state.plan(self.pipeline.ahead());
                    if state.complete {
                        self.change.notify_all();
                    } else if state.clusters.len() <= cluster {
                        state = self.change.wait(state).unwrap_or_else(PoisonError::into_inner);
                    }
                }
            }
        };
        let number = state.next;
        state.next += 1;
        let reserved = self.pipeline.estimate(number, &entries);
        while !state.stop
            && state.failed.is_empty()
            && state.turn != number
            && state.in_flight.saturating_add(reserved) > self.pipeline.budget
        {
            state = self.change.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.stop {
            return None;
        }
        state.in_flight = state.in_flight.saturating_add(reserved);
        Some(Task { number, entries, reserved })
    }

    /// Reads and seals one unit.
    fn seal(&self, task: &Task, scratch: &mut Scratch) -> Result<Vec<SealedColumn>> {
        let Pipeline { units, settings, .. } = self.pipeline;
        let (cluster, unit) = self.pipeline.task(task.number);
        units
            .read(unit, cluster, &task.entries)
            .and_then(|data| {
                self.pipeline.digests.add(task.number % units.units.len(), cluster, &data);
                units.seal(unit, &data, settings, scratch)
            })
            .at(|place| place.cluster = Some(cluster as u64))
    }

    /// Puts a sealed unit in line and writes whatever is next, unless another thread does.
    fn commit(&self, task: &Task, columns: Vec<SealedColumn>) {
        let sizes: Vec<_> = columns.iter().map(|column| (column.column, sizes(column))).collect();
        let bytes: u64 = sizes.iter().map(|(_, (_, stored))| stored).sum();
        let mut state = self.lock();
        state.in_flight = state.in_flight.saturating_sub(task.reserved);
        if !state.failed.is_empty() {
            return;
        }
        state.in_flight = state.in_flight.saturating_add(bytes);
        for (column, (before, after)) in sizes {
            if let Some(total) = state.written.column_bytes.get_mut(column.0 as usize) {
                *total = (total.0 + before, total.1 + after);
            }
        }
        state.waiting.insert(task.number, Sealed { columns, bytes });
        self.change.notify_all();
        while !state.stop {
            let turn = state.turn;
            if !state.waiting.contains_key(&turn) {
                return;
            }
            let Some(writer) = state.writer.take() else { return };
            let Some(sealed) = state.waiting.remove(&turn) else { return };
            let units = self.pipeline.units.units.len();
            let Some(entries) = state.clusters.get(turn / units).cloned() else { return };
            drop(state);
            let written = self.write(writer, turn, &entries, sealed.columns);
            let stored = writer.report().compressed_bytes;
            let input = self.pipeline.input_bytes(turn, &entries);
            state = self.lock();
            state.writer = Some(writer);
            state.turn += 1;
            if turn % units + 1 == units {
                let before = std::mem::replace(&mut state.stored, stored);
                state.cluster_bytes.push(stored - before);
            }
            state.in_flight = state.in_flight.saturating_sub(sealed.bytes);
            state.done_bytes += input;
            let unit = turn % units;
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

    fn write(
        &self,
        writer: &mut Writer,
        task: usize,
        entries: &Range<u64>,
        columns: Vec<SealedColumn>,
    ) -> Result<()> {
        let unit = task % self.pipeline.units.units.len();
        if unit == 0 {
            writer.begin_cluster(entries.end - entries.start)?;
        }
        columns.into_iter().try_for_each(|column| writer.put(column))?;
        if unit + 1 == self.pipeline.units.units.len() {
            writer.commit_cluster()?;
        }
        Ok(())
    }

    /// Takes note of a unit that fails. The others are still tried, to know all that do.
    fn spare(&self, task: &Task, error: Error) {
        let mut state = self.lock();
        state.failed.entry(task.number % self.pipeline.units.units.len()).or_insert(error);
        state.in_flight = state.in_flight.saturating_sub(task.reserved);
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

/// Bytes of a column before and after compression.
fn sizes(column: &SealedColumn) -> (u64, u64) {
    column.pages.iter().fold((0, 0), |(before, after), page| {
        (before + page.uncompressed as u64, after + page.bytes.len() as u64)
    })
}

struct StopOnDrop<'a, 'b>(&'a Shared<'b>);

impl Drop for StopOnDrop<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().stop = true;
        self.0.pipeline.digests.stop();
        self.0.change.notify_all();
    }
}
