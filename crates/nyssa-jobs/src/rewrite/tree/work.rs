//! Packs and moves the baskets of a TTree, on all threads, and writes them in order.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use nyssa_root::Context;
use nyssa_root::compression::{Compression, Compressor};
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::fetch::read_all;
use nyssa_root::pipeline::{Next, Pipeline, Plan, Threads};
use nyssa_root::rootfile::RootFile;
use nyssa_root::rootfile::writer::StoredBasket;
use nyssa_ttree::Basket;
use nyssa_ttree::read::{Expected, MovedBasket};
use nyssa_ttree::repack::{OpenedBasket, PackedBasket, PackedForm, Packer, PackingMemory};
use nyssa_ttree::stored::{BranchGrowth, Growth, StoredBranch, StoredTree, add_bytes};

use super::entries::Entries;
use super::form::Fate;
use super::groups::{self, Group};
use super::opened::OpenedBaskets;
use crate::heuristics::tree;
use crate::job::output::Output;

/// The baskets of one tree, and what happens to them.
pub(super) struct Work<'a> {
    pub input: &'a RootFile,
    pub tree: &'a StoredTree,
    pub fates: &'a [Fate],
    pub entries: &'a Entries,
    /// The clusters that are written together.
    pub groups: &'a [Group],
    /// The directory of the tree in the output.
    pub dir: &'a str,
    /// The compression of baskets that were inside the tree, and are moved.
    pub compression: Compression,
    pub memory: u64,
    pub context: &'a Context,
}

/// What is done at once: the entries of a branch in a group, or in a part of it.
struct Task {
    branch: usize,
    part: Group,
}

/// A basket that is ready to be written.
enum Made {
    Packed(PackedBasket),
    /// A basket with the key of the input.
    Moved {
        first: u64,
        head: Vec<u8>,
        payload: Vec<u8>,
        objlen: u64,
    },
}

impl Made {
    fn memory(&self) -> usize {
        match self {
            Self::Packed(basket) => basket.payload.len(),
            Self::Moved { payload, .. } => payload.len(),
        }
    }
}

impl Work<'_> {
    /// Writes all baskets, and records them in `growth`.
    ///
    /// # Errors
    /// `OutOfSpecification` for damaged baskets; `Unsupported` for baskets that cannot be taken apart; `Cancelled`; an error
    /// if the input cannot be read or the output cannot be written.
    pub(super) fn run(&self, output: &Output, growth: &mut Growth) -> Result<()> {
        let plan = TaskPlan { work: self, group: 0, branch: 0, parts: Vec::new() };
        let memory = PackingMemory::default();
        let opened = OpenedBaskets::new(self.memory / tree::OPENED_DIVISOR);
        let total = self.groups.len() as u64 * self.fates.len() as u64;
        let mut done = 0;
        let make = |task: &Task, (): &mut ()| {
            self.make(task, (&memory, &opened)).in_field(&self.branch(task).path)
        };
        let size = |made: &Vec<Made>| made.iter().map(|one| one.memory() as u64).sum();
        let write = |task: &Task, made: Vec<Made>| {
            let branch = &mut growth.branches[task.branch];
            for basket in &made {
                let written = self.write(output, task, basket, branch);
                let bytes = written.in_field(&self.branch(task).path)?;
                add_bytes(&mut growth.bytes, bytes);
            }
            done = (done + 1).min(total);
            self.context.report(done, total);
            Ok(())
        };
        let pipeline = Pipeline {
            threads: Threads::Pool,
            bytes: self.memory / tree::FLIGHT_DIVISOR,
            context: self.context,
        };
        pipeline.run(plan, make, size, write).map(drop)
    }

    fn branch(&self, task: &Task) -> &StoredBranch {
        &self.tree.branches[task.branch]
    }

    /// Returns about how many bytes the entries of a branch have, before compression.
    fn bytes(&self, branch: &StoredBranch, group: &Group) -> f64 {
        let entries: u64 = group.iter().map(|range| range.end - range.start).sum();
        let share = entries as f64 / self.tree.entries.max(1) as f64;
        branch.bytes.0.max(0) as f64 * share
    }

    fn make(&self, task: &Task, shared: (&PackingMemory, &OpenedBaskets)) -> Result<Vec<Made>> {
        match &self.fates[task.branch] {
            Fate::LeftOut => Ok(Vec::new()),
            Fate::Moved => self.moved(task),
            Fate::Packed(form) => self.packed(task, form, shared),
        }
    }

    /// Returns the baskets that begin in the part. All entries of the tree are taken.
    fn moved(&self, task: &Task) -> Result<Vec<Made>> {
        let baskets = &self.branch(task).baskets;
        let (Some(first), Some(last)) = (task.part.first(), task.part.last()) else {
            return Ok(Vec::new());
        };
        let begin = baskets.partition_point(|basket| basket.first_entry < first.start);
        let end = baskets.partition_point(|basket| basket.first_entry < last.end);
        let baskets = baskets.get(begin..end).unwrap_or_default();
        let raw = self.read(baskets.iter())?;
        let numbered = baskets.iter().zip(raw).zip(begin..);
        numbered
            .map(|((basket, raw), number)| self.moved_one(basket, &raw).in_basket(number))
            .collect()
    }

    fn moved_one(&self, basket: &Basket, raw: &[u8]) -> Result<Made> {
        let (first, expected) = (basket.first_entry, Expected::of(basket));
        let Some(streamed) = &basket.embedded else {
            let (head, payload, objlen) = MovedBasket::stored(raw, &expected)?;
            return Ok(Made::Moved {
                first,
                head: head.to_vec(),
                payload: payload.to_vec(),
                objlen,
            });
        };
        let MovedBasket { head, payload, objlen } = MovedBasket::embedded(streamed, &expected)?;
        let mut compressed = Vec::new();
        Compressor::new(self.compression)?.with_checksums()?.compress(&payload, &mut compressed)?;
        Ok(Made::Moved { first, head, payload: compressed, objlen })
    }

    /// Packs the entries of a part.
    fn packed(
        &self,
        task: &Task,
        form: &PackedForm,
        (memory, opened): (&PackingMemory, &OpenedBaskets),
    ) -> Result<Vec<Made>> {
        let baskets = &self.branch(task).baskets;
        let needed = self.needed(task);
        let kept =
            needed.first().and_then(|&first| Some((first, opened.take(task.branch, first)?)));
        let known = |number: usize| kept.as_ref().is_some_and(|(kept, _)| *kept == number);
        let missing: Vec<usize> = needed.into_iter().filter(|&number| !known(number)).collect();
        let raw = self.read(missing.iter().map(|&number| &baskets[number]))?;
        let mut coming = missing.into_iter().zip(raw);
        let mut now = kept.clone();
        let mut packer =
            Packer::new(form, task.part.first().map_or(0, |range| range.start), memory);
        for range in &task.part {
            for rows in self.entries.of(range) {
                let mut next = rows.start;
                while next < rows.end {
                    let number = basket_of(baskets, next);
                    let basket = baskets.get(number).ok_or_else(|| {
                        Error::out_of_spec(format!("no basket has the entry {next}"))
                    })?;
                    while now.as_ref().is_none_or(|(known, _)| *known != number) {
                        let (number, raw) = coming.next().ok_or_else(|| {
                            Error::out_of_spec("its baskets are not in order of entries")
                        })?;
                        let opened =
                            OpenedBasket::open(&raw, &baskets[number]).in_basket(number)?;
                        now = Some((number, Arc::new(opened)));
                    }
                    let end = rows.end.min(basket.first_entry.saturating_add(basket.entries));
                    if let Some((_, opened)) = &now {
                        let cut = next - basket.first_entry..end - basket.first_entry;
                        packer.add(opened, cut).in_basket(number)?;
                    }
                    next = end;
                }
            }
            packer.flush()?;
        }
        if let Some((number, basket)) = now {
            opened.keep(task.branch, number, basket);
        }
        Ok(packer.finish()?.into_iter().map(Made::Packed).collect())
    }

    /// Returns the numbers of the baskets with the entries of a task.
    fn needed(&self, task: &Task) -> Vec<usize> {
        let baskets = &self.branch(task).baskets;
        let mut needed = Vec::new();
        for rows in task.part.iter().flat_map(|range| self.entries.of(range)) {
            let first = basket_of(baskets, rows.start);
            let end = baskets.partition_point(|basket| basket.first_entry < rows.end);
            let first = first.max(needed.last().map_or(0, |last| last + 1));
            needed.extend(first..end);
        }
        needed
    }

    /// Reads baskets. Those inside the tree have no bytes of their own.
    fn read<'b>(&self, baskets: impl Iterator<Item = &'b Basket>) -> Result<Vec<Bytes>> {
        let end = self.input.source().size();
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for basket in baskets {
            let range = match basket.embedded {
                Some(_) => 0..0,
                None => basket.seek..basket.seek.saturating_add(basket.bytes),
            };
            if range.end > end {
                return Err(Error::out_of_spec(format!(
                    "the basket is said to end at byte {}, the file ends at byte {end}",
                    range.end
                )));
            }
            ranges.push(range);
        }
        read_all(self.input.source(), &ranges)
    }

    /// Writes a basket, and returns its bytes before compression and as stored.
    fn write(
        &self,
        output: &Output,
        task: &Task,
        made: &Made,
        branch: &mut BranchGrowth,
    ) -> Result<(i64, i64)> {
        let (dir, number) = (self.dir, branch.baskets.len() as u64);
        let (first, keylen, objlen, place) = match (made, &self.fates[task.branch]) {
            (Made::Packed(basket), Fate::Packed(form)) => {
                let PackedBasket { first, header, payload, objlen } = basket;
                let (name, tree) = (form.name.as_str(), form.tree.as_str());
                let stored = StoredBasket {
                    dir,
                    branch: name,
                    tree,
                    number,
                    header,
                    payload,
                    objlen: *objlen,
                };
                let place = output.file.with(|file| file.write_basket(&stored))?;
                (*first, form.keylen(), *objlen, place)
            }
            (Made::Moved { first, head, payload, objlen }, _) => {
                let place = output
                    .file
                    .with(|file| file.copy_basket((dir, number), head, payload, *objlen))?;
                (*first, head.len(), *objlen, place)
            }
            (Made::Packed(_), _) => return Err(Error::invalid_argument("a basket without a form")),
        };
        branch.baskets.push((first, place.0, place.1));
        let bytes = (keylen as i64 + objlen as i64, place.1 as i64);
        add_bytes(&mut branch.bytes, bytes);
        Ok(bytes)
    }
}

/// Returns the number of the basket with an entry.
fn basket_of(baskets: &[Basket], entry: u64) -> usize {
    baskets.partition_point(|basket| basket.first_entry <= entry).saturating_sub(1)
}

/// The tasks: branch after branch, group after group.
struct TaskPlan<'a> {
    work: &'a Work<'a>,
    group: usize,
    branch: usize,
    /// The parts of the group for the branch before, the last one first.
    parts: Vec<Group>,
}

impl Plan for TaskPlan<'_> {
    type Task = Task;
    type Written = ();

    fn next(&mut self) -> Next<Task> {
        let work = self.work;
        loop {
            if let Some(part) = self.parts.pop() {
                let branch = self.branch - 1;
                // The bytes of the input and of the output are in memory at the same time.
                let bytes = work.bytes(&work.tree.branches[branch], &part) as u64;
                return Next::Task(Task { branch, part }, bytes);
            }
            let Some(group) = work.groups.get(self.group) else { return Next::End };
            match work.fates.get(self.branch) {
                None => (self.group, self.branch) = (self.group + 1, 0),
                Some(fate) => {
                    let branch = &work.tree.branches[self.branch];
                    self.branch += 1;
                    if !branch.baskets.is_empty() {
                        self.parts = match fate {
                            Fate::LeftOut => Vec::new(),
                            Fate::Moved => vec![group.clone()],
                            Fate::Packed(_) => groups::parts(group, work.bytes(branch, group)),
                        };
                        self.parts.reverse();
                    }
                }
            }
        }
    }

    fn written(&mut self, _: &Task, (): ()) {}
}

/// Adds the number of a basket to errors.
trait InBasket {
    fn in_basket(self, number: usize) -> Self;
}

impl<T> InBasket for Result<T> {
    fn in_basket(self, number: usize) -> Self {
        self.at(|place| place.basket = Some(number as u64))
    }
}
