//! Reads and seals the units of all clusters on all threads, and writes them in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use nyssa_rntuple::page::SealedColumn;
use nyssa_rntuple::seal::{Scratch, SealSettings};
use nyssa_rntuple::write::Writer;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::pipeline::{Next, Pipeline, Plan, Threads};

use super::clusters::{Sizes, stored};
use super::digests::Digests;
use super::model::{OutputField, Source};
use super::read_ahead::{self, UnitReadAhead};
use super::sample_baskets::SampleBaskets;
use super::unit::{Data, Units};
use crate::heuristics::{convert, job};
use crate::job::clusters::{Clusters, PlannedCluster};
use crate::job::cutting::Cutter;
use crate::job::largest_part::{LargestPart, entries_of};

/// A conversion whose plan is complete.
pub(super) struct Work<'a> {
    pub units: &'a Units<'a>,
    pub sizes: &'a Sizes,
    pub settings: &'a SealSettings,
    /// The baskets that samples have fetched.
    pub sample_baskets: &'a Arc<SampleBaskets>,
    /// The largest size in bytes of the decoded and sealed data that are in memory at the same time.
    pub memory: u64,
    /// The number of compressed bytes of the input, for progress.
    pub total_bytes: u64,
    /// Whether the conversion starts again without a unit that failed. Then nothing more is written, but the other
    /// units are still tried.
    pub may_leave_out: &'a (dyn Fn(&OutputField, &Error) -> bool + Sync),
    /// The digests of the values that are read.
    pub digests: &'a Digests,
    /// The largest data of a unit in a cluster.
    pub largest: &'a LargestPart,
    pub context: &'a Context,
}

/// The reason why a conversion stopped before its end.
pub(super) enum Abort {
    Error(Error),
    /// Units that failed, by index. The options allow all of them to be left out.
    Units(BTreeMap<usize, Error>),
}

impl From<Error> for Abort {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// The sizes of the output, and notes.
#[derive(Default)]
pub(super) struct Written {
    /// The number of compressed bytes of the columns of each unit.
    pub unit_bytes: Vec<u64>,
    /// The numbers of bytes of each column before and after compression.
    pub column_bytes: Vec<(u64, u64)>,
    /// Notes on the clusters.
    pub notes: Vec<String>,
}

impl Work<'_> {
    /// Writes all clusters with `writer`.
    ///
    /// # Errors
    /// The first error of any unit; `Cancelled`; or the units that are left out of the next attempt.
    pub(super) fn run(
        &self,
        mut cutter: Cutter,
        writer: &mut Writer,
    ) -> std::result::Result<Written, Abort> {
        let count = self.units.units.len();
        if count == 0 {
            write_entries(&mut cutter, writer)?;
            return Ok(Written::default());
        }
        let clusters = Clusters::new(cutter, job::CLUSTERS_AHEAD.max(convert::UNITS_AHEAD / count));
        let plan = UnitPlan {
            work: self,
            clusters,
            next: 0,
            failed: BTreeMap::new(),
            ahead: BTreeMap::new(),
        };
        let mut written = Written {
            unit_bytes: vec![0; count],
            column_bytes: vec![(0, 0); self.units.schema.columns.len()],
            notes: Vec::new(),
        };
        let mut done = 0;
        let write = |task: &Task, columns: Vec<SealedColumn>| {
            let total = self.write(task, columns, writer, &mut written)?;
            done += self.input_bytes(task);
            self.context.report(done.min(self.total_bytes), self.total_bytes);
            Ok(total)
        };
        let pipeline =
            Pipeline { threads: Threads::Pool, bytes: self.memory, context: self.context };
        let make = |task: &Task, scratch: &mut Scratch| self.seal(task, scratch);
        let size = |columns: &Vec<SealedColumn>| {
            columns.iter().map(|column| column.page_bytes().1).sum::<u64>()
        };
        let plan = pipeline.run(plan, make, size, write)?;
        if !plan.failed.is_empty() {
            return Err(Abort::Units(plan.failed));
        }
        written.notes = plan.clusters.notes(self.memory);
        Ok(written)
    }

    /// Returns the compressed bytes that a unit reads. Counters are read with the offsets.
    fn input_bytes(&self, task: &Task) -> u64 {
        let unit = self.units.units.get(task.unit);
        let branch = unit.and_then(|unit| match &unit.source {
            Source::Offsets(counter) => self.units.reader.branch(&counter.branch),
            _ => self.units.inputs.get(unit.input()?).map(|input| input.branch),
        });
        branch.map_or(0, |branch| stored(branch, &task.entries))
    }

    /// Reads and seals one unit.
    fn seal(&self, task: &Task, scratch: &mut Scratch) -> Result<Vec<SealedColumn>> {
        let Self { units, settings, .. } = self;
        let Some(unit) = units.units.get(task.unit) else { return Ok(Vec::new()) };
        let path = || units.schema.path(unit.field);
        let _stage = nyssa_observe::stage!("field", column = path().as_str());
        let held = task.ahead.as_ref().map(|ahead| ahead.hold(task.unit, self.context));
        let read = units.read(unit, task.cluster, &task.entries);
        drop(held);
        read.and_then(|data| {
            self.digests.add(task.unit, task.cluster, &data);
            if let Data::Array(array) | Data::Streamed { bytes: array, .. } = &data {
                let name = || entries_of(&task.entries, &path());
                self.largest.add(std::slice::from_ref(array), name);
            }
            units.seal(unit, &data, settings, scratch)
        })
        .at(|place| place.cluster = Some(task.cluster as u64))
    }

    /// Writes one unit. At the end of a cluster, it returns the stored bytes of all clusters.
    fn write(
        &self,
        task: &Task,
        columns: Vec<SealedColumn>,
        writer: &mut Writer,
        written: &mut Written,
    ) -> Result<Option<u64>> {
        if task.unit == 0 {
            writer.begin_cluster(task.entries.end - task.entries.start)?;
        }
        for column in columns {
            let (before, after) = column.page_bytes();
            if let Some(total) = written.column_bytes.get_mut(column.column.0 as usize) {
                *total = (total.0 + before, total.1 + after);
            }
            written.unit_bytes[task.unit] += after;
            writer.put(column)?;
        }
        if task.unit + 1 < self.units.units.len() {
            return Ok(None);
        }
        writer.commit_cluster()?;
        Ok(Some(writer.report().compressed_bytes))
    }
}

/// Writes clusters without fields, for a tree without branches.
fn write_entries(cutter: &mut Cutter, writer: &mut Writer) -> Result<()> {
    while let Some(entries) = cutter.next() {
        writer.begin_cluster(entries.end - entries.start)?;
        writer.commit_cluster()?;
    }
    Ok(())
}

/// A unit of a cluster.
struct Task {
    unit: usize,
    cluster: usize,
    entries: Range<u64>,
    ahead: Option<Arc<UnitReadAhead>>,
}

/// The units of clusters, one cluster after the other.
struct UnitPlan<'a> {
    work: &'a Work<'a>,
    clusters: Clusters,
    /// The number of units of all clusters.
    next: usize,
    /// The first error of each unit that failed and must be left out.
    failed: BTreeMap<usize, Error>,
    /// The baskets that the units of clusters read, by cluster; `None` if the tree is on a local disk.
    ahead: BTreeMap<usize, Option<Arc<UnitReadAhead>>>,
}

impl UnitPlan<'_> {
    /// Begins to fetch the baskets for the units of a cluster. From the middle of the cluster on, also fetches the
    /// baskets of the next cluster if it is known. Before, the bytes of this cluster are more urgent.
    fn fetch(
        &mut self,
        cluster: usize,
        unit: usize,
        entries: &Range<u64>,
    ) -> Option<Arc<UnitReadAhead>> {
        if !self.work.units.reader.reads_ahead() {
            return None;
        }
        self.ahead.retain(|&number, _| number + 1 >= cluster);
        let ahead = self.begin(cluster, entries);
        if unit >= self.work.units.units.len() / 2
            && self.failed.is_empty()
            && let PlannedCluster::Entries(next) = self.clusters.get(cluster + 1, false)
        {
            self.begin(cluster + 1, &next);
        }
        ahead
    }

    fn begin(&mut self, cluster: usize, entries: &Range<u64>) -> Option<Arc<UnitReadAhead>> {
        let Work { units, sample_baskets, context, .. } = self.work;
        let before = cluster.checked_sub(1).and_then(|before| self.ahead.get(&before)?.clone());
        let begin = || {
            let bytes = context.ahead_bytes() / convert::CLUSTERS_FETCHED;
            let Units { reader, inputs, units, .. } = **units;
            let plan = read_ahead::Plan { reader, inputs, units, sample_baskets };
            plan.begin_cluster(entries, before, bytes).map(Arc::new)
        };
        self.ahead.entry(cluster).or_insert_with(begin).clone()
    }
}

impl Plan for UnitPlan<'_> {
    type Task = Task;
    type Written = Option<u64>;

    fn next(&mut self) -> Next<Task> {
        let units = self.work.units;
        loop {
            let (cluster, unit) = (self.next / units.units.len(), self.next % units.units.len());
            // After a failure nothing is written, so that no cluster has to wait for other clusters.
            let entries = match self.clusters.get(cluster, !self.failed.is_empty()) {
                PlannedCluster::Entries(entries) => entries,
                PlannedCluster::Wait => return Next::Wait,
                PlannedCluster::None => return Next::End,
            };
            self.next += 1;
            if !self.failed.contains_key(&unit) {
                let bytes =
                    (convert::COPIES * self.work.sizes.decoded(units, unit, &entries)) as u64;
                let ahead = self.fetch(cluster, unit, &entries);
                return Next::Task(Task { unit, cluster, entries, ahead }, bytes);
            }
        }
    }

    fn written(&mut self, _: &Task, total: Option<u64>) {
        if let Some(total) = total {
            self.clusters.written(total);
        }
    }

    fn failed(&mut self, task: &Task, error: Error) -> Option<Error> {
        let unit = self.work.units.units.get(task.unit);
        if !unit.is_some_and(|unit| (self.work.may_leave_out)(unit, &error)) {
            return Some(error);
        }
        self.failed.entry(task.unit).or_insert(error);
        None
    }

    fn stopped(&self) {
        self.work.digests.stop();
    }
}
