//! Reads branches with the branches below them and their counters.

use std::collections::HashMap;
use std::ops::Range;

use arrow_array::ArrayRef;
use arrow_buffer::OffsetBuffer;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};
use nyssa_root::guard;
use nyssa_root::streamer::ReferenceFinder;

use super::Reader;
use crate::model::{Basket, Branch, EntryKind, EntryLayout, Shape, Streamed};
use crate::read::basket::Contents;
use crate::read::branch_read::BranchRead;
use crate::read::{assemble, counts};

/// The largest depth of nested sub-branches. A file with deeper sub-branches is damaged.
const MAX_DEPTH: usize = 60;

impl Reader {
    /// Reads the branches `indices`. Split branches are read from their sub-branches. Every counter is read
    /// once, and branches share its offsets.
    pub(super) fn read_indices(
        &self,
        indices: &[usize],
        entries: &Range<u64>,
        context: Option<&Context>,
    ) -> Result<Vec<ArrayRef>> {
        let mut leaves = Vec::new();
        let mut counters = Vec::new();
        for &index in indices {
            self.expand(index, &mut leaves, &mut counters, 0)?;
        }
        let counter_of = |index: usize| {
            let source = self.branch_at(index)?.shape.as_ref().ok()?.counter()?;
            Some((source, self.counter(source)?))
        };
        counters.extend(leaves.iter().filter_map(|&index| Some(counter_of(index)?.1)));
        unique(&mut counters);
        unique(&mut leaves);
        let page_pool = context.and_then(Context::page_pool);
        let mut columns = self.columns(&counters, entries, |_| Ok(None))?;
        columns.iter_mut().for_each(|column| column.counts_others = true);
        let mut read: HashMap<usize, ArrayRef> =
            counters.into_iter().zip(self.run(&columns, context, page_pool)?).collect();
        let mut offsets = HashMap::new();
        let mut counts = |index: usize| {
            let Some((source, counter)) = counter_of(index) else { return Ok(None) };
            let (Some(array), Some(branch)) = (read.get(&counter), self.branch_at(counter)) else {
                return Ok(None);
            };
            if let Some(known) = offsets.get(source) {
                return Ok(Some(OffsetBuffer::clone(known)));
            }
            let counts = counts::offsets(array, &source.leaf, entries.start)
                .map_err(|error| self.place(error, branch))?;
            offsets.insert(source, counts.clone());
            Ok(Some(counts))
        };
        leaves.retain(|index| !read.contains_key(index));
        let columns = self.columns(&leaves, entries, &mut counts)?;
        let arrays = self.run(&columns, context, page_pool)?;
        read.extend(leaves.into_iter().zip(arrays));
        indices.iter().map(|&index| self.assemble(index, entries, &read)).collect()
    }

    /// Finds the branches with data that form a branch, and the counters of its collections.
    pub(super) fn expand(
        &self,
        index: usize,
        leaves: &mut Vec<usize>,
        counters: &mut Vec<usize>,
        depth: usize,
    ) -> Result<()> {
        let Some(branch) = self.branch_at(index) else { return Ok(()) };
        let Some(split) = branch.split.as_ref().filter(|_| depth < MAX_DEPTH) else {
            leaves.push(index);
            return Ok(());
        };
        if let Err(reason) = &split.data_type {
            return Err(self.place(Error::unsupported(reason.clone()), branch));
        }
        if let Some((_, counter)) = &split.collection {
            counters.extend(self.counter(counter));
        }
        let below = split.branches().into_iter().filter_map(|path| self.by_path.get(path));
        below.into_iter().try_for_each(|&index| self.expand(index, leaves, counters, depth + 1))
    }

    /// Builds the array of a branch from the arrays that were read from it and from its sub-branches.
    fn assemble(
        &self,
        index: usize,
        entries: &Range<u64>,
        read: &HashMap<usize, ArrayRef>,
    ) -> Result<ArrayRef> {
        let missing = || Error::invalid_argument("a branch was not read");
        let branch = self.branch_at(index).ok_or_else(missing)?;
        let _stage = nyssa_observe::stage!("assemble", column = branch.path.as_str());
        let Some(split) = &branch.split else {
            return read.get(&index).cloned().ok_or_else(missing);
        };
        let rows = guard::to_usize(entries.end - entries.start, "an entry range")?;
        let offsets = match &split.collection {
            None => None,
            Some((_, counter)) => {
                let array = self.counter(counter).and_then(|index| read.get(&index));
                let array = array.ok_or_else(|| {
                    Error::unsupported(format!("its counter {} cannot be read", counter.leaf))
                });
                let array = array.map_err(|error| self.place(error, branch))?;
                Some(counts::offsets(array, &counter.leaf, entries.start)?)
            }
        };
        let of =
            |path: &str| self.assemble(*self.by_path.get(path).ok_or_else(missing)?, entries, read);
        assemble::build(split, offsets, rows, &of).map_err(|error| self.place(error, branch))
    }

    fn columns(
        &self,
        indices: &[usize],
        entries: &Range<u64>,
        mut counts: impl FnMut(usize) -> Result<Option<OffsetBuffer<i64>>>,
    ) -> Result<Vec<BranchRead<'_>>> {
        let branches = indices.iter().filter_map(|&index| Some((index, self.branch_at(index)?)));
        branches
            .map(|(index, branch)| self.column(branch, entries.clone(), counts(index)?))
            .collect()
    }

    pub(super) fn column<'r>(
        &'r self,
        branch: &'r Branch,
        entries: Range<u64>,
        counts: Option<OffsetBuffer<i64>>,
    ) -> Result<BranchRead<'r>> {
        self.reach(branch)?;
        let lengths = match &branch.shape {
            Ok(Shape::Streamed(Streamed { lengths: Some(lengths), .. })) => {
                let other = self.branch(&lengths.branch).filter(|other| other.shape.is_ok());
                other
                    .map(|other| {
                        counts::lengths(&self.read_branch(
                            other,
                            entries.clone(),
                            counts.as_ref(),
                        )?)
                    })
                    .transpose()?
            }
            _ => None,
        };
        let read = BranchRead::new(branch, entries, counts, lengths);
        let mut read = read.map_err(|error| self.place(error, branch))?;
        read.numbers = self.numbers.as_deref();
        Ok(read)
    }

    /// Returns where the entries of a basket of the branch at `path` state the numbers of processes.
    ///
    /// # Errors
    /// `Unsupported` if nyssa cannot know; `OutOfSpecification` for a damaged basket.
    pub(in crate::read) fn processes(
        &self,
        path: &str,
        basket: &Basket,
        contents: &Contents<'_>,
    ) -> Result<Vec<usize>> {
        match self.streamed_basket(path, basket)? {
            Some((read, index)) => read.processes(index, contents),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the places of the references in some entries of a basket of the branch at `path`, counted from the first byte
    /// of each entry. `rows` are the entries, counted from the first entry of the basket.
    ///
    /// # Errors
    /// `Unsupported` if nyssa does not read the branch; `OutOfSpecification` for a damaged basket.
    pub(in crate::read) fn references(
        &self,
        (path, basket): (&str, &Basket),
        contents: &Contents<'_>,
        rows: &[usize],
        finder: &ReferenceFinder,
    ) -> Result<Vec<Result<Vec<usize>>>> {
        match self.streamed_basket(path, basket)? {
            Some((read, index)) => read.references(index, contents, rows, finder),
            None => Ok(rows.iter().map(|_| Ok(Vec::new())).collect()),
        }
    }

    /// Returns what is read of a basket of the branch at `path` that streamers wrote, and the number of the basket. Returns
    /// `None` for a branch of numbers.
    fn streamed_basket(
        &self,
        path: &str,
        basket: &Basket,
    ) -> Result<Option<(BranchRead<'_>, usize)>> {
        let unknown = || Error::unsupported("nyssa does not read the branch");
        let branch = self.by_path.get(path).and_then(|&index| self.branch_at(index));
        let branch = branch.ok_or_else(unknown)?;
        let is_it = |known: &Basket| {
            (known.first_entry, known.entries, known.seek)
                == (basket.first_entry, basket.entries, basket.seek)
        };
        let index = branch.baskets.iter().position(is_it).ok_or_else(unknown)?;
        let layout = EntryLayout::of(branch).map_err(Error::unsupported)?;
        if !matches!(layout.kind, EntryKind::Streamed(_)) {
            return Ok(None);
        }
        let entries = basket.first_entry..basket.first_entry.saturating_add(basket.entries);
        let counts = layout.counter().map(|counter| self.offsets(counter, entries.clone()));
        Ok(Some((self.column(branch, entries, counts.transpose()?)?, index)))
    }
}

pub(super) fn unique(indices: &mut Vec<usize>) {
    indices.sort_unstable();
    indices.dedup();
}
