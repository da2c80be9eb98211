//! Merges files.

use std::path::Path;
use std::time::Instant;

use nyssa_rntuple::write::WriteReport;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::ProcessNumbers;

use super::bad::{BadInputs, take_bad, take_damaged};
use super::given_twice::given_twice;
use super::input_file::{InputDataset, InputFile};
use super::ntuple::MergedNTuple;
use super::objects::{Choice, MergedObjects};
use super::options::{MergeOptions, Mode};
use super::other_cycles;
use super::plan::Plan;
use super::progress::Progress;
use super::report::{InputReport, MergeReport, MergedNTupleReport, MergedTreeReport, left_out};
use super::trees::{Joined, Stuck};
use crate::job::Written;
use crate::job::given::{flags, given};
use crate::job::globs;
use crate::job::others::{OtherObjects, reason};
use crate::job::output::Output;
use crate::job::run::{self, Job};
use crate::job::stopped::Stopped;
use crate::job::trees::Wanted;
use crate::open::{join, split_path};

/// Merges files into the new file `output`. Each input is a file or `FILE:PATH`, which means only the dataset at this
/// path. The RNTuples and the TTrees of the inputs are matched by their paths. Pages and baskets are copied without
/// change, if the options name no compression. The output appears only when it is complete. Entries have the order of
/// the inputs. Histograms, profiles and parameters that several inputs have are added up; other objects are copied from
/// the first input that has them.
///
/// # Errors
/// `InvalidArgument` without inputs, for an output that is one of the inputs, for histograms with different axes, and
/// for the first RNTuple, field or branch that differs between the inputs if `options` do not allow it; `AlreadyExists`
/// for an output that may not be replaced; `Checksum` with the page; `Cancelled`; an error if an input is damaged or
/// cannot be read. If all are left out, the error is of the kind of the first one.
pub fn merge(
    inputs: &[String],
    output: &Path,
    options: &MergeOptions,
    context: &Context,
) -> Result<MergeReport> {
    merge_good(inputs, output, options, context)?.map_err(|bad| bad.nothing_left())
}

/// Merges as [`merge`]. Returns the inputs that are missing or damaged if there are no others.
pub(super) fn merge_good(
    inputs: &[String],
    output: &Path,
    options: &MergeOptions,
    context: &Context,
) -> Result<std::result::Result<MergeReport, BadInputs>> {
    let start = Instant::now();
    // All refusals happen before the output is created.
    options.validate()?;
    let grows = options.append && nyssa_io::exists(output);
    let may_replace = options.output.force || grows;
    let files: Vec<_> = inputs.iter().map(|input| split_path(input).0).collect();
    let files: Vec<_> = files.iter().map(|file| Path::new(&**file)).collect();
    Output::check(&files, output, may_replace)?;
    let mut inputs = inputs.to_vec();
    let mut bad = match options.skip_bad {
        true => take_bad(&mut inputs, &options.open, context)?,
        false => BadInputs::default(),
    };
    // What a tree holds is known only when its entries are cut. The output is then written once more.
    let mut stuck = Stuck::new();
    let mut report = loop {
        if inputs.is_empty() && !bad.inputs.is_empty() {
            return Ok(Err(bad));
        }
        let before = if grows { Some(output) } else { None };
        let done = attempt(before, &inputs, output, (options, &stuck), start, context);
        let done = match done {
            Err(Stopped::AtTree(path, error)) => {
                stuck.insert(path, reason(&error));
                continue;
            }
            Err(Stopped::Otherwise(error)) => Err(error),
            Ok(report) => Ok(report),
        };
        match done {
            Ok(report) => break report,
            Err(error) if options.skip_bad => take_damaged(&mut inputs, &mut bad, error)?,
            Err(error) => return Err(error),
        }
    };
    report.written.notes.extend(given_twice(&inputs, &options.open));
    report.leave_out(bad.inputs);
    Ok(Ok(report))
}

/// Merges the existing output `before`, if it grows, and the inputs. The trees in `stuck` keep their baskets.
fn attempt(
    before: Option<&Path>,
    inputs: &[String],
    output: &Path,
    (options, stuck): (&MergeOptions, &Stuck),
    start: Instant,
    context: &Context,
) -> std::result::Result<MergeReport, Stopped> {
    let first = before.map(|output| join(&output.to_string_lossy(), None));
    let plan = Plan::of(first.as_deref(), inputs, options, context)?;
    let (mut merge, others) = Merge::of(plan, (options, stuck), context)?;
    let files = merge.plan.files.iter().skip(before.iter().count());
    let locations = files.map(|file| file.location.clone()).collect::<Vec<_>>();
    let locations: Vec<&Path> = locations.iter().map(|location| &**location).collect();
    let mut own = options.output.clone();
    // The earlier content of the output stays in any case.
    own.force |= before.is_some();
    own.no_carry &= before.is_none();
    let finished = run::run(&mut merge, &locations, output, others, &own, context)?;
    let mut report = merge.report(output, start);
    report.written.notes.extend(left_out(&finished.others));
    report.left_out = finished.others.left_out();
    report.written.finish(&finished);
    Ok(report)
}

/// A merge whose plan is complete.
struct Merge<'a> {
    plan: Plan,
    ntuples: Vec<MergedNTuple>,
    /// The other objects that several inputs have, and the trees.
    objects: MergedObjects,
    /// The trees that become one tree.
    joined: Vec<Joined>,
    /// The new numbers of the processes of each input.
    numbers: Vec<ProcessNumbers>,
    /// The trees of the output.
    trees: Vec<MergedTreeReport>,
    /// The number of bytes of all baskets.
    basket_bytes: u64,
    options: &'a MergeOptions,
    stuck: &'a Stuck,
    context: &'a Context,
    notes: Vec<String>,
}

impl<'a> Merge<'a> {
    /// Plans the output. Returns also the other objects of the first input.
    fn of(
        mut plan: Plan,
        (options, stuck): (&'a MergeOptions, &'a Stuck),
        context: &'a Context,
    ) -> Result<(Self, OtherObjects)> {
        let mut notes = std::mem::take(&mut plan.notes);
        if plan.ntuples.is_empty() {
            refuse(options)?;
        }
        let no_carry = options.output.no_carry;
        let mut objects = match plan.has_objects(options) {
            true => {
                let skip_unsupported = options.skip_unsupported;
                let choice = Choice { only_trees: no_carry, skip_unsupported };
                MergedObjects::of(&plan, choice, context)?
            }
            false => MergedObjects::default(),
        };
        if no_carry && !plan.ntuples.is_empty() {
            notes.extend(plan.note_on_others(objects.trees.paths()));
        }
        let ntuples = std::mem::take(&mut plan.ntuples).into_iter();
        let mut ntuples =
            ntuples.map(|ntuple| MergedNTuple::of(ntuple, options)).collect::<Result<Vec<_>>>()?;
        let mut field_options: Vec<_> =
            ntuples.iter_mut().map(MergedNTuple::field_options).collect();
        globs::drop_unmatched(&mut field_options)?;
        let mut others = others(&plan, &objects)?;
        if let Some(name) = &options.output.name {
            rename(name, plan.named.as_deref(), &mut ntuples, &mut objects)?;
        }
        notes.extend(objects.trees.notes(&plan, stuck));
        notes.append(&mut objects.notes);
        notes.extend(unused_options(options, !ntuples.is_empty(), !objects.trees.is_empty()));
        plan.left_out.drain(..).for_each(|item| others.refuse(item));
        if !options.baskets.are_default() && objects.trees.is_empty() {
            return Err(Error::invalid_argument(format!(
                "{}: for TTrees, and the inputs have none",
                flags(&given(&options.baskets)?).join(", ")
            )));
        }
        options.baskets.require_matches(&objects.trees.branches())?;
        let (joined, basket_bytes) = (objects.trees.joined(), objects.trees.bytes());
        let (trees, numbers) = (Vec::new(), objects.processes.numbers().to_vec());
        let merge = Self {
            plan,
            ntuples,
            objects,
            joined,
            numbers,
            trees,
            basket_bytes,
            options,
            stuck,
            context,
            notes,
        };
        Ok((merge, others))
    }

    /// Returns the report, without the facts that are known only when the file is complete.
    fn report(mut self, output: &Path, start: Instant) -> MergeReport {
        let bytes: u64 = self.ntuples.iter().map(|ntuple| ntuple.all_inputs.bytes()).sum();
        let ntuples: Vec<_> = self.ntuples.iter().map(MergedNTuple::report).collect();
        let (path, totals) = totals(&ntuples, &self.trees);
        let mut notes = self.notes;
        notes.extend(self.ntuples.iter_mut().flat_map(MergedNTuple::take_notes));
        let output = nyssa_io::shown(output);
        let mut written =
            Written::new(&output, path, &totals, (bytes + self.basket_bytes, start), notes);
        let has_datasets = !ntuples.is_empty() || !self.trees.is_empty();
        written.verified = self.options.output.verify && has_datasets;
        written.memory_bytes = self.options.memory();
        for largest in self.ntuples.iter().filter_map(|ntuple| ntuple.largest.as_ref()) {
            largest.report(&mut written);
        }
        let sum = |of: fn(&MergedNTupleReport) -> u64| ntuples.iter().map(of).sum();
        MergeReport {
            inputs: inputs(&self.plan.files, &self.ntuples),
            written,
            mode: self.options.mode.to_string(),
            fields: sum(|item| item.fields),
            pages: sum(|item| item.pages),
            shared_pages: sum(|item| item.shared_pages),
            page_bytes: sum(|item| item.page_bytes),
            reclustered: self.options.reclusters(),
            checksums_verified: !self.options.no_checksums && !ntuples.is_empty(),
            ntuples,
            trees: self.trees,
            ..MergeReport::default()
        }
    }
}

impl Job for Merge<'_> {
    type Abort = Stopped;

    fn write(
        &mut self,
        output: &Output,
        others: &mut OtherObjects,
    ) -> std::result::Result<(), Stopped> {
        let (options, context) = (self.options, self.context);
        let total = self.ntuples.iter().map(|item| item.work(options)).sum();
        let mut progress = Progress { done: 0, total };
        for ntuple in &mut self.ntuples {
            ntuple.write(output, options, progress, context)?;
            progress.done += ntuple.work(options);
        }
        let quiet = context.quiet();
        let context = if self.ntuples.is_empty() { context } else { &quiet };
        let wanted = options.wants_other_baskets().then(|| {
            let (baskets, output) = (&options.baskets, &options.output);
            (Wanted { baskets, output, joins: true }, options.memory())
        });
        let settings = ((options.output.compression(), wanted), self.stuck);
        other_cycles::name(&self.plan.cycles, &self.plan.files, others);
        let objects = std::mem::take(&mut self.objects);
        let trees = objects.write(&self.plan.files, output, others, settings, context);
        self.trees = trees.map_err(|stopped| match stopped {
            // A tree that the user named gets the baskets that the user requests.
            Stopped::AtTree(_, error) if self.plan.named.is_some() => error.into(),
            stopped => stopped,
        })?;
        Ok(())
    }

    fn verify(&mut self, written: &RootFile) -> Result<()> {
        let (memory, context) = (self.options.memory(), self.context);
        self.ntuples.iter().try_for_each(|ntuple| ntuple.verify(written, memory, context))?;
        let files = (&self.plan.files[..], &self.numbers[..]);
        self.joined.iter().try_for_each(|tree| tree.verify(files, written, memory, context))
    }
}

/// Refuses options that apply only to RNTuples.
fn refuse(options: &MergeOptions) -> Result<()> {
    let reason = match options {
        _ if options.reclusters() => "new clusters need RNTuples",
        MergeOptions { no_checksums: true, .. } => "only pages have checksums",
        MergeOptions { mode: Mode::Union | Mode::Filter, .. } => {
            "the modes union and filter need RNTuples: the branches of trees must be equal"
        }
        _ => return Ok(()),
    };
    Err(Error::invalid_argument(format!(
        "{reason}, and the inputs have none; convert the files first"
    )))
}

/// Returns notes on options that have no or little effect.
fn unused_options(options: &MergeOptions, has_ntuples: bool, has_trees: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if options.output.verify && !has_ntuples && !has_trees {
        notes.push("verify compared nothing: it is for trees, and the files have none".to_owned());
    }
    let packs = !options.baskets.are_default() && has_trees;
    if options.output.effort.is_some() && !(options.reclusters() && has_ntuples || packs) {
        notes.push("the effort is not used: no column is encoded again".to_owned());
    }
    notes
}

/// Gives the only dataset, or the dataset that the first input names, the name `to`.
fn rename(
    to: &str,
    named: Option<&str>,
    ntuples: &mut [MergedNTuple],
    objects: &mut MergedObjects,
) -> Result<()> {
    if let Some(ntuple) = ntuples.iter_mut().find(|ntuple| Some(&*ntuple.name) == named) {
        to.clone_into(&mut ntuple.name);
        return Ok(());
    }
    match ntuples {
        [ntuple] if named.is_none() && objects.trees.is_empty() => to.clone_into(&mut ntuple.name),
        [_, ..] if named.is_none() => {
            return Err(Error::invalid_argument(
                "a name is for inputs with one dataset: name it as FILE:PATH",
            ));
        }
        _ => objects.trees.rename(named, to)?,
    }
    Ok(())
}

/// Lists the other objects of the first input, which are copied.
fn others(plan: &Plan, objects: &MergedObjects) -> Result<OtherObjects> {
    let first = plan.files.first();
    let first = first.ok_or_else(|| Error::invalid_argument("there is no input"))?;
    let mut others = OtherObjects::plan(&first.open()?)?;
    let own = first.ntuples.iter().chain(&first.tree).map(|part: &InputDataset| &*part.key.path);
    others.leave_to_job(&own.chain(objects.trees.paths()).collect());
    Ok(others)
}

/// Returns the path and the sizes of the only RNTuple, or of the only tree if there is no RNTuple. If there are
/// several, the path is empty, and the sizes are sums.
fn totals(ntuples: &[MergedNTupleReport], trees: &[MergedTreeReport]) -> (String, WriteReport) {
    let of = |entries, clusters| WriteReport { entries, clusters, ..WriteReport::default() };
    match (ntuples, trees) {
        ([only], _) => (only.ntuple.clone(), of(only.entries, only.clusters)),
        ([], [only]) => (only.tree.clone(), of(only.entries, only.clusters)),
        ([], _) => {
            let sum = |of: fn(&MergedTreeReport) -> u64| trees.iter().map(of).sum();
            (String::new(), of(sum(|item| item.entries), sum(|item| item.clusters)))
        }
        _ => {
            let sum = |of: fn(&MergedNTupleReport) -> u64| ntuples.iter().map(of).sum();
            (String::new(), of(sum(|item| item.entries), sum(|item| item.clusters)))
        }
    }
}

/// Returns a report on each input: the sizes of its RNTuples, and the path if there is only one.
fn inputs(files: &[InputFile], ntuples: &[MergedNTuple]) -> Vec<InputReport> {
    let mut reports: Vec<_> = files
        .iter()
        .map(|file| InputReport { file: file.name.clone(), ..InputReport::default() })
        .collect();
    let mut counts = vec![0; files.len()];
    for input in ntuples.iter().flat_map(|ntuple| &ntuple.all_inputs.inputs) {
        let (report, count) = (&mut reports[input.number], &mut counts[input.number]);
        *count += 1;
        report.ntuple = if *count == 1 { input.report.ntuple.clone() } else { String::new() };
        report.entries += input.report.entries;
        report.clusters += input.report.clusters;
    }
    reports
}
