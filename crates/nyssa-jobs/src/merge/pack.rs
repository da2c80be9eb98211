//! Packs the entries of merged TTrees into other baskets, or compresses their baskets again.
//!
//! Inputs that follow each other are packed together, so that small files share their baskets and clusters. The number of
//! these inputs is limited by their bytes.

use std::ops::Range;

use nyssa_root::error::{Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, name_of, split};
use nyssa_root::streamer::ProcessNumbers;
use nyssa_ttree::stored::{BranchGrowth, Growth, StoredTree};

use super::input_file::InputFile;
use super::processes::of_input;
use crate::heuristics::tree;
use crate::job::trees::{
    Clusters, Copy, Entries, Fate, Flush, Joined, Wanted, Work, basket_bytes, groups,
};

/// The options for baskets, and the memory in bytes.
pub(super) type WithMemory<'a> = (Wanted<'a>, u64);

/// The trees that become one tree.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    /// The first tree.
    pub first: &'a StoredTree,
    /// The keys of all trees, with the numbers of their inputs.
    pub parts: &'a [(usize, KeyEntry)],
    /// The numbers of the processes in the table of references of each tree, in the table of the output.
    pub tables: &'a [Vec<usize>],
    /// The number of entries of all trees.
    pub entries: u64,
}

/// Writes the baskets of the tree at `path` of the output, and returns what changes in its metadata. With `keeps`, all baskets
/// keep their entries.
///
/// # Errors
/// `Unsupported` with the branch whose entries cannot be taken apart, and if the output describes a class with other
/// members; `Cancelled`; an error if an input is damaged or cannot be read, or the output cannot be written.
pub(super) fn pack(
    Parts { first, parts, tables, entries }: Parts<'_>,
    path: &str,
    (files, numbers): (&[InputFile], &[ProcessNumbers]),
    ((wanted, memory), keeps): (WithMemory<'_>, bool),
    copy: &mut Copy<'_>,
) -> Result<Growth> {
    let flush = match keeps {
        true => Flush::KEPT,
        false => Flush::new(first, &vec![true; first.branches.len()], wanted)?,
    };
    let clusters = flush.rule.map(|rule| Clusters::new(entries, flush.entries, rule));
    let fates = fates(first, path, &flush, (wanted, keeps))?;
    let mut growth = Growth::default();
    let packing = Packing { path, fates: &fates, clusters: clusters.as_ref(), memory };
    let mut batch = Batch::default();
    for ((number, key), table) in parts.iter().zip(tables) {
        copy.check()?;
        let Some(input) = files.get(*number) else { continue };
        let file = input.open()?;
        let joined = StoredTree::read(&file, key).and_then(|mut tree| {
            tree.processes.set(of_input(numbers, *number), table.clone());
            copy.output().file.require_same_classes(&*file.streamer_infos()?, tree.classes())?;
            tree.branches.iter().try_for_each(|branch| tree.reach(branch))?;
            Ok((first.matching(&tree, "an input before")?, tree))
        });
        let (matching, tree) = joined.in_file(file.name()).in_object(&key.path)?;
        copy.output().file.add_streamer_infos(&file.streamer_list()?)?;
        batch.add(tree, matching, file.name());
        if batch.is_full() {
            packing.write(std::mem::take(&mut batch), copy, &mut growth)?;
        }
    }
    packing.write(batch, copy, &mut growth)?;
    for ((growth, fate), branch) in growth.branches.iter_mut().zip(&fates).zip(&first.branches) {
        let BranchGrowth { basket_size, compression, title, .. } =
            fate.growth(wanted.baskets.title_of(branch));
        (growth.basket_size, growth.compression, growth.title) = (basket_size, compression, title);
    }
    if let Some(clusters) = clusters {
        growth.clusters = clusters.runs;
    }
    Ok(growth)
}

/// Decides what happens to each branch. With `keeps`, all baskets keep their entries.
fn fates(
    tree: &StoredTree,
    path: &str,
    flush: &Flush,
    (wanted, keeps): (Wanted<'_>, bool),
) -> Result<Vec<Fate>> {
    let name = name_of(split(path).1).to_string();
    let branches = tree.branches.iter().enumerate();
    let fate = |(at, branch)| match keeps {
        true => Ok(Fate::as_stored(branch, wanted)),
        false => Fate::of((tree, at), &name, true, flush, wanted).in_field(&branch.path),
    };
    branches.map(fate).collect()
}

/// Inputs that are packed together.
#[derive(Default)]
struct Batch {
    trees: Vec<(StoredTree, Vec<usize>)>,
    /// The first and the last input.
    names: Option<(String, String)>,
    bytes: u64,
    /// The number of bytes of baskets inside the trees.
    embedded: u64,
}

impl Batch {
    fn add(&mut self, tree: StoredTree, matching: Vec<usize>, name: &str) {
        self.bytes += basket_bytes(&tree);
        let baskets = tree.branches.iter().flat_map(|branch| &branch.baskets);
        let embedded = baskets.filter_map(|basket| basket.embedded.as_ref());
        self.embedded += embedded.map(|bytes| bytes.len() as u64).sum::<u64>();
        self.names.get_or_insert_with(|| (name.to_owned(), String::new())).1 = name.to_owned();
        self.trees.push((tree, matching));
    }

    fn is_full(&self) -> bool {
        self.bytes >= tree::JOINED_BYTES
            || self.embedded >= tree::JOINED_EMBEDDED
            || self.trees.len() >= tree::JOINED_INPUTS
    }

    /// Returns the names of the inputs for messages.
    fn name(&self) -> String {
        match &self.names {
            Some((first, last)) if first == last => first.clone(),
            Some((first, last)) => format!("{first} ... {last}"),
            None => String::new(),
        }
    }
}

/// The data that all batches of a tree share.
struct Packing<'a> {
    path: &'a str,
    fates: &'a [Fate],
    /// The clusters of the output. `None` keeps the clusters of the inputs.
    clusters: Option<&'a Clusters>,
    memory: u64,
}

impl Packing<'_> {
    /// Writes the baskets of a batch behind the entries of `growth`.
    fn write(&self, batch: Batch, copy: &mut Copy<'_>, growth: &mut Growth) -> Result<()> {
        if batch.trees.is_empty() {
            return Ok(());
        }
        let start = growth.entries;
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for (tree, matching) in &batch.trees {
            let before = growth.entries;
            ranges.extend(tree.clusters.ranges().map(|it| before + it.start..before + it.end));
            growth.add_entries(tree, matching);
        }
        let end = growth.entries;
        if let Some(clusters) = self.clusters {
            let within = clusters.ranges.iter().map(|it| it.start.max(start)..it.end.min(end));
            ranges = within.filter(|range| range.start < range.end).collect();
        }
        let trees: Vec<_> = batch.trees.iter().map(|(tree, order)| (tree, &order[..])).collect();
        let per_entry = batch.bytes as f64 / (end - start).max(1) as f64;
        let work = Work {
            joined: &Joined::new(start, &trees),
            fates: self.fates,
            entries: &Entries::all(end),
            groups: &groups(&ranges, per_entry),
            dir: split(self.path).0,
            compression: copy.compression(),
            memory: self.memory,
            context: copy.context(),
            progress: copy.leave(batch.bytes),
        };
        work.run(copy.output(), growth).in_file(&batch.name()).in_object(self.path)
    }
}
