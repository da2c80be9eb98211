//! Reads a TTree. It finds branches and their counters; `units` reads the baskets.

mod dataset;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_buffer::OffsetBuffer;
use nyssa_data::dataset::{ColumnInfo, LeftOut, readable};
use nyssa_io::Source;
use nyssa_io::fetch::ReadAhead;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};
use nyssa_root::guard;
use nyssa_root::page_pool::PagePool;
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::ProcessNumbers;

use super::basket::Contents;
use super::branch_read::BranchRead;
use super::branches::{items, routes};
use super::{TTreeReadOptions, assemble, counts, without};
use crate::model::{
    Basket, Branch, CountSource, EntryKind, EntryLayout, Files, JoinedFiles, Relations, Shape,
    Streamed, Tree, load_with, place_in_file,
};

/// A TTree that can be read. Many threads can use it at the same time.
pub struct Reader {
    /// The number that distinguishes the baskets of this reader from the baskets of other readers.
    pub(super) id: u64,
    pub(super) source: Arc<dyn Source>,
    pub(super) path: String,
    /// The file of the tree and the other files with baskets, if there are other files.
    files: Option<Arc<JoinedFiles>>,
    /// The source when baskets are fetched ahead.
    pub(super) ahead: Option<Arc<ReadAhead>>,
    tree: Tree,
    /// The aliases and friends of the tree. `None` if they were not read together with the tree.
    relations: Option<Arc<Relations>>,
    pub(super) options: TTreeReadOptions,
    /// The numbers that processes get, if they change.
    numbers: Option<Arc<ProcessNumbers>>,
    items: Vec<ColumnInfo>,
    below: Vec<ColumnInfo>,
    /// The position of each branch: its indices into the nested lists `branches`.
    routes: Vec<Vec<usize>>,
    /// The indices of the routes by path.
    by_path: HashMap<String, usize>,
}

impl Reader {
    /// Opens the tree at `path` of `file`, such as `Events` or `dir/tree;2`.
    ///
    /// # Errors
    /// `NotFound` with the nearest names; `InvalidArgument` when the object is not a TTree; `OutOfSpecification` or
    /// `Unsupported` if the tree cannot be read.
    pub fn open(file: &RootFile, path: &str) -> Result<Self> {
        Self::open_with(file, path, false)
    }

    /// Opens the tree at `path` of `file`. With `raw`, branches of objects that are not split give the bytes that the
    /// streamers of their classes wrote.
    ///
    /// # Errors
    /// `NotFound` with the nearest names; `InvalidArgument` when the object is not a TTree; `OutOfSpecification` or
    /// `Unsupported` if the tree cannot be read.
    pub fn open_with(file: &RootFile, path: &str, raw: bool) -> Result<Self> {
        let _stage = nyssa_observe::stage!("open");
        Self::of_key(file, &file.find(path)?, path, raw)
    }

    /// Opens the tree of a key.
    pub(super) fn of_key(file: &RootFile, key: &KeyEntry, path: &str, raw: bool) -> Result<Self> {
        let mut files = Files::new(Some(Arc::clone(file.source())));
        let (tree, relations) = load_with(file, key, &mut files, raw)?;
        let files = files.joined();
        let source = match &files {
            Some(files) => Arc::clone(files) as _,
            None => Arc::clone(file.source()),
        };
        let relations = relations.map(Arc::new);
        Ok(Self { files, relations, ..Self::from_tree(source, path, tree) })
    }

    /// Makes a reader of a tree whose baskets are in `source`. Messages call the tree `path`.
    pub fn from_tree(source: Arc<dyn Source>, path: &str, tree: Tree) -> Self {
        let mut reader = Self {
            id: PagePool::new_owner(),
            source,
            path: path.to_owned(),
            files: None,
            ahead: None,
            options: TTreeReadOptions::default(),
            numbers: None,
            items: items(&tree.branches),
            below: Vec::new(),
            routes: Vec::new(),
            by_path: HashMap::new(),
            tree,
            relations: None,
        };
        for (path, route) in routes(&reader.tree.branches) {
            reader.by_path.entry(path).or_insert(reader.routes.len());
            reader.routes.push(route);
        }
        reader.below = reader.find_below();
        reader
    }

    /// Returns the aliases, friends and index of the tree.
    ///
    /// # Errors
    /// `Unsupported` or `OutOfSpecification` if the tree cannot be read; `OutOfSpecification` for lists with objects
    /// of other classes.
    pub fn relations(&self) -> Result<Arc<Relations>> {
        if let Some(relations) = &self.relations {
            return Ok(Arc::clone(relations));
        }
        let file = RootFile::open(Arc::clone(self.own_source()))?;
        Relations::load(&file, &file.find(&self.path)?).map(Arc::new)
    }

    /// Returns the sub-branches that are not columns themselves and that have data or sub-branches.
    fn find_below(&self) -> Vec<ColumnInfo> {
        let known: HashSet<&str> = self.items.iter().map(|item| item.name.as_str()).collect();
        let mut paths: Vec<(&String, &usize)> = self.by_path.iter().collect();
        paths.sort_by_key(|(_, index)| **index);
        let item = |(path, &index): (&String, &usize)| {
            let branch = self.branch_at(index)?;
            let data = branch.split.is_some() || !branch.leaves.is_empty();
            (data && !known.contains(path.as_str())).then(|| ColumnInfo {
                name: path.clone(),
                type_name: branch.type_name(),
                field: branch.arrow_field(path),
            })
        };
        paths.into_iter().filter_map(item).collect()
    }

    /// Returns this reader with other options.
    #[must_use]
    pub fn with_options(mut self, options: TTreeReadOptions) -> Self {
        self.options = options;
        self
    }

    /// Returns this reader with other numbers for the processes of references (`TRef`).
    #[must_use]
    pub fn with_processes(mut self, numbers: ProcessNumbers) -> Self {
        self.numbers = (!numbers.are_kept()).then(|| Arc::new(numbers));
        self
    }

    /// Returns this reader without some branches. These branches cannot be read any more, and the records of split
    /// branches lose them.
    #[must_use]
    pub fn without(&self, left_out: &[LeftOut]) -> Self {
        let mut tree = self.tree.clone();
        let reasons = left_out.iter().map(|item| (item.column.as_str(), item.reason.as_str()));
        without::leave_out(&mut tree.branches, &reasons.collect());
        Self {
            id: self.id,
            files: self.files.clone(),
            ahead: self.ahead.clone(),
            options: self.options,
            numbers: self.numbers.clone(),
            relations: self.relations.clone(),
            ..Self::from_tree(Arc::clone(&self.source), &self.path, tree)
        }
    }

    /// Converts an offset in the source to an offset in the file that holds the byte.
    pub(super) fn place_in_file(&self, seek: u64) -> u64 {
        self.files.as_ref().map_or(seek, |_| place_in_file(seek))
    }

    /// Returns the bytes of the file, and of the other files that hold baskets. [`Reader::extent`] gives their
    /// places.
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// Returns the bytes of the file of the tree alone.
    pub fn own_source(&self) -> &Arc<dyn Source> {
        self.files.as_ref().and_then(|files| files.own()).unwrap_or(&self.source)
    }

    /// Returns the number of bytes of the file, and of the other files that are open.
    pub fn stored_bytes(&self) -> u64 {
        self.files.as_ref().map_or_else(|| self.source.size(), |files| files.open_bytes())
    }

    /// Returns the range of the source that is the file with the byte `seek`. Another file than the file of the tree
    /// is opened if it is not open.
    ///
    /// # Errors
    /// `Unsupported` with its name for a file that is missing or that may not be read; `Io`.
    pub fn extent(&self, seek: u64) -> Result<Range<u64>> {
        self.files.as_ref().map_or_else(|| Ok(0..self.source.size()), |files| files.extent(seek))
    }

    /// Opens the other file that contains the baskets of a branch, if they are in another file.
    ///
    /// # Errors
    /// `Unsupported` with the name of the branch for a file that is missing or that may not be read; `Io`.
    pub fn reach(&self, branch: &Branch) -> Result<()> {
        let stored = branch.baskets.iter().find(|basket| basket.embedded.is_none());
        let reached = stored.map_or(Ok(()), |basket| self.extent(basket.seek).map(drop));
        reached.map_err(|error| self.place(error, branch))
    }

    /// Returns the model of the tree: branches, leaves, baskets.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the branch of a path, such as `event/px` for a sub-branch. The name alone also finds a sub-branch when
    /// no other branch has this name.
    pub fn branch(&self, name: &str) -> Option<&Branch> {
        self.index(name).and_then(|index| self.branch_at(index))
    }

    fn index(&self, name: &str) -> Option<usize> {
        let path = name.strip_prefix('/').unwrap_or(name);
        if let Some(&index) = self.by_path.get(name).or_else(|| self.by_path.get(path)) {
            return Some(index);
        }
        let mut hits =
            self.by_path.iter().filter(|(path, _)| path.rsplit('/').next() == Some(name));
        let (_, &index) = hits.next()?;
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

    /// Reads `entries` from the baskets of `branch` on this thread. `counts` are the offsets of these entries
    /// in elements, from [`Reader::offsets`]. There is one more offset than entries, and the first is 0.
    /// Without them a jagged branch is read by the entry offsets of its baskets.
    ///
    /// # Errors
    /// `Unsupported` for a branch without a shape; `InvalidArgument` for counts of another range;
    /// `OutOfSpecification` with branch, basket and byte for a damaged file.
    pub fn read_branch(
        &self,
        branch: &Branch,
        entries: Range<u64>,
        counts: Option<&OffsetBuffer<i64>>,
    ) -> Result<ArrayRef> {
        self.read_branch_with(branch, entries, counts, None)
    }

    pub(super) fn read_branch_with(
        &self,
        branch: &Branch,
        entries: Range<u64>,
        counts: Option<&OffsetBuffer<i64>>,
        page_pool: Option<&PagePool>,
    ) -> Result<ArrayRef> {
        let column = self.column(branch, entries, counts.cloned())?;
        let mut arrays = self.run(&[column], None, page_pool)?;
        arrays.pop().ok_or_else(|| Error::invalid_argument("nothing was read"))
    }

    /// Returns the offsets of `entries` in elements, computed from their counter. There is one more offset than
    /// entries, and the first is 0.
    ///
    /// # Errors
    /// `NotFound` when the branch of the counter is missing; `OutOfSpecification` for a damaged file.
    pub fn offsets(&self, counter: &CountSource, entries: Range<u64>) -> Result<OffsetBuffer<i64>> {
        self.offsets_with(counter, entries, None)
    }

    /// Returns the offsets of `entries` in elements, computed from their counter. Uses the baskets that other reads
    /// have opened.
    pub(super) fn offsets_with(
        &self,
        counter: &CountSource,
        entries: Range<u64>,
        page_pool: Option<&PagePool>,
    ) -> Result<OffsetBuffer<i64>> {
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
        let first = entries.start;
        let array = self.read_branch_with(branch, entries, None, page_pool)?;
        counts::offsets(&array, &counter.leaf, first).map_err(|error| self.place(error, branch))
    }

    /// Returns the index of the branch of a counter, if the branch has one number for each entry, by itself or
    /// in a leaf list. For other counters the reader uses the entry offsets of the baskets.
    fn counter(&self, counter: &CountSource) -> Option<usize> {
        let index = self.index(&counter.branch)?;
        let layout = EntryLayout::of(self.branch_at(index)?).ok()?;
        layout.has_counter(&counter.leaf).then_some(index)
    }

    fn no_branch(&self, name: &str) -> Error {
        let names = self.items.iter().map(|item| item.name.as_str());
        Error::not_found(format!("there is no branch {name:?}")).suggest(name, names)
    }

    pub(super) fn place(&self, error: Error, branch: &Branch) -> Error {
        error.at(|place| {
            place.file = Some(self.source.name().to_owned());
            place.object = Some(self.path.clone());
            place.field = Some(branch.path.clone());
        })
    }

    /// Reads the branch of a path on this thread. A split branch is read from its sub-branches.
    ///
    /// # Errors
    /// `NotFound`; `Unsupported` for a branch that cannot be read; `OutOfSpecification` with branch, basket and byte
    /// for a damaged file.
    pub fn read_whole(&self, path: &str, entries: Range<u64>) -> Result<ArrayRef> {
        let index = self.index(path).ok_or_else(|| self.no_branch(path))?;
        let mut arrays = self.read_indices(&[index], &entries, None)?;
        arrays.pop().ok_or_else(|| Error::invalid_argument("nothing was read"))
    }

    /// Returns the branches that hold the data of a branch: the branch itself, or the branches below a split branch.
    pub fn leaves(&self, path: &str) -> Vec<&Branch> {
        let (mut leaves, mut counters) = (Vec::new(), Vec::new());
        let expanded =
            self.index(path).map(|index| self.expand(index, &mut leaves, &mut counters, 0));
        match expanded {
            Some(Ok(())) => {
                leaves.extend(counters);
                unique(&mut leaves);
                leaves.into_iter().filter_map(|index| self.branch_at(index)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Refuses entries before the first entry of a branch, of a branch below it or of its counter.
    pub fn check_first(&self, path: &str, entries: &Range<u64>) -> std::result::Result<(), String> {
        let shape = self.branch(path).and_then(|branch| branch.shape.as_ref().ok());
        let counter = shape.and_then(Shape::counter);
        let counter = counter.and_then(|counter| self.branch(&counter.branch));
        let mut branches = self.leaves(path).into_iter().chain(counter);
        branches.try_for_each(|branch| branch.check_first(entries))
    }

    /// Returns the branches with data of `path` that cannot be read, or `path` itself when no part of it can be read.
    fn damaged_leaves(
        &self,
        path: &str,
        entries: &[Range<u64>],
        context: &Context,
    ) -> Result<Vec<LeftOut>> {
        let leaves = self.leaves(path);
        let leaves: HashMap<&str, &Branch> =
            leaves.into_iter().map(|branch| (branch.path.as_str(), branch)).collect();
        let mut paths: Vec<&str> = leaves.keys().copied().collect();
        paths.sort_unstable_by_key(|path| self.by_path.get(*path));
        readable::each(&paths, entries, |path, entries| {
            let Some(branch) = leaves.get(path) else { return Ok(()) };
            let counter = branch.shape.as_ref().ok().and_then(Shape::counter);
            // The counter of a split collection is checked separately.
            let split = counter.is_some_and(|counter| leaves.contains_key(counter.branch.as_str()));
            let counts = counter
                .filter(|counter| self.counter(counter).is_some())
                .map(|counter| self.offsets(counter, entries.clone()))
                .transpose();
            let counts = match counts {
                Err(error) if split && readable::leaves_others_readable(&error) => return Ok(()),
                counts => counts?,
            };
            let column = self.column(branch, entries, counts)?;
            self.run(&[column], Some(context), None).map(drop)
        })
    }

    /// Reads the branches `indices`. Split branches are read from their sub-branches. Every counter is read
    /// once, and branches share its offsets.
    fn read_indices(
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
    fn expand(
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

    fn column<'r>(
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
    pub(super) fn processes(
        &self,
        path: &str,
        basket: &Basket,
        contents: &Contents<'_>,
    ) -> Result<Vec<usize>> {
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
            return Ok(Vec::new());
        }
        let entries = basket.first_entry..basket.first_entry.saturating_add(basket.entries);
        let counts = layout.counter().map(|counter| self.offsets(counter, entries.clone()));
        self.column(branch, entries, counts.transpose()?)?.processes(index, contents)
    }
}

/// The largest depth of nested sub-branches. A file with deeper sub-branches is damaged.
const MAX_DEPTH: usize = 60;

fn unique(indices: &mut Vec<usize>) {
    indices.sort_unstable();
    indices.dedup();
}
