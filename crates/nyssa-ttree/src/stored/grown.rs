//! Writes a stored tree with more baskets.

use std::collections::HashSet;

use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::streamer::values::{Apart, EditedObject, ObjectId, Value};
use nyssa_root::streamer::{StreamerInfos, Target};

use super::tree::{StoredBranch, StoredLeaf};
use super::{ClusterRuns, NO_REFERENCES, StoredTree};

/// The smallest size of the table of baskets that ROOT reads.
const MIN_BASKETS: usize = 10;
/// The bytes of an empty array of objects (`TObjArray`) behind its byte count: version, `TObject`, name, size, lower bound.
const NO_OBJECTS: [u8; 21] = [0, 3, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// The place of the size in it.
const SIZE: std::ops::Range<usize> = 13..17;
/// The bit of a byte count.
const BYTE_COUNT: u32 = 0x4000_0000;

/// The properties of a tree with its new baskets.
#[derive(Debug, Default)]
pub struct Growth {
    /// The number of entries.
    pub entries: u64,
    /// The bytes of all baskets with their keys, before compression and as stored.
    pub bytes: (i64, i64),
    /// The clusters.
    pub clusters: ClusterRuns,
    /// The branches, in the order of the stored tree.
    pub branches: Vec<BranchGrowth>,
    /// The branches that the tree gets behind its own.
    pub new: Option<NewBranches>,
}

/// New branches of a stored tree.
#[derive(Debug)]
pub struct NewBranches {
    /// The top branches, with the branches below them.
    pub branches: Vec<Target>,
    /// The leaves of all new branches.
    pub leaves: Vec<Target>,
    /// The labels of the old leaves that count items of new branches, with the numbers of their branches. Each branch has
    /// one leaf.
    pub counters: Vec<(usize, usize)>,
    /// The classes of branches and leaves.
    pub infos: StreamerInfos,
}

/// The properties of a branch with its new baskets.
#[derive(Debug, Default)]
pub struct BranchGrowth {
    /// The first entry, the position and the size with the key of each basket.
    pub baskets: Vec<(u64, u64, u64)>,
    /// The bytes of its baskets with their keys, before compression and as stored.
    pub bytes: (i64, i64),
    /// Whether the branch is left out.
    pub is_left_out: bool,
    /// The size of a basket with its key, in bytes, if it changes.
    pub basket_size: Option<i64>,
    /// The title, if it changes.
    pub title: Option<String>,
    /// The compression as ROOT's number, if it changes.
    pub compression: Option<i64>,
    /// The largest number of items of a collection.
    pub maximum: Option<i64>,
    /// Whether entries may have references between their objects, or objects behind pointers.
    pub has_objects: bool,
    /// The smallest and the largest value and the longest string of each leaf.
    pub leaves: Vec<LeafGrowth>,
    /// Whether its leaf counts the items of other branches from now on.
    pub counts: bool,
}

/// The properties of a leaf with more entries.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeafGrowth {
    range: Option<(i64, i64)>,
    text: Option<i64>,
}

impl Growth {
    /// Adds the statements of `tree` about its entries, with its branches in the order `matching`. Baskets are added
    /// separately.
    pub fn add(&mut self, tree: &StoredTree, matching: &[usize]) {
        self.add_entries(tree, matching);
        add_bytes(&mut self.bytes, tree.bytes);
        for (growth, &at) in self.branches.iter_mut().zip(matching) {
            let Some(branch) = tree.branches.get(at) else { continue };
            add_bytes(&mut growth.bytes, branch.bytes);
        }
    }

    /// Adds the statements of `tree` as [`Self::add`] does, except the bytes of its baskets.
    pub fn add_entries(&mut self, tree: &StoredTree, matching: &[usize]) {
        if self.branches.is_empty() {
            self.clusters = tree.clusters.clone();
            self.branches.resize_with(matching.len(), BranchGrowth::default);
        } else {
            self.clusters.extend(&tree.clusters);
        }
        self.entries += tree.entries;
        for (growth, &at) in self.branches.iter_mut().zip(matching) {
            let Some(branch) = tree.branches.get(at) else { continue };
            growth.maximum = growth.maximum.max(branch.maximum);
            growth.has_objects |= branch.bits & NO_REFERENCES == 0;
            growth.leaves.resize(branch.leaves.len(), LeafGrowth::default());
            for (leaf, other) in growth.leaves.iter_mut().zip(&branch.leaves) {
                leaf.add(other);
            }
        }
    }
}

impl LeafGrowth {
    /// Adds entries with `largest` as the largest count, or as the length of the longest string.
    pub fn add_largest(&mut self, largest: i64) {
        // ROOT counts the zero after a string.
        let limit = largest + i64::from(self.text.is_some());
        self.text = self.text.map(|text| text.max(limit));
        self.range = self.range.map(|(low, high)| (low, high.max(limit)));
    }

    fn add(&mut self, leaf: &StoredLeaf) {
        self.range = match (self.range, leaf.range) {
            (Some((low, high)), Some(other)) => Some((low.min(other.0), high.max(other.1))),
            (own, other) => own.or(other),
        };
        self.text = self.text.max(leaf.text);
    }
}

/// Adds bytes before compression and as stored.
pub fn add_bytes(bytes: &mut (i64, i64), more: (i64, i64)) {
    bytes.0 = bytes.0.saturating_add(more.0);
    bytes.1 = bytes.1.saturating_add(more.1);
}

impl StoredTree {
    /// Returns the bytes of the tree with the baskets of `growth`, for a key of `keylen` bytes. All baskets are in
    /// the file, and an index of the entries is left out if their number changes. With `name`, the tree gets another
    /// name.
    ///
    /// # Errors
    /// `LimitExceeded` for numbers that the stored version of a class cannot hold; `Unsupported` if a reference leads
    /// to replaced bytes.
    ///
    pub fn grown(self, growth: &Growth, name: Option<&str>, keylen: usize) -> Result<Vec<u8>> {
        let Self { entries: before, branches, references, mut object, has_index, .. } = self;
        let root = object.object().root().id();
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let entries = number(growth.entries);
        let (auto_flush, ranges) = growth.clusters.describe();
        object.set_int(root, "fEntries", entries);
        object.set_int(root, "fTotBytes", growth.bytes.0);
        object.set_int(root, "fZipBytes", growth.bytes.1);
        object.set_int(root, "fSavedBytes", growth.bytes.1);
        object.set_int(root, "fFlushedBytes", growth.bytes.1);
        object.set_int(root, "fAutoFlush", auto_flush);
        object.set_int(root, "fNClusterRange", number(ranges.len() as u64));
        let (ends, sizes): (Vec<i64>, Vec<i64>) = ranges.into_iter().unzip();
        object.set_ints(root, "fClusterRangeEnd", &ends)?;
        object.set_ints(root, "fClusterSize", &sizes)?;
        if has_index && growth.entries != before {
            object.set_bytes(root, "fTreeIndex", vec![0; 4]);
        }
        if let Some(name) = name {
            object.set_text(root, "fName", name);
        }
        remove(&branches, &growth.branches, &mut object)?;
        if let Some(references) = references {
            match growth.branches.get(references.branch) {
                Some(table) if table.is_left_out => {
                    object.set_bytes(root, "fBranchRef", vec![0; 4]);
                }
                _ => references.write(&mut object)?,
            }
        }
        let changed = branches.iter().zip(&growth.branches);
        for (branch, growth) in changed.filter(|(_, growth)| !growth.is_left_out) {
            let id = branch.id;
            object.set_int(id, "fEntries", entries);
            object.set_int(id, "fEntryNumber", entries);
            object.set_int(id, "fTotBytes", growth.bytes.0);
            object.set_int(id, "fZipBytes", growth.bytes.1);
            // ROOT looks for the open basket in the array, and old versions of a branch do not make it large enough.
            let is_old = matches!(object.object().view(id).get("fEntries"), Some(Value::Float(_)));
            let places = if is_old { growth.baskets.len() + 1 } else { 0 };
            object.set_bytes(id, "fBaskets", no_objects(places)?);
            if branch.elsewhere.is_some() {
                object.set_text(id, "fFileName", "");
            }
            if let Some(size) = growth.basket_size {
                object.set_int(id, "fBasketSize", size);
            }
            if let Some(title) = &growth.title {
                object.set_text(id, "fTitle", title);
            }
            if let Some(compression) = growth.compression {
                object.set_int(id, "fCompress", compression);
            }
            if let Some(maximum) = growth.maximum {
                object.set_int(id, "fMaximum", maximum);
            }
            if growth.has_objects && branch.bits & NO_REFERENCES != 0 {
                object.set_int(id, "fBits", branch.bits & !NO_REFERENCES);
            }
            if growth.counts {
                branch.leaves.iter().for_each(|leaf| object.set_int(leaf.id, "fIsRange", 1));
            }
            for (leaf, growth) in branch.leaves.iter().zip(&growth.leaves) {
                if let Some((low, high)) = growth.range {
                    object.set_int(leaf.id, "fMinimum", low);
                    object.set_int(leaf.id, "fMaximum", high);
                }
                if let Some(len) = growth.text {
                    object.set_int(leaf.id, "fLen", len);
                }
            }
            let count = growth.baskets.len();
            let size = MIN_BASKETS.max(count + 1);
            let table = |value: fn(&(u64, u64, u64)) -> u64, end: i64| {
                let values = growth.baskets.iter().map(|basket| number(value(basket)));
                let mut values: Vec<i64> = values.chain([end]).collect();
                values.resize(size, 0);
                values
            };
            object.set_int(id, "fWriteBasket", number(count as u64));
            object.set_int(id, "fMaxBaskets", number(size as u64));
            let end = if count == 0 { 0 } else { entries };
            let tables = [
                ("fBasketEntry", table(|basket| basket.0, end)),
                ("fBasketSeek", table(|basket| basket.1, 0)),
                ("fBasketBytes", table(|basket| basket.2, 0)),
            ];
            for (member, values) in tables {
                object.set_ints(id, member, &values).in_field(&branch.path)?;
            }
        }
        if let Some(new) = &growth.new {
            add(new, &branches, &mut object)?;
        }
        object.finish(keylen)
    }
}

/// Returns the bytes of an array of `size` objects, none of which is there.
fn no_objects(size: usize) -> Result<Vec<u8>> {
    let too_many = || Error::limit("the number of baskets of a branch");
    let size = u32::try_from(size).ok().filter(|size| *size < 1 << 26).ok_or_else(too_many)?;
    let count = BYTE_COUNT | (NO_OBJECTS.len() as u32 + 4 * size);
    let mut bytes = NO_OBJECTS.to_vec();
    bytes[SIZE].copy_from_slice(&size.to_be_bytes());
    bytes.resize(bytes.len() + 4 * size as usize, 0);
    Ok([&count.to_be_bytes()[..], &bytes].concat())
}

/// Adds new branches and their leaves.
fn add(new: &NewBranches, branches: &[StoredBranch], object: &mut EditedObject) -> Result<()> {
    let root = object.object().root().id();
    for &(label, at) in &new.counters {
        let branch = branches.get(at).and_then(|branch| Some((branch, branch.leaves.first()?)));
        let (branch, leaf) = branch.ok_or_else(|| Error::unsupported("a counter has no leaf"))?;
        object.label(label, leaf.id).in_field(&branch.path)?;
    }
    for (member, items) in [("fBranches", &new.branches), ("fLeaves", &new.leaves)] {
        let items = Apart::of(items, &new.infos, &|label| object.is_labelled(label))?;
        object.add_items(root, member, items)?;
    }
    Ok(())
}

/// Removes branches that are left out, and their leaves. The branches below such a branch are left out, too.
fn remove(
    branches: &[StoredBranch],
    growth: &[BranchGrowth],
    object: &mut EditedObject,
) -> Result<()> {
    let root = object.object().root().id();
    let gone = || branches.iter().zip(growth).filter(|(_, growth)| growth.is_left_out);
    let ids: HashSet<ObjectId> = gone().map(|(branch, _)| branch.id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let leaves = gone().flat_map(|(branch, _)| &branch.leaves);
    let leaves: HashSet<ObjectId> = leaves.map(|leaf| leaf.id).collect();
    object.retain_items(root, "fLeaves", |id| !leaves.contains(&id))?;
    let mut parents = HashSet::new();
    for (branch, _) in gone() {
        let above = branch.parent.and_then(|at| Some((branches.get(at)?, growth.get(at)?)));
        let parent = match above {
            Some((_, growth)) if growth.is_left_out => continue,
            Some((parent, _)) => parent.id,
            None => root,
        };
        if parents.insert(parent) {
            object.retain_items(parent, "fBranches", |id| !ids.contains(&id))?;
        }
    }
    Ok(())
}
