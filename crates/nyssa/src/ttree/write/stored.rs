//! Writes the baskets of a tree into its file, keeps their places, and writes the tree at the end.

use super::clusters::Runs;
use super::form::BranchForm;
use super::metadata;
use super::options::TreeWriteOptions;
use super::stored_branch::{Place, StoredBranch};
use super::target::{BasketTarget, BranchState, SealedBasket, SealedCluster};
use crate::error::{Result, ResultExt};
use crate::fill::TurnsWriter;
use crate::rootfile::writer::{RootFileWriter, StoredBasket};
use crate::shared_file::SharedFile;
use crate::streamer::StreamerInfos;

/// The class of trees.
const CLASS: &str = "TTree";

/// A tree in a file, without its open baskets.
pub(super) struct StoredTree {
    file: SharedFile,
    /// The path in the file: directories and name.
    path: String,
    options: TreeWriteOptions,
    branches: Vec<StoredBranch>,
    /// The number of entries of complete clusters.
    entries: u64,
    runs: Runs,
}

/// The totals of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeReport {
    /// The number of entries.
    pub entries: u64,
    /// The number of bytes of all baskets with their keys, before compression.
    pub tot_bytes: u64,
    /// The number of bytes of all baskets with their keys.
    pub zip_bytes: u64,
    /// The number of baskets.
    pub baskets: u64,
    /// The number of clusters.
    pub clusters: u64,
    /// The branches with the number of bytes of their baskets with their keys.
    pub branches: Vec<(String, u64)>,
}

impl StoredTree {
    /// Starts the tree `path` in `file` with branches.
    ///
    /// # Errors
    /// `InvalidArgument` when the file already has that path.
    pub fn create(
        file: &SharedFile,
        path: &str,
        forms: &[BranchForm],
        options: TreeWriteOptions,
    ) -> Result<Self> {
        let (_, name) = split(path);
        let branches = forms.iter().map(|form| StoredBranch::new(form.clone(), name, &options));
        let branches = branches.collect();
        file.begin(path)?;
        Ok(Self {
            file: file.clone(),
            path: path.to_owned(),
            options,
            branches,
            entries: 0,
            runs: Runs::default(),
        })
    }

    /// Returns the options.
    pub fn options(&self) -> &TreeWriteOptions {
        &self.options
    }

    /// Returns the number of entries of complete clusters.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Takes entries that are in no cluster: baskets without clusters are complete up to `end`.
    pub fn set_end(&mut self, end: u64, branches: Vec<BranchState>) {
        self.entries = end;
        for (branch, state) in self.branches.iter_mut().zip(branches) {
            let maximum = state.maximum.max(branch.state.maximum);
            branch.state = BranchState { maximum, ..state };
        }
    }

    /// Writes baskets whose entries follow `before` others.
    fn write(&mut self, baskets: &[SealedBasket], before: u64) -> Result<()> {
        let (dir, tree) = split(&self.path);
        let branches = &mut self.branches;
        self.file.with(|file| {
            for SealedBasket { branch, first, header, payload, objlen } in baskets {
                let Some(branch) = branches.get_mut(*branch) else { continue };
                let bytes_in = payload.len() as u64;
                let name = branch.form.name.as_str();
                let _span = tracing::trace_span!("commit", column = name, bytes_in).entered();
                let stored = StoredBasket {
                    dir,
                    branch: name,
                    tree,
                    number: branch.places.len() as u64,
                    header,
                    payload,
                    objlen: *objlen as u64,
                };
                let (seek, bytes) = file.write_basket(&stored).in_field(name)?;
                branch.places.push(Place { seek, bytes, first: before + first });
                branch.tot_bytes += (branch.keylen + objlen) as u64;
                branch.zip_bytes += bytes;
            }
            Ok(())
        })
    }

    /// Writes the tree itself. `nominal` is the size of clusters if there is none, or ROOT's `fAutoFlush`. The file
    /// must be finished separately.
    ///
    /// # Errors
    /// The errors of the sink; `LimitExceeded` for a tree whose metadata have more than 1 GiB.
    pub fn finish(self, nominal: i64) -> Result<TreeReport> {
        let (dir, name) = split(&self.path);
        let title = &self.options.title;
        let clusters = self.runs.describe(nominal);
        let tree = metadata::tree(name, &self.options, self.entries, &self.branches, &clusters);
        let keylen = RootFileWriter::object_keylen(CLASS, name, title);
        let tree = tree.serialize(&StreamerInfos::of_trees()?, keylen).in_object(&self.path)?;
        let compression = self.options.compression;
        self.file
            .with(|file| file.write_object(dir, CLASS, name, title, &tree.bytes, compression))?;
        self.file.end(&self.path);
        let sum = |count: fn(&StoredBranch) -> u64| self.branches.iter().map(count).sum();
        Ok(TreeReport {
            entries: self.entries,
            tot_bytes: sum(|branch| branch.tot_bytes),
            zip_bytes: sum(|branch| branch.zip_bytes),
            baskets: sum(|branch| branch.places.len() as u64),
            clusters: self.runs.count(),
            branches: self
                .branches
                .iter()
                .map(|branch| (branch.form.name.clone(), branch.zip_bytes))
                .collect(),
        })
    }
}

/// The baskets of one filler come in order, and their entries are those of the tree.
impl BasketTarget for StoredTree {
    fn store(&mut self, baskets: Vec<SealedBasket>) -> Result<Vec<SealedBasket>> {
        self.write(&baskets, 0)?;
        Ok(baskets)
    }

    fn end_cluster(&mut self, end: u64, branches: Vec<BranchState>) -> Result<()> {
        self.runs.close(self.entries, end);
        self.set_end(end, branches);
        Ok(())
    }
}

/// Clusters of fill contexts come in any order, and each counts its own entries.
impl TurnsWriter for StoredTree {
    type Cluster = SealedCluster;

    const OBJECT: &'static str = "TTree";

    fn commit(&mut self, cluster: SealedCluster) -> Result<()> {
        let SealedCluster { first, entries, mut baskets, branches } = cluster;
        baskets.iter_mut().for_each(|basket| basket.first -= first);
        self.write(&baskets, self.entries)?;
        self.end_cluster(self.entries + entries, branches)
    }
}

/// Splits a path into directory and name.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
