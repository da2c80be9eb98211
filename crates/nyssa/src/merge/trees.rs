//! Merges TTrees as `hadd -ff` does: their baskets are copied as they are. Only the keys of the baskets and the tables of
//! the `TTree` are written again.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::input_file::InputFile;
use super::report::MergedTreeReport;
use crate::Context;
use crate::compare::diff;
use crate::compression::{Compression, Compressor};
use crate::dataset::AnyDataset;
use crate::error::{Error, Result, ResultExt};
use crate::fetch::{FetchUnit, in_order};
use crate::job::output::Output;
use crate::open::open_dataset;
use crate::rootfile::writer::RootFileWriter;
use crate::rootfile::{KeyEntry, RootFile};
use crate::ttree::Basket;
use crate::ttree::read::{Expected, MovedBasket};
use crate::ttree::stored::{Growth, StoredTree, add_bytes};
use crate::view::{Chain, ChainOptions, ChainSchema, Link};

/// The number of bytes of baskets that are read at once.
const UNIT_BYTES: u64 = 1 << 20;

/// The trees of all inputs, by their paths in the output.
#[derive(Default)]
pub(super) struct MergedTrees(BTreeMap<String, MergedTree>);

/// The class of the objects that say in which process other objects got their numbers. A `TRef` in a basket has such a
/// number, and the number of the process in its file.
const PROCESS: &str = "TProcessID";

/// The trees that become one.
struct MergedTree {
    /// The tree of the first input that has it.
    first: StoredTree,
    /// The keys of all trees, with the numbers of their inputs.
    parts: Vec<(usize, KeyEntry)>,
    /// The number of bytes of all baskets.
    bytes: u64,
    /// The processes that the references in baskets name.
    processes: Vec<String>,
}

impl MergedTrees {
    /// Adds the tree of a key. `processes` are those of its file, and `whose` returns the name of an input.
    ///
    /// # Errors
    /// `InvalidArgument` with the first branch that differs from the trees before; `Unsupported` for references to objects
    /// of different processes; those of [`StoredTree::read`].
    pub fn take<'f>(
        &mut self,
        number: usize,
        file: &RootFile,
        key: KeyEntry,
        processes: &[String],
        whose: impl Fn(usize) -> &'f str,
    ) -> Result<()> {
        let tree = StoredTree::read(file, &key)?;
        let bytes = tree.branches.iter().flat_map(|branch| &branch.baskets);
        let bytes: u64 = bytes.map(|basket| basket.bytes).sum();
        match self.0.get_mut(&key.path) {
            Some(merged) => {
                let first = merged.parts.first().map_or("", |part| whose(part.0));
                let matching = merged.first.matching(&tree, first);
                matching.in_file(file.name()).in_object(&key.path)?;
                merged.add_processes(processes).in_file(file.name()).in_object(&key.path)?;
                merged.parts.push((number, key));
                merged.bytes += bytes;
            }
            None => {
                let path = key.path.clone();
                let (parts, processes) = (vec![(number, key)], processes.to_vec());
                self.0.insert(path, MergedTree { first: tree, parts, bytes, processes });
            }
        }
        Ok(())
    }

    /// Returns the paths of the trees.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the number of bytes of all baskets.
    pub fn bytes(&self) -> u64 {
        self.0.values().map(|tree| tree.bytes).sum()
    }

    /// Gives the tree at `from`, or else the only one, the path `to`.
    ///
    /// # Errors
    /// `InvalidArgument` if there are several trees, or none, and for a path that another tree has.
    pub fn rename(&mut self, from: Option<&str>, to: &str) -> Result<()> {
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

    /// Returns notes on what is lost.
    pub fn notes(&self) -> Vec<String> {
        let indexed = self.0.iter().filter(|(_, tree)| tree.first.has_index);
        let note = |(path, _): (&String, _)| {
            format!(
                "{path}: the index of its entries is left out, TTree::BuildIndex makes a new one"
            )
        };
        indexed.map(note).collect()
    }

    /// Writes all trees, and returns a report on each. Progress goes to `total`.
    ///
    /// # Errors
    /// Those of the inputs and of the output; `Cancelled`.
    pub fn write(
        self,
        files: &[InputFile],
        output: &Output,
        compression: Compression,
        context: &Context,
    ) -> Result<Vec<MergedTreeReport>> {
        let total = self.bytes();
        let mut copy = Copy { output, compression, context, done: 0, total };
        let trees = self.0.into_iter();
        trees.map(|(path, tree)| tree.write(&path, files, &mut copy)).collect()
    }
}

/// Returns the processes that keys of a file name, in the order of their numbers.
pub(super) fn processes(keys: &[KeyEntry]) -> Vec<String> {
    let mut keys: Vec<_> = keys.iter().filter(|key| key.class == PROCESS).collect();
    keys.sort_by_key(|key| (key.path.len(), &key.path));
    keys.into_iter().map(|key| key.title.clone()).collect()
}

impl MergedTree {
    /// Checks that a process has the same number in all files.
    fn add_processes(&mut self, more: &[String]) -> Result<()> {
        if self.processes.is_empty() {
            self.processes = more.to_vec();
        } else if !more.is_empty() && more != self.processes {
            return Err(Error::unsupported(
                "the file has references between objects (TRef) of another process than the files before: baskets \
                 that are copied as they are would name wrong objects; merge these files with ROOT's hadd",
            ));
        }
        Ok(())
    }

    fn write(
        self,
        path: &str,
        files: &[InputFile],
        copy: &mut Copy<'_>,
    ) -> Result<MergedTreeReport> {
        let Self { first, parts, .. } = self;
        let mut growth = Growth::default();
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut template: Option<&KeyEntry> = None;
        for (number, key) in &parts {
            copy.context.check()?;
            let Some(input) = files.get(*number) else { continue };
            let file = input.open()?;
            let again = match template {
                Some(_) => Some(StoredTree::read(&file, key)?),
                None => None,
            };
            template.get_or_insert(key);
            let tree = again.as_ref().unwrap_or(&first);
            let matching = first.matching(tree, "an input before");
            let matching = matching.in_file(file.name()).in_object(&key.path)?;
            let start = growth.entries;
            growth.add(tree, &matching);
            let copied = copy.baskets((&file, tree), &matching, (dir, start), &mut growth);
            copied.in_file(file.name()).in_object(&key.path)?;
            copy.output.file.add_streamer_infos(&file.streamer_list()?)?;
        }
        let key = template.ok_or_else(|| Error::invalid_argument("a tree without inputs"))?;
        let report = MergedTreeReport {
            tree: path.to_owned(),
            entries: growth.entries,
            clusters: growth.clusters.count(),
            branches: growth.branches.len() as u64,
            baskets: growth.branches.iter().map(|branch| branch.baskets.len() as u64).sum(),
            basket_bytes: growth
                .branches
                .iter()
                .flat_map(|one| &one.baskets)
                .map(|one| one.2)
                .sum(),
            inputs: parts.len() as u64,
        };
        let keylen = RootFileWriter::object_keylen(&key.class, name, &key.title);
        let renamed = (key.name != name).then_some(name);
        let payload = first.grown(&growth, renamed, keylen).in_object(path)?;
        copy.output.file.with(|out| {
            out.write_object(dir, &key.class, name, &key.title, &payload, copy.compression)
        })?;
        Ok(report)
    }
}

/// A basket on its way: its branch in the output, its number there, and its place in the input.
type Moving<'b> = (usize, usize, &'b Basket);

/// The output of baskets.
struct Copy<'a> {
    output: &'a Output,
    compression: Compression,
    context: &'a Context,
    done: u64,
    total: u64,
}

impl Copy<'_> {
    /// Copies the baskets of a tree, in the order of its file. Those inside the tree get keys of their own.
    fn baskets(
        &mut self,
        (file, tree): (&RootFile, &StoredTree),
        matching: &[usize],
        (dir, start): (&str, u64),
        growth: &mut Growth,
    ) -> Result<()> {
        let (mut stored, mut embedded): (Vec<Moving<'_>>, Vec<Moving<'_>>) =
            (Vec::new(), Vec::new());
        for (own, &at) in matching.iter().enumerate() {
            let Some(branch) = tree.branches.get(at) else { continue };
            let places = &mut growth.branches[own].baskets;
            for basket in &branch.baskets {
                let kind = if basket.embedded.is_some() { &mut embedded } else { &mut stored };
                kind.push((own, places.len(), basket));
                places.push((start + basket.first_entry, 0, 0));
            }
        }
        stored.sort_by_key(|(_, _, basket)| basket.seek);
        let units = units(file, stored, &|own| tree.branches[matching[own]].path.clone())?;
        let context = self.context;
        in_order(file.source(), units, Some(context), |moving, bytes| {
            for (&(own, number, basket), raw) in moving.iter().zip(bytes?) {
                let path = &tree.branches[matching[own]].path;
                let written = self.one(dir, (number, basket), raw);
                growth.branches[own].baskets[number] = written
                    .map(|(seek, bytes)| (start + basket.first_entry, seek, bytes))
                    .at(|place| place.basket = Some(number as u64))
                    .in_field(path)?;
                self.done += basket.bytes;
            }
            context.report(self.done, self.total);
            Ok(())
        })?;
        let mut compressor = Compressor::new(self.compression)?;
        for (own, number, basket) in embedded {
            let path = &tree.branches[matching[own]].path;
            let raw = basket.embedded.as_deref().unwrap_or_default();
            let moved = MovedBasket::embedded(raw, &Expected::of(basket)).in_field(path)?;
            let mut payload = Vec::new();
            compressor.compress(&moved.payload, &mut payload)?;
            let (seek, bytes) = self.output.file.with(|out| {
                out.copy_basket((dir, number as u64), &moved.head, &payload, moved.objlen)
            })?;
            let branch = &mut growth.branches[own];
            branch.baskets[number] = (start + basket.first_entry, seek, bytes);
            let more = (moved.head.len() as i64 + moved.objlen as i64, bytes as i64);
            add_bytes(&mut branch.bytes, more);
            add_bytes(&mut growth.bytes, more);
        }
        Ok(())
    }

    fn one(&self, dir: &str, (number, basket): (usize, &Basket), raw: &[u8]) -> Result<(u64, u64)> {
        let (head, payload, objlen) = MovedBasket::stored(raw, &Expected::of(basket))?;
        self.output.file.with(|out| out.copy_basket((dir, number as u64), head, payload, objlen))
    }
}

/// Returns the ranges of baskets in units of about [`UNIT_BYTES`].
fn units<'b>(
    file: &RootFile,
    baskets: Vec<Moving<'b>>,
    path: &dyn Fn(usize) -> String,
) -> Result<Vec<FetchUnit<Vec<Moving<'b>>>>> {
    let end = file.source().size();
    let mut units: Vec<FetchUnit<Vec<Moving<'_>>>> = Vec::new();
    let mut bytes = u64::MAX;
    for moving in baskets {
        let range: Range<u64> = moving.2.seek..moving.2.seek.saturating_add(moving.2.bytes);
        if range.end > end {
            return Err(Error::out_of_spec(format!(
                "the basket is said to end at byte {}, the file ends at byte {end}",
                range.end
            ))
            .at(|place| place.basket = Some(moving.1 as u64)))
            .in_field(&path(moving.0));
        }
        if bytes >= UNIT_BYTES {
            units.push((Vec::new(), Vec::new()));
            bytes = 0;
        }
        bytes += moving.2.bytes;
        if let Some((ranges, items)) = units.last_mut() {
            ranges.push(range);
            items.push(moving);
        }
    }
    Ok(units)
}

/// The trees of the inputs that became one of the output, for their comparison.
pub(super) struct Joined {
    /// The path in the output.
    path: String,
    /// The numbers of the inputs, with path and cycle.
    parts: Vec<(usize, String)>,
}

impl MergedTrees {
    /// Returns which trees become one.
    pub fn joined(&self) -> Vec<Joined> {
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
    /// `OutOfSpecification` with the first branch that differs; the errors of a damaged file; `Cancelled`.
    pub fn verify(
        &self,
        files: &[InputFile],
        written: &RootFile,
        memory: u64,
        context: &Context,
    ) -> Result<()> {
        let merged = open_dataset(written, Some(&self.path))?;
        let links = self.parts.iter().filter_map(|(number, path)| {
            let (file, path) = (files.get(*number)?.clone(), path.clone());
            let name = file.name.clone();
            Some(Link::new(name, move || open_dataset(&file.open()?, Some(&path))))
        });
        let target = ChainSchema::Like(Arc::clone(&merged) as AnyDataset);
        let options = ChainOptions { target, ..ChainOptions::default() };
        let inputs = Chain::new(links.collect(), &options, context)?;
        let options = diff::DiffOptions::of_job(memory);
        let compared = diff::diff(&inputs, &*merged, &options, context)?;
        compared.require_equal("the inputs", "the TTree").in_object(&self.path)
    }
}
