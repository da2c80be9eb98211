//! Reads a TTree. It finds branches and their counters; `units` reads the baskets.

mod columns;
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
use nyssa_root::page_pool::PagePool;
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::{ObjectsAs, ProcessNumbers};

use super::branches::{column, items, routes};
use super::{TTreeReadOptions, counts, without};
use crate::model::{
    Branch, CountSource, EntryLayout, Files, JoinedFiles, Relations, Shape, Tree, load_with,
    place_in_file,
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
        let objects = if raw { ObjectsAs::Bytes } else { ObjectsAs::Values };
        Self::of_key(file, &file.find(path)?, path, objects)
    }

    /// Opens the tree of a key. `objects` says how objects are read.
    pub(super) fn of_key(
        file: &RootFile,
        key: &KeyEntry,
        path: &str,
        objects: ObjectsAs,
    ) -> Result<Self> {
        let mut files = Files::new(Some(Arc::clone(file.source())));
        let (tree, relations) = load_with(file, key, &mut files, objects)?;
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
            (data && !known.contains(path.as_str())).then(|| column(branch, path))
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
                columns::unique(&mut leaves);
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
}
