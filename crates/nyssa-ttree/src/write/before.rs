//! Writes a tree of the file again with more baskets. Its old baskets stay where they are.

use nyssa_root::compression::{Compression, Compressor};
use nyssa_root::error::Result;
use nyssa_root::rootfile::{KeyEntry, split};
use nyssa_root::shared_file::SharedFile;

use super::form::Content;
use super::metadata;
use super::report::TreeReport;
use super::stored_branch::StoredBranch;
use crate::model::Basket;
use crate::stored::{ClusterRuns, Growth, StoredTree, add_bytes};

/// A tree of the file that gets more baskets.
pub(super) struct Before {
    /// The key of the tree.
    pub key: KeyEntry,
    /// The stored tree.
    pub tree: StoredTree,
    /// The baskets inside the tree.
    pub embedded: Vec<EmbeddedBasket>,
}

/// A basket that was stored inside its tree, ready for its own key.
#[derive(Debug)]
pub struct EmbeddedBasket {
    /// The index of the branch.
    pub branch: usize,
    /// The number of the basket in its branch.
    pub number: usize,
    /// The key with the header of the basket.
    pub head: Vec<u8>,
    /// The payload before compression.
    pub payload: Vec<u8>,
    /// The size of the payload when it is uncompressed, in bytes.
    pub objlen: u64,
}

impl Before {
    /// Returns the number of old baskets of a branch.
    pub(super) fn number_of_baskets(&self, branch: usize) -> usize {
        self.tree.branches.get(branch).map_or(0, |branch| branch.baskets.len())
    }

    /// Writes the tree with its number of entries, its clusters, and the new baskets of its branches. It replaces the
    /// old tree when the file is finished. Without new entries, nothing is written.
    ///
    /// # Errors
    /// `LimitExceeded` for a tree whose metadata have more than 1 GiB, and for numbers that the version of its class
    /// cannot hold; an error if the sink cannot be written.
    pub(super) fn write(
        self,
        file: &SharedFile,
        path: &str,
        (entries, clusters, branches): (u64, &ClusterRuns, &[StoredBranch]),
        compression: Compression,
    ) -> Result<TreeReport> {
        let Self { key, tree, embedded } = self;
        let mut growth = Growth::default();
        growth.add(&tree, &(0..tree.branches.len()).collect::<Vec<_>>());
        for (growth, branch) in growth.branches.iter_mut().zip(&tree.branches) {
            let place = |item: &Basket| (item.first_entry, item.seek, item.bytes);
            growth.baskets = branch.baskets.iter().map(place).collect();
        }
        let old = tree.branches.len();
        let new = branches.get(old..).unwrap_or_default();
        if entries > tree.entries || !new.is_empty() {
            let (dir, name) = split(path);
            store(file, dir, &embedded, &mut growth, compression)?;
            growth.entries = entries;
            growth.clusters = clusters.clone();
            for (at, branch) in branches.iter().enumerate() {
                add(branch, at, &mut growth, &tree);
            }
            if !new.is_empty() {
                growth.new = Some(metadata::added(branches, old, entries)?);
            }
            let mut report = report(&growth, &tree);
            report.baskets += new.iter().map(|branch| branch.places.len() as u64).sum::<u64>();
            let named = new.iter().map(|branch| (branch.form.name.clone(), branch.zip_bytes));
            report.branches.extend(named);
            let make = |keylen| tree.grown(&growth, None, keylen);
            file.with(|file| file.replace_object(dir, (name, key.cycle), make, compression))?;
            return Ok(report);
        }
        Ok(report(&growth, &tree))
    }
}

/// Writes the baskets that were inside the tree.
fn store(
    file: &SharedFile,
    dir: &str,
    embedded: &[EmbeddedBasket],
    growth: &mut Growth,
    compression: Compression,
) -> Result<()> {
    let mut compressor = Compressor::new(compression)?.with_checksums()?;
    for EmbeddedBasket { branch, number, head, payload, objlen } in embedded {
        let Some(branch) = growth.branches.get_mut(*branch) else { continue };
        let mut stored = Vec::new();
        compressor.compress(payload, &mut stored)?;
        let place = (dir, *number as u64);
        let (seek, bytes) = file.with(|file| file.copy_basket(place, head, &stored, *objlen))?;
        if let Some(place) = branch.baskets.get_mut(*number) {
            (place.1, place.2) = (seek, bytes);
        }
        let more = ((head.len() as u64 + objlen) as i64, bytes as i64);
        add_bytes(&mut branch.bytes, more);
        add_bytes(&mut growth.bytes, more);
    }
    Ok(())
}

/// Adds the bytes and the new baskets of a branch.
fn add(branch: &StoredBranch, at: usize, growth: &mut Growth, tree: &StoredTree) {
    let more = (branch.tot_bytes as i64, branch.zip_bytes as i64);
    add_bytes(&mut growth.bytes, more);
    let (Some(grown), Some(stored)) = (growth.branches.get_mut(at), tree.branches.get(at)) else {
        return;
    };
    grown.counts = matches!(branch.form.content, Content::Counter(_));
    let places = branch.places.iter().map(|place| (place.first, place.seek, place.bytes));
    grown.baskets.extend(places);
    add_bytes(&mut grown.bytes, more);
    let size = branch.state.basket_size as i64;
    let keeps_size = branch.places.is_empty() || size == stored.basket_size;
    grown.basket_size = (!keeps_size).then_some(size);
    grown.has_objects |= branch.state.has_objects;
    if matches!(branch.form.content, Content::Items) {
        grown.maximum = grown.maximum.max(Some(branch.state.maximum));
    } else if branch.form.has_maximum() {
        grown.leaves.iter_mut().for_each(|leaf| leaf.add_largest(branch.state.maximum));
    }
}

fn report(growth: &Growth, tree: &StoredTree) -> TreeReport {
    let (tot, zip) = growth.bytes;
    let branches = tree.branches.iter().zip(&growth.branches);
    TreeReport {
        entries: growth.entries,
        tot_bytes: tot.unsigned_abs(),
        zip_bytes: zip.unsigned_abs(),
        baskets: growth.branches.iter().map(|branch| branch.baskets.len() as u64).sum(),
        clusters: growth.clusters.count(),
        branches: branches
            .map(|(stored, grown)| (stored.path.clone(), grown.bytes.1.unsigned_abs()))
            .collect(),
    }
}
