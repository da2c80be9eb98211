//! Plans, writes and verifies one tree.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use arrow_array::ArrayRef;
use nyssa_data::dataset::steps::{Finish, InputPart, StepSize, Steps};
use nyssa_data::dataset::{AnyDataset, Dataset};
use nyssa_data::view::Slice;
use nyssa_rntuple::read::Reader;
use nyssa_root::Context;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::rootfile::RootFile;
use nyssa_ttree as ttree;
use nyssa_ttree::write::{self, Described, TreeReport, TreeWriteOptions, TreeWriter};

use super::map::{self, Column, TreeMap};
use super::projected::Projected;
use super::stored_bytes::stored_bytes;
use crate::compare::diff::{self, DiffOptions};
use crate::compare::digest::{self, ColumnHasher};
use crate::convert::options::{To, ToTTree};
use crate::convert::report::{ConvertReport, FieldReport, Renamed, Skipped};
use crate::heuristics::convert;
use crate::job::largest_entry::Search;
use crate::job::largest_part::{Copies, LargestPart, entries_of};
use crate::job::output::Output;
use crate::job::{self, EntryRange, Reencoded, report};
use crate::kept_tree::{self, KeptTree, restore};

/// An RNTuple that becomes a tree.
pub(super) struct Tree<'a> {
    reader: Arc<Reader>,
    shown: Arc<Projected>,
    map: TreeMap,
    tree_options: TreeWriteOptions,
    entries: Range<u64>,
    notes: Vec<String>,
    /// The error for each glob of the options that matches nothing in the tree.
    unmatched: Vec<Option<Error>>,
    /// Whether this is the first attempt.
    is_first: bool,
    options: &'a ToTTree,
    context: &'a Context,
}

impl<'a> Tree<'a> {
    /// Plans the tree for the RNTuple at `path` of `input`. `damaged` are fields that cannot be read.
    ///
    /// # Errors
    /// `NotFound` for patterns that match nothing; `Unsupported` with a list of all fields that a tree cannot hold,
    /// unless they are skipped; `InvalidArgument` if no field is left, and for options that a tree cannot have.
    pub(super) fn new(
        input: &RootFile,
        path: &str,
        damaged: &[Skipped],
        options: &'a ToTTree,
        context: &'a Context,
    ) -> Result<Self> {
        let reader = Arc::new(Reader::open(input, path)?);
        let mut tree_options = options.tree_options()?;
        if !options.open_classes {
            tree_options.described = Some(Arc::new(Described::of(input)?));
        }
        let entries = EntryRange::checked(options.input.entries, reader.num_entries(), "RNTuple")?;
        let (mut kept, note) = kept_tree(&reader, options)?;
        if let Some(level) = options.split_level {
            let branches = kept.iter_mut().flat_map(|kept| &mut kept.branches);
            branches.filter(|(_, branch)| branch.split_level.is_some()).for_each(|(_, branch)| {
                (branch.split_level, branch.form) = (Some(level), Vec::new());
            });
        }
        if let Some(kept) = &kept {
            tree_options.process = kept.process(input)?;
        }
        let mut map = map::map(&reader, &options.input, &tree_options, kept.as_ref(), damaged)?;
        let mut notes = notes(&reader, &map.aliases);
        notes.extend(note);
        notes.append(&mut map.notes);
        let mut references = None;
        if let Some(mut kept) = kept {
            let is_whole = entries == (0..reader.num_entries());
            notes.extend(kept.narrow(entries.end - entries.start, is_whole, |_| true));
            references = kept.reference_table();
            let unused = |part: &str, error| unused(part, error, options);
            let stated = options.baskets.auto_flush;
            notes.extend(restore(&kept, input, &mut tree_options, stated, unused)?);
        }
        tree_options.title = reader.header().description.clone();
        tree_options.columns = std::mem::take(&mut map.options);
        if options.baskets.basket_size.is_some() {
            tree_options.columns.values_mut().for_each(|column| column.basket_size = None);
        }
        let known: HashSet<_> = tree_options.aliases.iter().map(|(name, _)| name.clone()).collect();
        map.aliases.retain(|(name, _)| !known.contains(name));
        tree_options.aliases.append(&mut map.aliases);
        let unmatched = write::check(&map.schema(), &tree_options)?;
        if let Some((table, parts)) = references.zip(tree_options.parts.clone()) {
            let schema = map.schema();
            match write::check_references(&table, &schema, &tree_options) {
                Ok(()) => tree_options.parts = Some(parts.with_references(table)),
                Err(error) => notes.push(format!(
                    "the table of references (TBranchRef) is left out: {}",
                    error.message()
                )),
            }
        }
        let shown = Arc::new(Projected::new(Arc::clone(&reader), &map.columns));
        let is_first = damaged.is_empty();
        Ok(Self {
            reader,
            shown,
            map,
            tree_options,
            entries,
            notes,
            unmatched,
            is_first,
            options,
            context,
        })
    }

    /// Drops the globs of options that match nothing in a tree.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that matches nothing in any of the trees.
    pub(super) fn drop_unmatched(trees: &mut [Self]) -> Result<()> {
        let count = trees.first().map_or(0, |tree| tree.unmatched.len());
        for at in 0..count {
            if trees.iter().all(|tree| tree.unmatched[at].is_some())
                && let Some(tree) = trees.first_mut()
                && let Some(error) = tree.unmatched[at].take()
            {
                return Err(error).in_file(tree.reader.file()).in_object(tree.name());
            }
        }
        for tree in trees {
            let matches: Vec<bool> = tree.unmatched.iter().map(Option::is_none).collect();
            tree.tree_options.retain_globs(&matches);
        }
        Ok(())
    }

    /// Returns whether it may have references to objects of a process of the input (`TProcessID`).
    pub(super) fn may_refer(&self) -> bool {
        self.tree_options.process.is_some()
    }

    /// Returns the path of the RNTuple in the input.
    pub(super) fn name(&self) -> &str {
        self.reader.name()
    }

    /// Returns the fields that cannot be read.
    ///
    /// # Errors
    /// `Io`, `Cancelled`.
    pub(super) fn damaged(&self) -> Result<Vec<Skipped>> {
        let paths: Vec<_> = self.map.columns.iter().map(|column| column.path.as_str()).collect();
        let clusters = self.reader.clusters();
        let all_damaged = self.reader.damaged(&paths, &clusters, self.context)?;
        let skipped = |path: &&str| {
            let damaged = all_damaged.iter().find(|item| item.column == **path)?;
            let reason = damaged.reason.clone();
            Some(Skipped { branch: (*path).to_owned(), reason, unreadable: true })
        };
        Ok(paths.iter().filter_map(skipped).collect())
    }

    /// Returns the field whose values could not be written, for an error that names it.
    pub(super) fn refused(&self, error: &Error) -> Option<Skipped> {
        let place = error.place();
        if place.object.as_deref() != Some(self.reader.name()) {
            return None;
        }
        let field = place.field.as_deref()?;
        let column = self.map.columns.iter().find(|column| {
            let names = write::branches_of(&column.arrow, &self.tree_options).unwrap_or_default();
            names.iter().any(|name| name == field)
        });
        let reason = error.message().to_owned();
        Some(Skipped { branch: column?.path.clone(), reason, unreadable: false })
    }

    /// Returns the path of the tree: the path in the options or the path of the RNTuple, without a cycle.
    fn path(&self) -> &str {
        let path = self.options.output.name.as_deref().unwrap_or_else(|| self.reader.name());
        crate::open::without_cycle(path)
    }

    /// Writes the tree.
    ///
    /// # Errors
    /// `InvalidArgument` for values that a tree cannot hold; `Cancelled`; an error if the input cannot be read or the
    /// sink cannot be written.
    pub(super) fn write(&self, output: &Output) -> Result<ConvertReport> {
        self.write_to(output).in_file(self.reader.file()).in_object(self.reader.name())
    }

    fn write_to(&self, output: &Output) -> Result<ConvertReport> {
        let start = Instant::now();
        // The next step is read meanwhile in any case, and full baskets that wait would need more memory.
        let options = TreeWriteOptions { background: false, ..self.tree_options.clone() };
        let schema = self.map.schema();
        let mut writer =
            TreeWriter::create(&output.file, self.path(), &schema, options, self.context)?;
        let fields = schema.fields().iter();
        let mut digests: Vec<_> =
            fields.map(|field| ColumnHasher::new(field.data_type()).ok()).collect();
        let mut steps = self.steps();
        let largest = self.largest();
        let (mut done, total) = (0, self.entries.end - self.entries.start);
        while let Some(step) = steps.next(self.context)? {
            steps.prepare(self.context)?;
            digest::add_arrays(&mut digests, &step.data, self.context);
            largest.add(&step.data, || entries_of(&step.entries, self.reader.name()));
            done += step.entries.end - step.entries.start;
            writer.take(step.data)?;
            self.context.report(done, total);
        }
        let written = writer.finish()?;
        let digests = digests.into_iter().map(|column| Some(column?.digest())).collect();
        let mut report = self.report(output, &written, digests, start)?;
        largest.report(&mut report.written);
        Ok(report)
    }

    /// Reports the memory that the largest entry needs, if it exceeds the memory of the job.
    fn largest(&self) -> LargestPart {
        let memory = self.options.output.memory();
        let (reader, entries, context) = (&*self.reader, &self.entries, self.context);
        let mut fields: Vec<_> =
            self.map.columns.iter().filter_map(|column| column.ids.first().copied()).collect();
        fields.dedup();
        let search = Search { reader, entries, memory, context };
        let largest = LargestPart::new(memory, Copies::Twice);
        let file = if self.is_first { reader.file() } else { "" };
        largest.plan(&search.of_fields(&fields), reader.name(), file);
        largest
    }

    /// Returns the arrays of all columns in steps. The next step is read while the current step is written.
    fn steps(&self) -> Steps<Vec<ArrayRef>> {
        let dataset: AnyDataset = Arc::<Projected>::clone(&self.shown);
        let (file, entries) = (Arc::from(self.reader.file()), self.entries.clone());
        let origin = entries.start;
        let parts = InputPart { dataset, entries, origin, file, shown: None }.alone();
        let finish: Finish<Vec<ArrayRef>> = Arc::new(|_, arrays, _, _| Ok((arrays, 0)));
        let names = self.map.columns.iter().map(|column| column.branch.clone()).collect();
        let size = StepSize::Memory(self.options.output.memory() / convert::READ_DIVISOR);
        Steps::new(parts, names, false, size, finish, Arc::new(AtomicBool::new(false)))
    }

    fn report(
        &self,
        output: &Output,
        written: &TreeReport,
        digests: Vec<Option<String>>,
        start: Instant,
    ) -> Result<ConvertReport> {
        let columns = &self.map.columns;
        let (each, input_bytes) = stored_bytes(&self.reader, columns, &self.entries)?;
        let baskets: std::collections::HashMap<_, _> =
            written.branches.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
        let stored = |column: &Column| {
            let names = write::branches_of(&column.arrow, &self.tree_options).unwrap_or_default();
            names.iter().filter_map(|name| baskets.get(name.as_str())).sum()
        };
        let fields =
            columns.iter().zip(each).zip(digests).map(|((column, input_bytes), digest)| {
                FieldReport {
                    branch: column.branch.clone(),
                    field: column.path.clone(),
                    type_name: column.type_name.clone(),
                    input_bytes,
                    output_bytes: match column.is_class {
                        true => stored(column),
                        false => baskets.get(column.branch.as_str()).copied().unwrap_or(0),
                    },
                    digest,
                }
            });
        let renamed = columns.iter().filter(|column| column.branch != column.path);
        let renamed = renamed
            .map(|column| Renamed { branch: column.branch.clone(), field: column.path.clone() });
        let totals = report::of_tree(written);
        let ntuple = self.reader.name().to_owned();
        let notes = self.notes.clone();
        let work = (input_bytes, start);
        let file = self.reader.file();
        Ok(ConvertReport {
            written: job::Written::new(output.name(), ntuple, &totals, work, notes),
            reencoded: Reencoded::new(file, input_bytes, &totals, Vec::new(), self.context),
            to: To::TTree,
            tree: self.path().to_owned(),
            first_entry: self.entries.start,
            digest_hash: digest::HASH.to_owned(),
            fields: fields.collect(),
            streamer_fields: Vec::new(),
            renamed: renamed.collect(),
            skipped: self.map.skipped.clone(),
        })
    }

    /// Compares the tree with the RNTuple.
    ///
    /// # Errors
    /// `OutOfSpecification` with the first column that differs; `Cancelled`.
    pub(super) fn verify(&self, written: &RootFile, report: &mut ConvertReport) -> Result<()> {
        let start = Instant::now();
        let tree = ttree::Reader::open(written, self.path())?;
        let pairs: Vec<_> = self
            .map
            .columns
            .iter()
            .map(|column| (column.branch.clone(), column.branch.clone()))
            .collect();
        let slice = Slice::new(&*self.shown, self.entries.clone())?;
        let options = DiffOptions::of_job(self.options.output.memory());
        diff::diff_pairs(&slice, &tree, &pairs, &options, self.context)?
            .require_equal("the RNTuple", "the tree")
            .in_file(self.reader.file())
            .in_object(self.reader.name())?;
        report::verified((&mut report.written, &mut report.reencoded), start);
        Ok(())
    }
}

/// Returns the facts about a TTree that the RNTuple stores, and a note on facts that are not used.
fn kept_tree(reader: &Reader, options: &ToTTree) -> Result<(Option<KeptTree>, Option<String>)> {
    KeptTree::of_known(reader)
        .or_else(|error| Ok((None, Some(unused("the description", error, options)?))))
}

/// Returns the note on a damaged part of a TTree, which is not used if the options allow it.
fn unused(part: &str, error: Error, options: &ToTTree) -> Result<String> {
    let may_leave_out = match error.kind() {
        Kind::Unsupported => options.input.skip_unsupported,
        kind => options.input.skip_unreadable && kind.is_damage(),
    };
    let note = |error: Error| {
        format!("{part} that the RNTuple keeps of a TTree is not used: {}", error.message())
    };
    if may_leave_out { Ok(note(error)) } else { Err(error) }
}

/// Returns remarks on parts that have another form in the tree.
fn notes(reader: &Reader, aliases: &[(String, String)]) -> Vec<String> {
    let mut notes = Vec::new();
    let links = reader.attribute_links().iter().filter(|link| link.name != kept_tree::NAME);
    let sets: Vec<&str> = links.map(|link| link.name.as_str()).collect();
    if !sets.is_empty() {
        notes.push(format!("a TTree has no attribute sets: {} left out", sets.join(", ")));
    }
    for (name, branch) in aliases {
        notes
            .push(format!("{name} is an alias of the branch {branch}, as both have the same data"));
    }
    notes
}
