//! Writes the baskets of a tree into its file, records their places, and writes the tree at the end.

use nyssa_root::compression::Compression;
use nyssa_root::error::{Result, ResultExt};
use nyssa_root::fill::TurnsWriter;
use nyssa_root::rootfile::writer::{StoredBasket, Unwritten};
use nyssa_root::rootfile::{name_of, split};
use nyssa_root::shared_file::SharedFile;
use nyssa_root::streamer::StreamerInfos;

use super::before::Before;
use super::form::BranchForm;
use super::metadata;
use super::options::{BranchSettings, TreeWriteOptions};
use super::references;
use super::report::TreeReport;
use super::stored_branch::{Place, StoredBranch};
use super::target::{BasketTarget, BranchState, CompressedBasket, CompressedCluster};
use crate::stored::ClusterRuns;

/// The class of trees.
const CLASS: &str = "TTree";

/// A tree in a file, without its open baskets.
pub(super) struct StoredTree {
    file: SharedFile,
    /// The path in the file: directories and name.
    path: String,
    name: String,
    options: TreeWriteOptions,
    branches: Vec<StoredBranch>,
    /// The number of entries of complete clusters.
    entries: u64,
    clusters: ClusterRuns,
    /// The existing tree of the file, if this tree continues it.
    before: Option<Before>,
}

impl StoredTree {
    /// Starts the tree `path` in `file`, where this path is reserved, with branches and their settings.
    pub(super) fn new(
        file: &SharedFile,
        path: &str,
        (forms, settings): (&[BranchForm], &[BranchSettings]),
        options: TreeWriteOptions,
    ) -> Self {
        let name = name_of(split(path).1).to_string();
        let branches = forms.iter().cloned().zip(settings);
        let branches =
            branches.map(|(form, &own)| StoredBranch::new(form, &name, own, &options)).collect();
        Self {
            file: file.clone(),
            path: path.to_owned(),
            name,
            options,
            branches,
            entries: 0,
            clusters: ClusterRuns::default(),
            before: None,
        }
    }

    /// Continues a tree of the file, whose complete clusters are `clusters`, with `entries` entries.
    pub(super) fn resume(&mut self, before: Before, clusters: ClusterRuns, entries: u64) {
        (self.before, self.clusters, self.entries) = (Some(before), clusters, entries);
    }

    /// Adds branches behind the others, whose forms may change.
    pub(super) fn add_branches(
        &mut self,
        forms: &[BranchForm],
        settings: &[BranchSettings],
        options: &TreeWriteOptions,
    ) {
        for (at, (form, &own)) in forms.iter().zip(settings).enumerate() {
            match self.branches.get_mut(at) {
                Some(branch) => branch.form = form.clone(),
                None => {
                    let new = StoredBranch::new(form.clone(), &self.name, own, options);
                    self.branches.push(new);
                }
            }
        }
    }

    /// Returns the file.
    pub(super) fn file(&self) -> &SharedFile {
        &self.file
    }

    /// Returns the name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of entries that the tree had in the file before, or `None` for a new tree.
    pub(super) fn entries_before(&self) -> Option<u64> {
        self.before.as_ref().map(|before| before.tree.entries)
    }

    /// Returns the cycle of a tree that exists.
    pub(super) fn cycle(&self) -> Option<u16> {
        self.before.as_ref().map(|before| before.key.cycle)
    }

    /// Returns the complete clusters.
    pub(super) fn clusters(&self) -> &ClusterRuns {
        &self.clusters
    }

    /// Returns the path in the file.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Records that the last baskets of a branch are compressed in another way.
    pub(super) fn set_compression(&mut self, branch: &str, compression: Compression) {
        let branches = self.branches.iter_mut().filter(|item| item.form.name == branch);
        branches.for_each(|item| item.compression = compression);
    }

    /// Returns the options.
    pub(super) fn options(&self) -> &TreeWriteOptions {
        &self.options
    }

    /// Returns the number of entries of complete clusters.
    pub(super) fn entries(&self) -> u64 {
        self.entries
    }

    /// Completes entries that are in no cluster: baskets without clusters are complete up to `end`.
    pub(super) fn set_end(&mut self, end: u64, branches: Vec<BranchState>) {
        self.entries = end;
        for (branch, state) in self.branches.iter_mut().zip(branches) {
            let maximum = state.maximum.max(branch.state.maximum);
            let has_objects = state.has_objects || branch.state.has_objects;
            branch.state = BranchState { maximum, has_objects, ..state };
        }
    }

    /// Writes baskets whose entries follow `before` other entries. With a place for unwritten bytes, they only get their
    /// places, and their payloads move there.
    fn write(
        &mut self,
        baskets: &mut [CompressedBasket],
        before: u64,
        mut unwritten: Option<&mut Unwritten>,
    ) -> Result<()> {
        let (dir, tree) = (split(&self.path).0, &*self.name);
        let (branches, before_now) = (&mut self.branches, &self.before);
        self.file.with(|file| {
            for CompressedBasket { branch: at, first, header, payload, objlen } in baskets {
                let Some(branch) = branches.get_mut(*at) else { continue };
                let old = before_now.as_ref().map_or(0, |before| before.number_of_baskets(*at));
                let bytes_in = payload.len() as u64;
                let name = branch.form.name.as_str();
                let _stage = nyssa_observe::stage!("commit", column = name, bytes_in = bytes_in);
                let stored = StoredBasket {
                    dir,
                    branch: name,
                    tree,
                    number: (old + branch.places.len()) as u64,
                    header,
                    objlen: *objlen as u64,
                };
                let place = match &mut unwritten {
                    Some(unwritten) => {
                        file.place_basket(&stored, std::mem::take(payload), unwritten)
                    }
                    None => file.write_basket(&stored, payload),
                };
                let (seek, bytes) = place.in_field(name)?;
                branch.places.push(Place { seek, bytes, first: before + *first });
                branch.tot_bytes += (branch.keylen + *objlen) as u64;
                branch.zip_bytes += bytes;
            }
            Ok(())
        })
    }

    /// Writes the tree itself. `nominal` is the size of clusters if there is none, or ROOT's `fAutoFlush`. The file
    /// must be finished separately.
    ///
    /// # Errors
    /// `LimitExceeded` for a tree whose metadata have more than 1 GiB; an error if the sink cannot be written.
    pub(super) fn finish(mut self, nominal: i64) -> Result<TreeReport> {
        self.file.line().settle();
        self.clusters.auto_flush = nominal;
        let report = match self.before.take() {
            Some(before) => {
                let now = (self.entries, &self.clusters, &self.branches[..]);
                before.write(&self.file, &self.path, now, self.options.compression)
            }
            None => self.write_new(),
        };
        let report = report.in_object(&self.path)?;
        self.file.end(&self.path);
        Ok(report)
    }

    fn write_new(&self) -> Result<TreeReport> {
        let (dir, name) = split(&self.path);
        let (title, compression) = (&self.options.title, self.options.compression);
        let table = self.options.parts.as_ref().and_then(|parts| parts.references(self.entries));
        let place = (&self.file, dir, &*self.name);
        let table = table
            .map(|table| references::write(table, &self.branches, place, &self.options))
            .transpose()?;
        let branches = (&self.branches[..], table.as_ref());
        let tree =
            metadata::tree(&self.name, &self.options, self.entries, branches, &self.clusters);
        let mut infos = StreamerInfos::of_trees()?;
        if let Some(parts) = &self.options.parts {
            parts.describe(&mut infos);
        }
        let make = |keylen| Ok(tree.serialize(&infos, keylen)?.bytes);
        self.file.with(|file| {
            file.write_made(dir, CLASS, (name, title.as_bytes()), make, compression)
        })?;
        let sum = |count: fn(&StoredBranch) -> u64| self.branches.iter().map(count).sum();
        Ok(TreeReport {
            entries: self.entries,
            tot_bytes: sum(|branch| branch.tot_bytes),
            zip_bytes: sum(|branch| branch.zip_bytes),
            baskets: sum(|branch| branch.places.len() as u64),
            clusters: self.clusters.count(),
            branches: self
                .branches
                .iter()
                .map(|branch| (branch.form.name.clone(), branch.zip_bytes))
                .collect(),
        })
    }
}

/// The baskets of one filler come in order, and their entry numbers are entry numbers of the tree.
impl BasketTarget for StoredTree {
    fn store(&mut self, mut basket: CompressedBasket) -> Result<Option<Vec<u8>>> {
        self.write(std::slice::from_mut(&mut basket), 0, None)?;
        Ok(Some(basket.payload))
    }

    fn end_cluster(&mut self, end: u64, branches: Vec<BranchState>) -> Result<()> {
        self.clusters.close(self.entries, end);
        self.set_end(end, branches);
        Ok(())
    }
}

/// Clusters of fill contexts come in any order, and each counts its own entries.
impl TurnsWriter for StoredTree {
    type Cluster = CompressedCluster;

    const OBJECT: &'static str = super::target::OBJECT;

    fn commit(&mut self, cluster: CompressedCluster) -> Result<Unwritten> {
        let CompressedCluster { first, entries, mut baskets, branches } = cluster;
        baskets.iter_mut().for_each(|basket| basket.first -= first);
        let mut unwritten = self.file.with(|file| Ok(file.unwritten()))?;
        self.write(&mut baskets, self.entries, unwritten.as_mut())?;
        self.end_cluster(self.entries + entries, branches)?;
        Ok(unwritten.unwrap_or_default())
    }
}
