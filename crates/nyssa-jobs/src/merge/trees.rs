//! Merges TTrees like `hadd -ff`: their baskets are copied without change. Only the keys of the baskets and the tables of the
//! `TTree` are written again. With another compression or other baskets, they are compressed or packed again (`pack`).

use std::collections::BTreeMap;
use std::sync::Arc;

use nyssa_data::dataset::AnyDataset;
use nyssa_data::view::{Chain, ChainOptions, ChainSchema, Link};
use nyssa_root::Context;
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::ProcessNumbers;
use nyssa_ttree::Reader;
use nyssa_ttree::stored::{Growth, StoredTree};

use super::input_file::InputFile;
use super::pack::{Parts, WithMemory, pack};
use super::plan::{Plan, lacking};
use super::processes::of_input;
use super::report::MergedTreeReport;
use super::tree_parts::TreeParts;
use super::unify::listed;
use crate::compare::diff;
use crate::job::output::Output;
use crate::job::stopped::Stopped;
use crate::job::trees::{Copy, basket_bytes};
use crate::open::open_dataset;

/// The trees of all inputs, by their paths in the output.
#[derive(Default)]
pub(super) struct MergedTrees(BTreeMap<String, MergedTree>);

/// The advice if trees have other branches than the trees of other inputs.
const ADVICE: &str = "rewrite the inputs with the branches that all of them have (nyssa rewrite --include), or convert them to \
                      RNTuples, which merge with union or filter";

/// The trees whose entries cannot be cut, by their paths, with the reasons.
pub(super) type Stuck = BTreeMap<String, String>;

/// The trees that become one tree.
struct MergedTree {
    /// The tree of the first input that has it.
    first: StoredTree,
    /// The keys of all trees, with the numbers of their inputs.
    parts: Vec<(usize, KeyEntry)>,
    /// The numbers of the processes in the table of references of each tree, in the table of the output.
    tables: Vec<Vec<usize>>,
    /// The numbers of the inputs whose tree has neither branches nor entries.
    void: Vec<usize>,
    /// The number of entries of all trees.
    entries: u64,
    /// The number of bytes of all baskets.
    bytes: u64,
    /// The parts of the trees besides their entries.
    beside: TreeParts,
}

impl MergedTrees {
    /// Adds the tree of a key. `whose` returns the name of an input.
    ///
    /// # Errors
    /// `InvalidArgument` with the first branch that differs from earlier trees; `Unsupported` for trees to which no baskets
    /// can be added; an error if the tree is damaged or cannot be read.
    pub(super) fn take<'f>(
        &mut self,
        number: usize,
        file: &RootFile,
        key: KeyEntry,
        whose: impl Fn(usize) -> &'f str,
    ) -> Result<()> {
        let tree = StoredTree::read(file, &key)?;
        let (bytes, entries) = (basket_bytes(&tree), tree.entries);
        // A tree without branches and entries says nothing about the trees of other inputs.
        let is_void = |tree: &StoredTree| tree.branches.is_empty() && tree.entries == 0;
        match self.0.get_mut(&key.path) {
            Some(merged) if is_void(&tree) => merged.void.push(number),
            Some(merged) if !is_void(&merged.first) => {
                let first = merged.parts.first().map_or("", |part| whose(part.0));
                let matching = merged.first.matching(&tree, first).map_err(with_advice);
                matching.in_file(file.name()).in_object(&key.path)?;
                merged.beside.compare(&tree, file.name());
                merged.tables.push(merged.first.join_processes(&tree));
                merged.parts.push((number, key));
                merged.bytes += bytes;
                merged.entries += entries;
            }
            earlier => {
                let mut void = earlier.map_or(Vec::new(), |it| std::mem::take(&mut it.void));
                if let Some(MergedTree { parts, .. }) = self.0.get(&key.path) {
                    void.extend(parts.iter().map(|(number, _)| *number));
                }
                let path = key.path.clone();
                let parts = vec![(number, key)];
                let beside = TreeParts::of(&tree, file.name());
                let tables = vec![Vec::new()];
                let tree = MergedTree { first: tree, parts, tables, void, entries, bytes, beside };
                self.0.insert(path, tree);
            }
        }
        Ok(())
    }

    /// Returns the paths of the trees.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the paths of the branches of all trees.
    pub(super) fn branches(&self) -> Vec<&str> {
        let branches = self.0.values().flat_map(|tree| &tree.first.branches);
        branches.map(|branch| branch.path.as_str()).collect()
    }

    /// Returns the numbers of the inputs that have trees.
    pub(super) fn inputs(&self) -> impl Iterator<Item = usize> {
        self.0.values().flat_map(|tree| tree.parts.iter().map(|(number, _)| *number))
    }

    /// Returns the number of bytes of all baskets.
    pub(super) fn bytes(&self) -> u64 {
        self.0.values().map(|tree| tree.bytes).sum()
    }

    /// Gives the tree at `from`, or else the only tree, the path `to`.
    ///
    /// # Errors
    /// `InvalidArgument` if there are several trees, or none, and for a path of another tree.
    pub(super) fn rename(&mut self, from: Option<&str>, to: &str) -> Result<()> {
        let only = || if self.0.len() == 1 { self.0.keys().next().cloned() } else { None };
        let from = from.map(str::to_owned).or_else(only);
        let tree = from.and_then(|from| self.0.remove(&from)).ok_or_else(|| {
            Error::invalid_argument(
                "a name is for inputs with one tree, or for trees that are named",
            )
        })?;
        let to = to.trim_matches('/');
        match self.0.insert(to.to_owned(), tree) {
            Some(_) => Err(Error::invalid_argument(format!("the inputs have another tree {to}"))),
            None => Ok(()),
        }
    }

    /// Returns whether there is no tree.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns notes on parts that are lost, on trees that some of the files lack, and on trees in `stuck`.
    pub(super) fn notes(&self, plan: &Plan, stuck: &Stuck) -> Vec<String> {
        let mut notes = Vec::new();
        for (path, tree) in &self.0 {
            if let Some(reason) = stuck.get(path) {
                notes.push(format!("TTree {path} keeps the baskets that it has: {reason}"));
            }
            let having = tree.parts.iter().map(|(number, _)| *number);
            let having = having.chain(tree.void.iter().copied());
            let lacking = lacking(&plan.files, plan.before, having);
            if !lacking.is_empty() {
                let names = listed(lacking.iter().map(|file| &*file.name));
                notes.push(format!(
                    "TTree {path} is not in {names}: the output has the entries of the other inputs"
                ));
            }
            if tree.beside.has_index() && tree.entries != tree.first.entries {
                notes.push(format!(
                    "{path}: the index of its entries is left out, TTree::BuildIndex makes a new one"
                ));
            }
            notes.extend(tree.beside.notes(path));
        }
        notes
    }

    /// Writes all trees, and returns a report on each. The inputs have new numbers for their processes. What is `wanted` for
    /// their baskets has the memory for it. The baskets of trees in `stuck` keep their entries.
    ///
    /// # Errors
    /// The path of a tree whose entries cannot be cut, with the reason; `Cancelled`; an error if an input cannot be read or the
    /// output cannot be written.
    pub(super) fn write(
        self,
        inputs: (&[InputFile], &[ProcessNumbers]),
        output: &Output,
        (compression, wanted): (Compression, Option<WithMemory<'_>>),
        stuck: &Stuck,
        context: &Context,
    ) -> std::result::Result<Vec<MergedTreeReport>, Stopped> {
        let mut copy = Copy::new(output, compression, context, self.bytes());
        let write = |(path, tree): (String, MergedTree)| {
            let keeps = stuck.contains_key(&path)
                || wanted.is_none_or(|(wanted, _)| wanted.baskets.are_default());
            let written = tree.write(&path, inputs, (wanted, keeps), &mut copy);
            written.map_err(|error| match error.kind() {
                Kind::Unsupported if !keeps => Stopped::AtTree(path, error),
                _ => error.into(),
            })
        };
        self.0.into_iter().map(write).collect()
    }
}

/// Says what to do with trees whose branches differ.
fn with_advice(error: Error) -> Error {
    match error.kind() {
        Kind::InvalidArgument => error.map_message(|it| format!("{it}; {ADVICE}")),
        _ => error,
    }
}

impl MergedTree {
    fn write(
        mut self,
        path: &str,
        (files, numbers): (&[InputFile], &[ProcessNumbers]),
        (wanted, keeps): (Option<WithMemory<'_>>, bool),
        copy: &mut Copy<'_>,
    ) -> Result<MergedTreeReport> {
        if let Some((number, _)) = self.parts.first() {
            self.first.processes.set(of_input(numbers, *number), Vec::new());
        }
        let inputs = (files, numbers);
        let growth = match wanted {
            Some(wanted) => {
                let Self { first, parts, tables, entries, .. } = &self;
                let parts = Parts { first, parts, tables, entries: *entries };
                pack(parts, path, inputs, (wanted, keeps), copy)?
            }
            None => self.copy_baskets(path, inputs, copy)?,
        };
        let Self { first, parts, .. } = self;
        let (_, key) =
            parts.first().ok_or_else(|| Error::invalid_argument("a tree without inputs"))?;
        let report = MergedTreeReport {
            tree: path.to_owned(),
            entries: growth.entries,
            clusters: growth.clusters.count(),
            branches: growth.branches.len() as u64,
            baskets: growth.branches.iter().map(|branch| branch.baskets.len() as u64).sum(),
            basket_bytes: growth
                .branches
                .iter()
                .flat_map(|item| &item.baskets)
                .map(|item| item.2)
                .sum(),
            inputs: parts.len() as u64,
        };
        copy.tree(first, key, path, &growth)?;
        Ok(report)
    }

    /// Copies the baskets of all inputs as they are.
    fn copy_baskets(
        &self,
        path: &str,
        (files, numbers): (&[InputFile], &[ProcessNumbers]),
        copy: &mut Copy<'_>,
    ) -> Result<Growth> {
        let mut growth = Growth::default();
        for (index, ((number, key), table)) in self.parts.iter().zip(&self.tables).enumerate() {
            copy.check()?;
            let Some(input) = files.get(*number) else { continue };
            let file = input.open()?;
            let again = match index {
                0 => None,
                _ => {
                    let mut tree = StoredTree::read(&file, key)?;
                    tree.processes.set(of_input(numbers, *number), table.clone());
                    Some(tree)
                }
            };
            let tree = again.as_ref().unwrap_or(&self.first);
            let matching = self.first.matching(tree, "an input before");
            let matching = matching.in_file(file.name()).in_object(&key.path)?;
            let copied = copy.entries((&file, tree), &matching, path, &mut growth);
            copied.in_file(file.name()).in_object(&key.path)?;
        }
        Ok(growth)
    }
}

/// The trees of the inputs that became one tree of the output, for their comparison.
pub(super) struct Joined {
    /// The path in the output.
    path: String,
    /// The numbers of the inputs, with path and cycle.
    parts: Vec<(usize, String)>,
}

impl MergedTrees {
    /// Returns the trees that become one tree.
    pub(super) fn joined(&self) -> Vec<Joined> {
        let part =
            |(number, key): &(usize, KeyEntry)| (*number, format!("{};{}", key.path, key.cycle));
        let trees = self.0.iter();
        trees
            .map(|(path, tree)| Joined {
                path: path.clone(),
                parts: tree.parts.iter().map(part).collect(),
            })
            .collect()
    }
}

impl Joined {
    /// Compares every value of the inputs with the output.
    ///
    /// # Errors
    /// `OutOfSpecification` with the first branch that differs; `Cancelled`; an error if a file is damaged.
    pub(super) fn verify(
        &self,
        (files, numbers): (&[InputFile], &[ProcessNumbers]),
        written: &RootFile,
        memory: u64,
        context: &Context,
    ) -> Result<()> {
        let merged = open_dataset(written, Some(&self.path))?;
        let links = self.parts.iter().filter_map(|(number, path)| {
            let (file, path) = (files.get(*number)?.clone(), path.clone());
            let (name, numbers) = (file.name.clone(), of_input(numbers, *number));
            Some(Link::new(name, move || {
                let tree = Reader::open(&file.open()?, &path)?.with_processes(numbers.clone());
                Ok(Arc::new(tree) as AnyDataset)
            }))
        });
        let target = ChainSchema::Like(Arc::clone(&merged) as AnyDataset);
        let options = ChainOptions { target, ..ChainOptions::default() };
        let inputs = Chain::new(links.collect(), &options, context)?;
        let options = diff::DiffOptions::of_job(memory);
        let compared = diff::diff(&inputs, &*merged, &options, context)?;
        compared.require_equal("the inputs", "the TTree").in_object(&self.path)
    }
}
