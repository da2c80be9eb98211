//! Reads branches of a TTree into Arrow arrays: finds branches and their counters, leaves the baskets
//! to `units`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_buffer::OffsetBuffer;
use nyssa_io::Source;

use super::column::Column;
use super::layout::Layout;
use super::{Branch, CountSource, Options, Tree, clusters, counts};
use crate::Context;
use crate::dataset::{Dataset, Format, Item};
use crate::error::{Error, Result};
use crate::guard;
use crate::rootfile::RootFile;

/// A TTree that can be read. Safe to use from many threads.
pub struct Reader {
    pub(super) source: Arc<dyn Source>,
    pub(super) path: String,
    tree: Tree,
    pub(super) options: Options,
    items: Vec<Item>,
    /// Where the branch of each item is: indices into nested `branches`.
    routes: Vec<Vec<usize>>,
    by_name: HashMap<String, usize>,
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
        let first = entries.start;
        let array = self.read_branch(branch, entries, None)?;
        counts::offsets(&array, &counter.leaf, first).map_err(|error| self.place(error, branch))
    }

    /// The item of a counter if it reads as one number per entry, by itself or in a leaf list; entry
    /// offsets have to do where it does not.
    fn counter(&self, counter: &CountSource) -> Option<usize> {
        let index = self.index(&counter.branch)?;
        let layout = Layout::of(self.branch_at(index)?).ok()?;
        layout.has_counter(&counter.leaf).then_some(index)
    }

    fn no_branch(&self, name: &str) -> Error {
        let names = self.items.iter().map(|item| item.name.as_str());
        Error::not_found(format!("there is no branch {name:?}{}", guard::did_you_mean(name, names)))
    }

    pub(super) fn place(&self, error: Error, branch: &Branch) -> Error {
        error.at(|place| {
            place.file = Some(self.source.name().to_owned());
            place.object = Some(self.path.clone());
            place.field = Some(branch.name.clone());
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
            let source = self.branch_at(index)?.shape.as_ref().ok()?.counter.as_ref()?;
            Some((source, self.counter(source)?))
        };
        let mut counters: Vec<usize> =
            indices.iter().filter_map(|&index| Some(counter_of(index)?.1)).collect();
        counters.sort_unstable();
        counters.dedup();
        let columns = self.columns(&counters, entries, |_| Ok(None))?;
        let read: HashMap<usize, ArrayRef> =
            counters.into_iter().zip(self.run(&columns, Some(context))?).collect();
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
        let rest: Vec<usize> = indices.iter().copied().filter(|i| !read.contains_key(i)).collect();
        let columns = self.columns(&rest, entries, &mut counts)?;
        let mut arrays = self.run(&columns, Some(context))?.into_iter();
        let pick = |index: &usize| read.get(index).cloned().or_else(|| arrays.next());
        Ok(indices.iter().filter_map(pick).collect())
    }

    fn columns(
        &self,
        indices: &[usize],
        entries: &Range<u64>,
        mut counts: impl FnMut(usize) -> Result<Option<OffsetBuffer<i64>>>,
    ) -> Result<Vec<Column<'_>>> {
        let branches = indices.iter().filter_map(|&index| Some((index, self.branch_at(index)?)));
        branches
            .map(|(index, branch)| {
                Column::new(branch, entries.clone(), counts(index)?)
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
