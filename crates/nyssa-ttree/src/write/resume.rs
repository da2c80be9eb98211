//! Continues an existing tree: new entries go into new baskets of its branches.

use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_root::rootfile::KeyEntry;
use nyssa_root::shared_file::SharedFile;

use super::before::{Before, EmbeddedBasket};
use super::existing;
use super::filler::Filler;
use super::options::{AutoFlush, TreeWriteOptions};
use super::stored::StoredTree;
use super::writer::TreeWriter;
use crate::model::Tree;
use crate::stored::StoredTree as OldTree;

/// An existing tree in the file.
pub struct ExistingTree {
    /// The key of the tree.
    pub key: KeyEntry,
    /// The branches of the tree.
    pub model: Tree,
    /// The object that gets more baskets.
    pub stored: OldTree,
    /// The baskets inside the object, which get their own keys.
    pub embedded: Vec<EmbeddedBasket>,
}

impl TreeWriter {
    /// Adds to a tree of a file that is changed in place ([`nyssa_root::rootfile::writer::RootFileWriter::update`]).
    /// Its branches keep their types, counters, compression and sizes of baskets. Clusters continue by `fAutoFlush`:
    /// an open cluster takes more entries. Only two options are used: the compression of the tree object and the
    /// number of fill contexts.
    ///
    /// # Errors
    /// `InvalidArgument` when the tree is already being written; `Unsupported` for a damaged tree. A tree with a branch
    /// that cannot be filled takes no entries ([`TreeWriter::check_entries`]), but more branches.
    pub fn resume(
        file: &SharedFile,
        existing: ExistingTree,
        options: TreeWriteOptions,
        context: &Context,
    ) -> Result<Self> {
        let ExistingTree { key, model, stored, embedded } = existing;
        let (plan, settings, refused) = existing::plan(&model, &stored, options.compression)?;
        let path = key.path.clone();
        file.resume(&path)?;
        let auto_flush = AutoFlush::from(stored.clusters.auto_flush);
        let forms = (&plan.branches[..], &settings[..]);
        let mut tree = StoredTree::new(file, &path, forms, options);
        let by_bytes = matches!(auto_flush, AutoFlush::Bytes(_));
        let mut filler =
            Filler::new(plan, (&key.name.to_string(), &settings), (auto_flush, by_bytes), context);
        let mut clusters = stored.clusters.clone();
        let mut start = clusters.reopen(stored.ranged);
        let mut zip_bytes = if start == 0 { stored.bytes.1.unsigned_abs() } else { 0 };
        if let AutoFlush::Bytes(limit) = auto_flush
            && zip_bytes > limit
        {
            // The tree has enough bytes for a separate cluster.
            clusters.close(start, stored.entries);
            (start, zip_bytes) = (stored.entries, 0);
        }
        let open = start < stored.entries;
        let tot_bytes = |bytes: i64| if open { bytes.unsigned_abs() } else { 0 };
        let tot_bytes: Vec<u64> =
            stored.branches.iter().map(|branch| tot_bytes(branch.bytes.0)).collect();
        filler.resume(stored.entries, start, &tot_bytes, zip_bytes);
        tree.resume(Before { key, tree: stored, embedded }, clusters, start);
        let refused = refused.map(|error| error.at(|place| place.object = Some(path)));
        Ok(Self::over(filler, tree, file).refusing(refused))
    }
}
