//! Packs and moves the baskets of TTrees, on all threads, and writes them in order.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use nyssa_root::Context;
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::pipeline::{Next, Pipeline, Plan, Threads};
use nyssa_root::rootfile::writer::StoredBasket;
use nyssa_ttree::read::MovedBasket;
use nyssa_ttree::repack::{
    BasketSource, OpenedBasket, PackedBasket, PackedForm, Packer, PackingMemory, renumbered, reseal,
};
use nyssa_ttree::stored::{BranchGrowth, Growth, add_bytes};

use super::entries::Entries;
use super::form::Fate;
use super::groups::{self, Group};
use super::joined::{Joined, JoinedBasket, JoinedBranch};
use super::opened::OpenedBaskets;
use super::read_ahead::{GroupAhead, Sources};
use crate::heuristics::tree;
use crate::job::output::Output;

/// The baskets of trees, and what happens to them.
pub(crate) struct Work<'a> {
    pub joined: &'a Joined<'a>,
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
    pub progress: Progress,
}

/// The part of a job that some work is.
#[derive(Clone, Copy)]
pub(crate) struct Progress {
    /// The bytes that were done before.
    pub before: u64,
    /// The bytes of this work.
    pub own: u64,
    /// The bytes of the job.
    pub total: u64,
}

/// A unit of work: the entries of a branch in a group, or in a part of it.
struct Task {
    branch: usize,
    part: Group,
    /// The baskets of its group that are being fetched, and its number there.
    ahead: Option<(Arc<GroupAhead>, usize)>,
}

/// The memory that all threads share.
struct BasketMemory {
    packing: PackingMemory,
    opened: OpenedBaskets,
}

/// A basket that is decompressed, its number, and the places of its entries if only a counter says them.
struct Current {
    number: usize,
    basket: Arc<OpenedBasket>,
    offsets: Option<Vec<usize>>,
}

/// A basket that is ready to be written.
enum Made {
    Packed(PackedBasket),
    /// The first entry of a basket with the key of the input, and the basket.
    Moved(u64, MovedBasket),
}

impl Made {
    fn memory(&self) -> usize {
        match self {
            Self::Packed(basket) => basket.payload.len(),
            Self::Moved(_, basket) => basket.payload.len(),
        }
    }
}

impl Work<'_> {
    /// Writes all baskets, and records them in `growth`.
    ///
    /// # Errors
    /// `OutOfSpecification` for damaged baskets; `Unsupported` for baskets that cannot be taken apart; `Cancelled`; an
    /// error if an input cannot be read or the output cannot be written.
    pub(crate) fn run(&self, output: &Output, growth: &mut Growth) -> Result<()> {
        let sources = Sources::new(self.joined, self.context)?;
        let plan = TaskPlan {
            work: self,
            sources: &sources,
            group: 0,
            last: vec![None; self.fates.len()],
            ready: VecDeque::new(),
            next: None,
        };
        let shared = BasketMemory {
            packing: PackingMemory::default(),
            opened: OpenedBaskets::new(self.memory / tree::OPENED_DIVISOR),
        };
        let total = self.groups.len() as u64 * self.fates.len() as u64;
        let Progress { before, own, total: all } = self.progress;
        let mut done = 0;
        let make = |task: &Task, (): &mut ()| {
            self.make(task, &sources, &shared).in_field(&self.branch(task).path)
        };
        let size = |made: &Vec<Made>| made.iter().map(|item| item.memory() as u64).sum();
        let write = |task: &Task, made: Vec<Made>| {
            let branch = &mut growth.branches[task.branch];
            for basket in &made {
                let written = self.write(output, task, basket, branch);
                let bytes = written.in_field(&self.branch(task).path)?;
                add_bytes(&mut growth.bytes, bytes);
            }
            done = (done + 1).min(total);
            let part = done as f64 / total.max(1) as f64;
            self.context.report(before + (own as f64 * part) as u64, all);
            Ok(())
        };
        let pipeline = Pipeline {
            threads: Threads::Pool,
            bytes: self.memory / tree::FLIGHT_DIVISOR,
            context: self.context,
        };
        pipeline.run(plan, make, size, write).map(drop)
    }

    fn branch(&self, task: &Task) -> &JoinedBranch {
        &self.joined.branches[task.branch]
    }

    /// Returns about how many bytes the entries of a branch have, before compression.
    fn bytes(&self, branch: &JoinedBranch, group: &Group) -> f64 {
        let entries: u64 = group.iter().map(|range| range.end - range.start).sum();
        let all = self.joined.entries.end - self.joined.entries.start;
        branch.bytes as f64 * (entries as f64 / all.max(1) as f64)
    }

    fn make(&self, task: &Task, sources: &Sources, shared: &BasketMemory) -> Result<Vec<Made>> {
        let ahead = task.ahead.as_ref();
        let held = ahead.map(|(ahead, number)| ahead.hold(*number, self.context));
        let made = match &self.fates[task.branch] {
            Fate::LeftOut => Ok(Vec::new()),
            Fate::Moved => self.moved(task, sources, (None, shared)),
            Fate::Resealed(compression) => self.moved(task, sources, (Some(*compression), shared)),
            Fate::Packed(form) => self.packed(task, form, sources, shared),
        };
        drop(held);
        made
    }

    /// Returns the baskets that begin in the part. All entries are taken.
    fn moved(
        &self,
        task: &Task,
        sources: &Sources,
        (compression, shared): (Option<Compression>, &BasketMemory),
    ) -> Result<Vec<Made>> {
        let (branch, numbers) = (self.branch(task), self.begun(task));
        let baskets = branch.baskets.get(numbers.clone()).unwrap_or_default();
        let raw = sources.read(self.joined, baskets.iter())?;
        let one = |(JoinedBasket { first, basket, tree }, raw): (&JoinedBasket, Bytes)| {
            let processes = (&self.joined.tree(*tree)?.processes, &*branch.path);
            let moved = match (compression, &basket.embedded) {
                (None, None) => {
                    renumbered(&raw, basket, branch.compression, processes, &shared.packing)
                }
                (compression, _) => {
                    let compression = compression.unwrap_or(self.compression);
                    reseal(&raw, basket, compression, processes, &shared.packing)
                }
            };
            Ok(Made::Moved(*first, moved?))
        };
        let numbered = baskets.iter().zip(raw).zip(numbers);
        numbered.map(|(basket, number)| self.in_basket(branch, number, one(basket))).collect()
    }

    /// Packs the entries of a part.
    fn packed(
        &self,
        task: &Task,
        form: &PackedForm,
        sources: &Sources,
        BasketMemory { packing, opened }: &BasketMemory,
    ) -> Result<Vec<Made>> {
        let branch = self.branch(task);
        let needed = self.needed(task);
        let kept =
            needed.first().and_then(|&first| Some((first, opened.take(task.branch, first)?)));
        let known = |number: usize| kept.as_ref().is_some_and(|(kept, _)| *kept == number);
        let missing: Vec<usize> = needed.into_iter().filter(|&number| !known(number)).collect();
        let raw = missing.iter().filter_map(|&number| branch.baskets.get(number));
        let raw = sources.read(self.joined, raw)?;
        let mut coming = missing.into_iter().zip(raw);
        let current = |number, basket: Arc<OpenedBasket>| -> Result<Current> {
            let offsets = self.counted_offsets(branch, number, &basket, sources)?;
            Ok(Current { number, basket, offsets })
        };
        let mut now = kept.map(|(number, basket)| current(number, basket)).transpose()?;
        let mut packer =
            Packer::new(form, task.part.first().map_or(0, |range| range.start), packing);
        for range in &task.part {
            for (number, cuts) in self.cuts(branch, range)? {
                while now.as_ref().is_none_or(|known| known.number != number) {
                    let (number, raw) = coming.next().ok_or_else(|| {
                        Error::out_of_spec("its baskets are not in order of entries")
                    })?;
                    let opened = self.opened(branch, number, &raw);
                    let opened = self.in_basket(branch, number, opened)?;
                    now = Some(current(number, Arc::new(opened))?);
                }
                if let Some(Current { basket, offsets, .. }) = &now {
                    let JoinedBasket { tree, basket: place, .. } = &branch.baskets[number];
                    let references = &self.joined.tree(*tree)?.entry_references;
                    let source = BasketSource { references, path: &branch.path, place };
                    let added = packer.add((basket, Some(source)), &cuts, offsets.as_deref());
                    self.in_basket(branch, number, added)?;
                }
            }
            packer.flush()?;
        }
        if let Some(Current { number, basket, .. }) = now {
            opened.keep(task.branch, number, basket);
        }
        Ok(packer.finish()?.into_iter().map(Made::Packed).collect())
    }

    /// Returns the numbers of the baskets with entries of a range of the output, and these entries, counted from the first
    /// of their basket.
    fn cuts(
        &self,
        branch: &JoinedBranch,
        range: &Range<u64>,
    ) -> Result<Vec<(usize, Vec<Range<u64>>)>> {
        let mut cuts: Vec<(usize, Vec<Range<u64>>)> = Vec::new();
        let mut number = 0;
        for rows in self.entries.of(range) {
            let mut next = rows.start;
            while next < rows.end {
                if branch.baskets.get(number).is_none_or(|basket| !basket.holds(next)) {
                    number = branch.basket_of(next);
                }
                let basket = branch.baskets.get(number).filter(|basket| basket.holds(next));
                let basket = basket
                    .ok_or_else(|| Error::out_of_spec(format!("no basket has the entry {next}")))?;
                let end = rows.end.min(basket.end());
                let cut = next - basket.first..end - basket.first;
                match cuts.last_mut() {
                    Some((last, of_basket)) if *last == number => of_basket.push(cut),
                    _ => cuts.push((number, vec![cut])),
                }
                next = end;
            }
        }
        Ok(cuts)
    }

    /// Opens a basket, whose processes get new numbers.
    fn opened(&self, branch: &JoinedBranch, number: usize, raw: &[u8]) -> Result<OpenedBasket> {
        let JoinedBasket { tree, basket, .. } = &branch.baskets[number];
        let mut opened = OpenedBasket::open(raw, basket)?;
        opened.renumber(&self.joined.tree(*tree)?.processes, &branch.path, basket)?;
        Ok(opened)
    }

    /// Adds the number of a basket and the file of its tree to errors.
    fn in_basket<T>(&self, branch: &JoinedBranch, number: usize, found: Result<T>) -> Result<T> {
        found.at(|place| {
            let basket = branch.baskets.get(number);
            let source = basket.and_then(|basket| self.joined.source(basket.tree).ok());
            place.file = source.map(|source| source.name().to_owned());
            place.basket = Some(number as u64);
        })
    }

    /// Returns where the entries of a basket begin and where the last one ends, if only a counter says it.
    fn counted_offsets(
        &self,
        branch: &JoinedBranch,
        number: usize,
        basket: &OpenedBasket,
        sources: &Sources,
    ) -> Result<Option<Vec<usize>>> {
        let Some(counted) = branch.counted else { return Ok(None) };
        if !basket.is_counted()? {
            return Ok(None);
        }
        let (place, counter) = (&branch.baskets[number], &self.joined.branches[counted.counter]);
        let rows = place.first..place.end();
        let numbers = counter.needed(&rows);
        let baskets = counter.baskets.get(numbers).unwrap_or_default();
        let raw = sources.read(self.joined, baskets.iter())?;
        let (mut offsets, mut end) = (vec![0], 0_usize);
        for (place, raw) in baskets.iter().zip(raw) {
            let opened = OpenedBasket::open(&raw, &place.basket).in_field(&counter.path)?;
            let (from, to) = (rows.start.max(place.first), rows.end.min(place.end()));
            let own = from - place.first..to.saturating_sub(place.first);
            for count in opened.counts(own).in_field(&counter.path)? {
                end = end.saturating_add(count.saturating_mul(counted.item_size));
                offsets.push(end);
            }
        }
        Ok(Some(offsets))
    }

    /// Returns the numbers of the baskets that begin in the part.
    fn begun(&self, task: &Task) -> Range<usize> {
        let (Some(first), Some(last)) = (task.part.first(), task.part.last()) else { return 0..0 };
        let branch = self.branch(task);
        branch.basket_from(first.start)..branch.basket_from(last.end)
    }

    /// Returns the numbers of the baskets with the entries of a task.
    fn needed(&self, task: &Task) -> Vec<usize> {
        let branch = self.branch(task);
        let mut needed: Vec<usize> = Vec::new();
        for rows in task.part.iter().flat_map(|range| self.entries.of(range)) {
            let last = needed.last().and_then(|&last| branch.baskets.get(last));
            if last.is_some_and(|last| rows.end <= last.end()) {
                continue;
            }
            let Range { start, end } = branch.needed(&rows);
            needed.extend(start.max(needed.last().map_or(0, |last| last + 1))..end);
        }
        needed
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
                let stored =
                    StoredBasket { dir, branch: name, tree, number, header, objlen: *objlen };
                let place = output.file.with(|file| file.write_basket(&stored, payload))?;
                (*first, form.keylen(), *objlen, place)
            }
            (Made::Moved(first, MovedBasket { head, payload, objlen }), _) => {
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

/// The tasks: branch after branch, group after group.
struct TaskPlan<'a> {
    work: &'a Work<'a>,
    sources: &'a Sources,
    /// The next group.
    group: usize,
    /// The last basket of each branch that was needed.
    last: Vec<Option<usize>>,
    ready: VecDeque<Task>,
    /// The tasks of the group behind those that are ready, whose baskets are being fetched.
    next: Option<VecDeque<Task>>,
}

impl Plan for TaskPlan<'_> {
    type Task = Task;
    type Written = ();

    fn next(&mut self) -> Next<Task> {
        loop {
            if let Some(task) = self.ready.pop_front() {
                // The bytes of the input and of the output are in memory at the same time.
                let bytes = self.work.bytes(self.work.branch(&task), &task.part) as u64;
                return Next::Task(task, bytes);
            }
            let Some(tasks) = self.next.take().or_else(|| self.prepare()) else { return Next::End };
            self.ready = tasks;
            if self.sources.reads_ahead() {
                self.next = self.prepare();
            }
        }
    }

    fn written(&mut self, _: &Task, (): ()) {}
}

impl TaskPlan<'_> {
    /// Makes the tasks of the next group, and begins to fetch their baskets.
    fn prepare(&mut self) -> Option<VecDeque<Task>> {
        let work = self.work;
        let group = work.groups.get(self.group)?;
        self.group += 1;
        let mut tasks = VecDeque::new();
        for (at, (fate, branch)) in work.fates.iter().zip(&work.joined.branches).enumerate() {
            let parts = match fate {
                _ if branch.baskets.is_empty() => Vec::new(),
                Fate::LeftOut => Vec::new(),
                Fate::Moved => vec![group.clone()],
                Fate::Resealed(_) | Fate::Packed(_) => {
                    groups::parts(group, work.bytes(branch, group))
                }
            };
            tasks.extend(parts.into_iter().map(|part| Task { branch: at, part, ahead: None }));
        }
        if self.sources.reads_ahead() {
            let ranges: Vec<_> = tasks.iter().map(|task| self.ranges(task)).collect();
            let ahead = Arc::new(self.sources.announce(&ranges));
            for (number, task) in tasks.iter_mut().enumerate() {
                task.ahead = Some((Arc::clone(&ahead), number));
            }
        }
        Some(tasks)
    }

    /// Returns the baskets that a task reads: the tree and the place of each of them. The task before keeps the basket
    /// that both need. A basket with a wrong place is read later, with its error.
    fn ranges(&mut self, task: &Task) -> Vec<(usize, Range<u64>)> {
        let work = self.work;
        let numbers = match work.fates[task.branch] {
            Fate::Packed(_) => work.needed(task),
            _ => work.begun(task).collect(),
        };
        let before = std::mem::replace(&mut self.last[task.branch], numbers.last().copied());
        let new = numbers.into_iter().filter(|number| Some(*number) != before);
        let baskets = new.filter_map(|number| work.branch(task).baskets.get(number));
        baskets.filter_map(|basket| Some((basket.tree, work.joined.range(basket).ok()??))).collect()
    }
}
