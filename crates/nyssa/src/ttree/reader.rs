//! Reads branches of a TTree into Arrow arrays.
//!
//! A read is planned first: the baskets of all branches asked for, sorted by their place in the file and
//! cut into groups. A group is one work unit: fetch its baskets with one vectored request, decompress
//! each into the thread's scratch, decode each straight to its place in the final buffer.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_buffer::OffsetBuffer;
use nyssa_io::Source;
use rayon::prelude::*;

use super::basket::{Contents, Expected};
use super::column::{Column, Out, Target};
use super::{Branch, CountSource, Options, Tree, clusters, counts, fetch};
use crate::Context;
use crate::cursor::Cursor;
use crate::dataset::{Dataset, Format, Item};
use crate::error::{Error, Result};
use crate::guard;
use crate::rootfile::RootFile;

/// Bytes read to learn the size of a basket whose branch does not tell it (files of old ROOT versions).
const SIZE_PREFIX: u64 = 4;
/// Work units per thread that a read is cut into, so that no thread is left alone at the end.
const GROUPS_PER_THREAD: u64 = 8;
/// Smallest share of a read that is worth a request of its own, bytes.
const LEAST_FETCH_BYTES: u64 = 128 << 10;
/// Largest scratch that a thread keeps after a read, bytes.
const SCRATCH_KEPT: usize = 64 << 20;

thread_local! {
    /// Decompressed payload of the basket at hand; grows to the largest one.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A TTree that can be read. Safe to use from many threads.
pub struct Reader {
    source: Arc<dyn Source>,
    path: String,
    tree: Tree,
    options: Options,
    items: Vec<Item>,
    /// Where the branch of each item is: indices into nested `branches`.
    routes: Vec<Vec<usize>>,
    by_name: HashMap<String, usize>,
}

/// One basket to read: part of a plan.
struct Job<'a> {
    column: usize,
    basket: usize,
    seek: u64,
    bytes: u64,
    target: Target<'a>,
}

impl Reader {
    /// Opens the tree at `path` of `file`, such as `Events` or `dir/tree;2`.
    ///
    /// # Errors
    /// `NotFound` with the nearest names, `InvalidArgument` when the object is not a TTree, and
    /// whatever is wrong with the tree.
    pub fn open(file: &RootFile, path: &str) -> Result<Self> {
        let key = file.find(path)?;
        let tree = super::load(file, &key)?;
        Ok(Self::from_tree(Arc::clone(file.source()), path, tree))
    }

    /// A reader of a tree whose baskets are in `source`; `path` names it in messages.
    pub fn from_tree(source: Arc<dyn Source>, path: &str, tree: Tree) -> Self {
        let mut reader = Self {
            source,
            path: path.to_owned(),
            tree,
            options: Options::default(),
            items: Vec::new(),
            routes: Vec::new(),
            by_name: HashMap::new(),
        };
        let mut found = Vec::new();
        list(&reader.tree.branches, "", &mut Vec::new(), &mut found);
        for (item, route) in found {
            reader.by_name.entry(item.name.clone()).or_insert(reader.items.len());
            reader.items.push(item);
            reader.routes.push(route);
        }
        reader
    }

    /// The same reader with other options.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// The bytes of the file.
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// The tree: branches, leaves, baskets.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The branch called `name`, a path such as `event/px` for sub-branches. A bare name finds a
    /// sub-branch too when no other branch has it.
    pub fn branch(&self, name: &str) -> Option<&Branch> {
        self.index(name).and_then(|index| self.branch_at(index))
    }

    fn index(&self, name: &str) -> Option<usize> {
        if let Some(&index) = self.by_name.get(name) {
            return Some(index);
        }
        let bare = |item: &Item| item.name.rsplit('/').next() == Some(name);
        let mut hits = self.items.iter().enumerate().filter(|(_, item)| bare(item));
        let (index, _) = hits.next()?;
        hits.next().is_none().then_some(index)
    }

    fn branch_at(&self, index: usize) -> Option<&Branch> {
        let (last, parents) = self.routes.get(index)?.split_last()?;
        let mut branches = &self.tree.branches;
        for &step in parents {
            branches = &branches.get(step)?.branches;
        }
        branches.get(*last)
    }

    /// Reads `entries` of `branch` on this thread. `counts` are the offsets of these entries in
    /// elements, from [`Reader::offsets`] (one more than entries, starting at 0); a jagged branch
    /// without them is read by the entry offsets of its baskets.
    ///
    /// # Errors
    /// `Unsupported` for a branch without a shape, `InvalidArgument` for counts of another range,
    /// `OutOfSpecification` naming branch, basket and byte for whatever is wrong with the file.
    pub fn read_branch(
        &self,
        branch: &Branch,
        entries: Range<u64>,
        counts: Option<&OffsetBuffer<i64>>,
    ) -> Result<ArrayRef> {
        let column = Column::new(branch, entries, counts.cloned())
            .map_err(|error| self.place(error, branch))?;
        let mut arrays = self.run(&[column], None)?;
        arrays.pop().ok_or_else(|| Error::invalid_argument("nothing was read"))
    }

    /// Offsets of `entries` in elements by their counter: one more than entries, from 0.
    ///
    /// # Errors
    /// `NotFound` when the counter's branch is missing, otherwise as [`Reader::read_branch`].
    pub fn offsets(&self, counter: &CountSource, entries: Range<u64>) -> Result<OffsetBuffer<i64>> {
        let branch =
            self.counter(counter).and_then(|index| self.branch_at(index)).ok_or_else(|| {
                Error::not_found(format!(
                    "the counter branch {} is missing or not readable",
                    counter.branch
                ))
                .at(|place| {
                    place.file = Some(self.source.name().to_owned());
                    place.object = Some(self.path.clone());
                })
            })?;
        let array = self.read_branch(branch, entries, None)?;
        counts::offsets(&array).map_err(|error| self.place(error, branch))
    }

    /// The item of a counter if it reads as one number per entry; entry offsets have to do where it
    /// does not.
    fn counter(&self, counter: &CountSource) -> Option<usize> {
        let index = self.index(&counter.branch)?;
        let shape = self.branch_at(index)?.shape.as_ref().ok()?;
        (shape.counter.is_none() && shape.dimensions.is_empty()).then_some(index)
    }

    fn no_branch(&self, name: &str) -> Error {
        let names = self.items.iter().map(|item| item.name.as_str());
        Error::not_found(format!("there is no branch {name:?}{}", guard::did_you_mean(name, names)))
    }

    fn place(&self, error: Error, branch: &Branch) -> Error {
        error.at(|place| {
            place.file = Some(self.source.name().to_owned());
            place.object = Some(self.path.clone());
            place.field = Some(branch.name.clone());
        })
    }

    /// Reads all columns; on the context's threads if there is one, else on this thread.
    fn run(&self, columns: &[Column<'_>], context: Option<&Context>) -> Result<Vec<ArrayRef>> {
        let place = |error, column: &Column<'_>| self.place(error, column.branch);
        let mut outs = Vec::with_capacity(columns.len());
        for column in columns {
            outs.push(column.allocate().map_err(|error| place(error, column))?);
        }
        let mut jobs = Vec::new();
        for (index, (column, out)) in columns.iter().zip(&mut outs).enumerate() {
            for (basket, target) in column.targets(out) {
                jobs.push(
                    self.job(column, index, basket, target)
                        .map_err(|error| place(error, column))?,
                );
            }
        }
        self.run_jobs(columns, jobs, context)?;
        let finish = |(column, out): (&Column<'_>, Out)| {
            column.finish(out).map_err(|error| place(error, column))
        };
        match context {
            None => columns.iter().zip(outs).map(finish).collect(),
            Some(context) => {
                context.pool().install(|| columns.par_iter().zip(outs).map(finish).collect())
            }
        }
    }

    fn run_jobs(
        &self,
        columns: &[Column<'_>],
        jobs: Vec<Job<'_>>,
        context: Option<&Context>,
    ) -> Result<()> {
        let most = self.options.fetch_bytes;
        let Some(context) = context else {
            return group(jobs, most)
                .into_iter()
                .try_for_each(|jobs| self.run_group(columns, jobs));
        };
        let bytes: u64 = jobs.iter().map(|job| job.bytes).sum();
        let share = bytes / (context.threads() as u64 * GROUPS_PER_THREAD);
        let groups = group(jobs, share.clamp(LEAST_FETCH_BYTES.min(most), most));
        context.pool().install(|| {
            groups.into_par_iter().try_for_each(|jobs| {
                context.check()?;
                self.run_group(columns, jobs)
            })
        })
    }

    fn job<'a>(
        &self,
        column: &Column<'_>,
        index: usize,
        basket: usize,
        target: Target<'a>,
    ) -> Result<Job<'a>> {
        let table = &column.branch.baskets[basket];
        let (seek, bytes) = match &table.embedded {
            Some(embedded) => (0, embedded.len() as u64),
            None if table.bytes == 0 => (table.seek, self.stored_size(table.seek)?),
            None => (table.seek, table.bytes),
        };
        seek.checked_add(bytes)
            .map(|_| Job { column: index, basket, seek, bytes, target })
            .ok_or_else(|| {
                Error::out_of_spec(format!("a basket lies at byte {seek}, beyond any file"))
            })
    }

    /// Size of the basket at `seek` by its key, for tables that leave it out.
    fn stored_size(&self, seek: u64) -> Result<u64> {
        let range = seek..seek.saturating_add(SIZE_PREFIX);
        let prefix = fetch::fetch(self.source.as_ref(), &[range])?;
        let prefix = prefix.first().map_or(&[][..], |bytes| &bytes[..]);
        Ok(u64::from(Cursor::new(prefix, seek).be_u32()?))
    }

    /// Fetches, decompresses and decodes one group of baskets.
    fn run_group(&self, columns: &[Column<'_>], jobs: Vec<Job<'_>>) -> Result<()> {
        let table = |job: &Job<'_>| &columns[job.column].branch.baskets[job.basket];
        let ranges: Vec<_> = jobs
            .iter()
            .filter(|job| table(job).embedded.is_none())
            .map(|job| job.seek..job.seek + job.bytes)
            .collect();
        let mut blocks = fetch::fetch(self.source.as_ref(), &ranges)
            .map_err(|error| match jobs.first() {
                Some(job) if jobs.len() == 1 => self.place(error, columns[job.column].branch),
                _ => error.at(|place| place.object = Some(self.path.clone())),
            })?
            .into_iter();
        // Taken, not borrowed: decoding a basket may read another one on this thread.
        let mut scratch = SCRATCH.take();
        let result = jobs.into_iter().try_for_each(|job| {
            let (column, basket) = (&columns[job.column], table(&job));
            let block = if basket.embedded.is_none() { blocks.next() } else { None };
            let (index, seek) = (job.basket, job.seek);
            self.run_job(column, job, block.as_deref(), &mut scratch).map_err(|error| {
                let error = error.at(|place| {
                    place.basket = Some(index as u64);
                    place.offset = basket.embedded.is_none().then_some(seek);
                });
                self.place(error, column.branch)
            })
        });
        if scratch.len() <= SCRATCH_KEPT {
            SCRATCH.set(scratch);
        }
        result
    }

    fn run_job(
        &self,
        column: &Column<'_>,
        job: Job<'_>,
        block: Option<&[u8]>,
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        let basket = &column.branch.baskets[job.basket];
        let mut expected =
            Expected { bytes: basket.bytes, seek: Some(basket.seek), entries: basket.entries };
        let contents = match &basket.embedded {
            Some(embedded) => {
                expected.seek = None;
                Contents::open_embedded(embedded, &expected, scratch)?
            }
            None => Contents::open(block.unwrap_or_default(), &expected, scratch)?,
        };
        column.decode(job.basket, &contents, job.target, |before| {
            let Some(counter) = column.layout.counter() else { return Ok(0) };
            let counts = self.offsets(counter, before)?;
            Ok(counts.last() as u64)
        })
    }

    /// Reads the items `indices`; every counter is read once and its offsets are shared.
    fn read_items(
        &self,
        indices: &[usize],
        entries: &Range<u64>,
        context: &Context,
    ) -> Result<Vec<ArrayRef>> {
        let counter_of = |index: usize| {
            let shape = self.branch_at(index)?.shape.as_ref().ok()?;
            self.counter(shape.counter.as_ref()?)
        };
        let mut counters: Vec<usize> = indices.iter().filter_map(|&i| counter_of(i)).collect();
        counters.sort_unstable();
        counters.dedup();
        let mut read = HashMap::new();
        let mut offsets = HashMap::new();
        let columns = self.columns(&counters, entries, |_| None)?;
        for ((index, column), array) in
            counters.iter().zip(&columns).zip(self.run(&columns, Some(context))?)
        {
            let counts =
                counts::offsets(&array).map_err(|error| self.place(error, column.branch))?;
            offsets.insert(*index, counts);
            read.insert(*index, array);
        }
        let rest: Vec<usize> = indices.iter().copied().filter(|i| !read.contains_key(i)).collect();
        let columns = self.columns(&rest, entries, |index| {
            counter_of(index).and_then(|counter| offsets.get(&counter)).cloned()
        })?;
        let mut arrays = self.run(&columns, Some(context))?.into_iter();
        let pick = |index: &usize| read.get(index).cloned().or_else(|| arrays.next());
        Ok(indices.iter().filter_map(pick).collect())
    }

    fn columns(
        &self,
        indices: &[usize],
        entries: &Range<u64>,
        counts: impl Fn(usize) -> Option<OffsetBuffer<i64>>,
    ) -> Result<Vec<Column<'_>>> {
        let branches = indices.iter().filter_map(|&index| Some((index, self.branch_at(index)?)));
        branches
            .map(|(index, branch)| {
                Column::new(branch, entries.clone(), counts(index))
                    .map_err(|error| self.place(error, branch))
            })
            .collect()
    }
}

impl Dataset for Reader {
    fn format(&self) -> Format {
        Format::TTree
    }

    fn name(&self) -> &str {
        &self.path
    }

    fn file(&self) -> &str {
        self.source.name()
    }

    fn num_entries(&self) -> u64 {
        self.tree.entries
    }

    fn items(&self) -> &[Item] {
        &self.items
    }

    fn clusters(&self) -> Vec<Range<u64>> {
        clusters::of_tree(&self.tree)
    }

    fn read(
        &self,
        names: &[&str],
        entries: Range<u64>,
        context: &Context,
    ) -> Result<Vec<ArrayRef>> {
        let here = |error: Error| {
            error.at(|place| {
                place.file = Some(self.source.name().to_owned());
                place.object = Some(self.path.clone());
            })
        };
        if entries.start > entries.end || entries.end > self.tree.entries {
            return Err(here(Error::invalid_argument(format!(
                "entries {} to {} were asked for, there are {}",
                entries.start, entries.end, self.tree.entries
            ))));
        }
        let mut indices = Vec::with_capacity(names.len());
        for name in names {
            indices.push(self.index(name).ok_or_else(|| here(self.no_branch(name)))?);
        }
        self.read_items(&indices, &entries, context)
    }
}

/// Items of all branches that hold data of their own, with the route to each.
fn list(
    branches: &[Branch],
    prefix: &str,
    route: &mut Vec<usize>,
    found: &mut Vec<(Item, Vec<usize>)>,
) {
    for (index, branch) in branches.iter().enumerate() {
        route.push(index);
        let name = format!("{prefix}{}", branch.name);
        // A branch that only holds others together has nothing to read.
        if branch.branches.is_empty() || branch.shape.is_ok() || !branch.baskets.is_empty() {
            let field = branch.data_type().map(|data_type| crate::arrow::field(&name, data_type));
            let item = Item { name: name.clone(), type_name: branch.type_name(), field };
            found.push((item, route.clone()));
        }
        list(&branch.branches, &format!("{name}/"), route, found);
        route.pop();
    }
}

/// Jobs in the order of the file, cut into groups of about `limit` bytes.
fn group(mut jobs: Vec<Job<'_>>, limit: u64) -> Vec<Vec<Job<'_>>> {
    jobs.sort_by_key(|job| job.seek);
    let mut groups: Vec<Vec<Job<'_>>> = Vec::new();
    let mut bytes = u64::MAX;
    for job in jobs {
        bytes = bytes.saturating_add(job.bytes);
        match groups.last_mut() {
            Some(group) if bytes <= limit => group.push(job),
            _ => {
                bytes = job.bytes;
                groups.push(vec![job]);
            }
        }
    }
    groups
}
