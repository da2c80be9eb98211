//! Plans, writes and verifies one TTree.

use std::sync::Arc;
use std::time::Instant;

use nyssa_data::dataset::AnyDataset;
use nyssa_data::view::{Selected, SelectedRange};
use nyssa_rntuple::write::WriteReport;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile, name_of, split};
use nyssa_ttree::stored::{Growth, StoredBranch, StoredTree};

use super::branches;
use crate::compare::diff::{self, DiffOptions};
use crate::job::output::Output;
use crate::job::trees::{
    Clusters, Copy, Entries, Fate, Flush, Joined, Progress, Wanted, Work, groups,
};
use crate::job::{EntryRange, Reencoded, Written, report};
use crate::open::open_dataset;
use crate::rewrite::options::{EntryCut, RewriteOptions};
use crate::rewrite::report::{FieldReport, RewriteReport, TTREE};

/// A TTree that is rewritten.
pub(in crate::rewrite) struct Tree<'a> {
    key: KeyEntry,
    /// The path and cycle in the input.
    source: String,
    /// The stored tree, until it is written.
    stored: Option<StoredTree>,
    /// The entries of the input.
    input_entries: u64,
    pieces: Vec<SelectedRange>,
    entries: Entries,
    clusters: Clusters,
    fates: Vec<Fate>,
    /// The paths of the branches that are compared with the input.
    compared: Vec<String>,
    notes: Vec<String>,
    options: &'a RewriteOptions,
    context: &'a Context,
}

impl<'a> Tree<'a> {
    /// Plans the tree of a key of `input`, which is named `source` in the report. With `as_stored`, which is the reason, its
    /// baskets are moved as they are.
    ///
    /// # Errors
    /// `NotFound` for globs that match nothing; `InvalidArgument` for options that are not allowed; `Unsupported` with the
    /// reason for a tree or a branch whose entries cannot be taken apart; `Cancelled`; an error if the input is damaged or
    /// cannot be read.
    pub(in crate::rewrite) fn new(
        input: &RootFile,
        (key, source): (KeyEntry, &str),
        as_stored: Option<&str>,
        options: &'a RewriteOptions,
        context: &'a Context,
    ) -> Result<Self> {
        if !options.rules.is_empty() {
            return Err(Error::invalid_argument(
                "read rules are for RNTuples, and this is a TTree",
            ));
        }
        let stored = StoredTree::read(input, &key)?;
        let kept = branches::select(&stored, &options.include, &options.exclude)?;
        let pieces = pieces(input, source, stored.entries, options, context)?;
        let entries = Entries::new(&pieces);
        let all = entries.are_all(stored.entries);
        if let Some(reason) = as_stored.filter(|_| !all) {
            return Err(Error::unsupported(reason));
        }
        let wanted = Wanted { baskets: &options.baskets, output: &options.output, joins: false };
        let flush = match as_stored {
            Some(_) => Flush::KEPT,
            None => Flush::new(&stored, &kept, wanted)?,
        };
        let clusters = match flush.rule {
            None => Clusters::kept(&stored.clusters, &entries, all),
            Some(rule) => Clusters::new(entries.count(), flush.entries, rule),
        };
        let compared = branches::whole(&stored, &kept);
        let path = target(&key, options);
        let name = name_of(split(path).1).to_string();
        let mut fates = Vec::with_capacity(kept.len());
        for (at, (branch, kept)) in stored.branches.iter().zip(kept).enumerate() {
            if !kept {
                fates.push(Fate::LeftOut);
                continue;
            }
            stored.reach(branch)?;
            fates.push(match as_stored {
                Some(_) => Fate::as_stored(branch, wanted),
                None => {
                    Fate::of((&stored, at), &name, all, &flush, wanted).in_field(&branch.path)?
                }
            });
        }
        let mut notes = notes(&stored, &fates, all, options);
        notes.extend(as_stored.map(|reason| format!("it keeps the baskets that it has: {reason}")));
        Ok(Self {
            source: source.to_owned(),
            key,
            input_entries: stored.entries,
            stored: Some(stored),
            pieces,
            entries,
            clusters,
            fates,
            compared,
            notes,
            options,
            context,
        })
    }

    /// Returns the paths of the branches that are written.
    pub(in crate::rewrite) fn branches(&self) -> impl Iterator<Item = &str> {
        let branches = self.stored.iter().flat_map(|tree| &tree.branches).zip(&self.fates);
        let written = branches.filter(|(_, fate)| !matches!(fate, Fate::LeftOut));
        written.map(|(branch, _)| branch.path.as_str())
    }

    /// Returns the path and cycle in the input.
    pub(in crate::rewrite) fn source(&self) -> &str {
        &self.source
    }

    /// Writes the tree, and the streamer infos of its file.
    ///
    /// # Errors
    /// `Unsupported` if the tree cannot be written without a branch, or the output describes a class with other members;
    /// `Cancelled`; an error if the input is damaged or the output cannot be written.
    pub(in crate::rewrite) fn write(
        &mut self,
        input: &RootFile,
        output: &Output,
    ) -> Result<RewriteReport> {
        self.write_to(input, output).in_file(input.name()).in_object(&self.key.path)
    }

    fn write_to(&mut self, input: &RootFile, output: &Output) -> Result<RewriteReport> {
        let start = Instant::now();
        let written = || Error::invalid_argument("the tree is written already");
        let stored = self.stored.take().ok_or_else(written)?;
        output.file.require_same_classes(&*input.streamer_infos()?, stored.classes())?;
        let growth = |(branch, fate): (&StoredBranch, &Fate)| {
            fate.growth(self.options.baskets.title_of(branch))
        };
        let mut growth = Growth {
            entries: self.entries.count(),
            clusters: self.clusters.runs.clone(),
            branches: stored.branches.iter().zip(&self.fates).map(growth).collect(),
            ..Growth::default()
        };
        let path = target(&self.key, self.options);
        let settings = self.options.output.compression();
        let bytes = input_bytes(&stored, &self.fates);
        let per_entry = bytes as f64 / stored.entries.max(1) as f64;
        let order: Vec<usize> = (0..stored.branches.len()).collect();
        let work = Work {
            joined: &Joined::new(0, &[(&stored, &order)]),
            fates: &self.fates,
            entries: &self.entries,
            groups: &groups(&self.clusters.ranges, per_entry),
            dir: split(path).0,
            compression: settings,
            memory: self.options.output.memory(),
            context: self.context,
            progress: Progress { before: 0, own: bytes, total: bytes },
        };
        work.run(output, &mut growth)?;
        output.file.add_streamer_infos(&input.streamer_list()?)?;
        let report = self.report(input, output, (&stored, &growth), start);
        let copy = Copy::new(output, settings, self.context, 0);
        copy.tree(stored, &self.key, path, &growth)?;
        Ok(report)
    }

    fn report(
        &self,
        input: &RootFile,
        output: &Output,
        (stored, growth): (&StoredTree, &Growth),
        start: Instant,
    ) -> RewriteReport {
        let mut fields = Vec::new();
        let mut dropped = Vec::new();
        for ((branch, fate), growth) in
            stored.branches.iter().zip(&self.fates).zip(&growth.branches)
        {
            if matches!(fate, Fate::LeftOut) {
                dropped.push(branch.path.clone());
                continue;
            }
            fields.push(FieldReport {
                name: branch.path.clone(),
                type_name: branch.property("fClassName").unwrap_or_default().to_owned(),
                projected: false,
                input_bytes: branch.baskets.iter().map(|basket| basket.bytes).sum(),
                output_bytes: growth.baskets.iter().map(|basket| basket.2).sum(),
            });
        }
        let bytes = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
        let totals = WriteReport {
            entries: growth.entries,
            clusters: growth.clusters.count(),
            uncompressed_bytes: bytes(growth.bytes.0),
            compressed_bytes: bytes(growth.bytes.1),
            ..WriteReport::default()
        };
        let read = input_bytes(stored, &self.fates);
        let path = target(&self.key, self.options).to_owned();
        let notes = self.notes.clone();
        RewriteReport {
            format: TTREE,
            written: Written::new(output.name(), path, &totals, (read, start), notes),
            reencoded: Reencoded::new(input.name(), read, &totals, Vec::new(), self.context),
            source: self.source.clone(),
            input_entries: self.input_entries,
            fields,
            dropped,
        }
    }

    /// Compares the output with the input.
    ///
    /// # Errors
    /// `OutOfSpecification` with the first branch that differs; `Cancelled`; an error if a file is damaged.
    pub(in crate::rewrite) fn verify(
        &self,
        input: &RootFile,
        file: &RootFile,
        report: &mut RewriteReport,
    ) -> Result<()> {
        let start = Instant::now();
        let read = open_dataset(input, Some(&self.source))?;
        let written = open_dataset(file, Some(target(&self.key, self.options)))?;
        let names: Vec<_> = self.compared.iter().map(|name| (name.clone(), name.clone())).collect();
        let selected = Selected::new(read, self.pieces.clone())?;
        let options = DiffOptions::of_job(self.options.output.memory());
        let compared = diff::diff_pairs(&selected, &*written, &names, &options, self.context)?;
        compared
            .require_equal("the input", "the TTree")
            .in_file(input.name())
            .in_object(&self.key.path)?;
        report::verified((&mut report.written, &mut report.reencoded), start);
        Ok(())
    }
}

/// Returns the path of the tree in the output, without a cycle.
fn target<'a>(key: &'a KeyEntry, options: &'a RewriteOptions) -> &'a str {
    options.output.name.as_deref().map_or(&key.path, |name| name.trim_matches('/'))
}

/// Returns the number of stored bytes of the branches that are written.
fn input_bytes(tree: &StoredTree, fates: &[Fate]) -> u64 {
    let kept = tree.branches.iter().zip(fates);
    let kept = kept.filter(|(_, fate)| !matches!(fate, Fate::LeftOut));
    kept.flat_map(|(branch, _)| &branch.baskets).map(|basket| basket.bytes).sum()
}

/// Returns which entries are written.
fn pieces(
    input: &RootFile,
    source: &str,
    total: u64,
    options: &RewriteOptions,
    context: &Context,
) -> Result<Vec<SelectedRange>> {
    let entries = EntryRange::checked(options.entries, total, "TTree")?;
    match &options.cut {
        None => Ok(vec![SelectedRange { entries, mask: None }]),
        Some(EntryCut::Mask(mask)) if mask.len() as u64 != entries.end - entries.start => {
            Err(Error::invalid_argument(format!(
                "a mask of {} bits does not go with {} entries",
                mask.len(),
                entries.end - entries.start
            )))
        }
        Some(EntryCut::Mask(mask)) => Ok(vec![SelectedRange { entries, mask: Some(mask.clone()) }]),
        Some(EntryCut::Expression(cut)) => {
            let tree: AnyDataset = open_dataset(input, Some(source))?;
            let selected = Selected::passing(Arc::clone(&tree), cut, entries, context)?;
            Ok(selected.ranges().to_vec())
        }
    }
}

/// Returns remarks on parts that are not as the options request, or that are lost.
fn notes(tree: &StoredTree, fates: &[Fate], all: bool, options: &RewriteOptions) -> Vec<String> {
    let mut notes = Vec::new();
    if tree.has_index && !all {
        notes.push(
            "the index of its entries is left out, TTree::BuildIndex makes a new one".to_owned(),
        );
    }
    let parents = tree.references.as_ref().map(|table| (&fates[table.branch], &table.parents));
    if let Some((Fate::LeftOut, parents)) = parents
        && parents.iter().any(|&at| matches!(fates[at], Fate::LeftOut))
    {
        notes.push(
            "the table of the references between its objects (TBranchRef) is left out, because objects of branches that are \
             left out are in it: TRef::GetObject finds objects of branches that were read before"
                .to_owned(),
        );
    }
    let requested = options.baskets.basket_size.is_some() || options.baskets.auto_flush.is_some();
    let whole = tree.branches.iter().zip(fates).filter(|(branch, fate)| {
        let is_whole = branch.may_lack_offsets() && !branch.baskets.is_empty();
        requested && is_whole && matches!(fate, Fate::Moved | Fate::Resealed(_))
    });
    let whole: Vec<&str> = whole.map(|(branch, _)| branch.path.as_str()).collect();
    if !whole.is_empty() {
        notes.push(format!(
            "baskets without offsets of their entries (kGenerateOffsetMap) keep their entries: {}",
            whole.join(", ")
        ));
    }
    notes
}
