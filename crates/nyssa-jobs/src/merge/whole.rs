//! Merges files without RNTuples, or trees that the user names: whole files are merged, like `hadd -ff`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use nyssa_rntuple::write::WriteReport;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::RootFile;

use super::input::First;
use super::input_file::InputFile;
use super::objects::{Choice, MergedObjects};
use super::options::{MergeOptions, Mode};
use super::report::{InputReport, MergeReport, MergedTreeReport, left_out};
use super::trees::Joined;
use crate::job::others::OtherObjects;
use crate::job::output::Output;
use crate::job::run::{self, Job};
use crate::job::{OutputOptions, Written};

/// Merges the files of the inputs. The first input is open.
///
/// # Errors
/// `InvalidArgument` for an output that is one of the inputs, and for objects that differ; `AlreadyExists` for an
/// output that may not be replaced; `Cancelled`; an error if an input is damaged or cannot be read.
pub(super) fn merge(
    (first, rest): (InputFile, &[String]),
    output: &Path,
    options: &MergeOptions,
    start: Instant,
    context: &Context,
) -> Result<MergeReport> {
    refuse(options)?;
    let mut files = vec![first];
    for argument in rest {
        context.check()?;
        match First::open(argument, &options.open)? {
            First::Objects(file) => files.push(*file),
            First::NTuple(input) => {
                return Err(Error::invalid_argument(
                    "the input has an RNTuple, and the first input has none: convert it first",
                ))
                .in_file(input.file.name());
            }
        }
    }
    let choice =
        Choice { only_trees: options.output.no_carry, skip_unsupported: options.skip_unsupported };
    let mut objects = MergedObjects::of(&files, choice, context)?;
    if objects.trees.paths().next().is_some() {
        refuse_compression(options)?;
    }
    // The trees may have other names in the output.
    let trees: Vec<String> = objects.trees.paths().map(str::to_owned).collect();
    if let Some(name) = &options.output.name {
        let named = files[0].tree.as_ref().map(|tree| tree.path.as_str());
        objects.trees.rename(named, name)?;
    }
    let mut others = OtherObjects::plan(&files[0].open()?)?;
    let own = files[0].tree.iter().map(|tree| &tree.path).chain(&trees);
    others.leave_to_job(&own.map(String::as_str).collect());
    let (bytes, mut notes) = (objects.trees.bytes(), objects.trees.notes());
    notes.append(&mut objects.notes);
    let joined = objects.trees.joined();
    if options.output.verify && joined.is_empty() {
        notes.push("verify compared nothing: it is for trees, and the files have none".to_owned());
    }
    let default = OutputOptions::default();
    let own = &options.output;
    if own.effort() != default.effort() && own.compression() == default.compression() {
        notes.push("effort is not used: it is for columns, and the files have none".to_owned());
    }
    let mut merge = WholeFiles { files, objects, joined, trees: Vec::new(), options, context };
    let inputs: Vec<_> = merge.files.iter().map(|file| file.location.clone()).collect();
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    let finished = run::run(&mut merge, &inputs, output, others, &options.output, context)?;
    let WholeFiles { files, trees, .. } = merge;
    notes.extend(left_out(&finished.others));
    let left_out = finished.others.left_out();
    let only = if let [only] = &trees[..] { only.clone() } else { MergedTreeReport::default() };
    let totals =
        WriteReport { entries: only.entries, clusters: only.clusters, ..WriteReport::default() };
    let output = nyssa_io::shown(output);
    let mut written = Written::new(&output, only.tree, &totals, (bytes, start), notes);
    written.verified = options.output.verify && !trees.is_empty();
    written.memory_bytes = options.memory();
    written.finish(&finished);
    let input =
        |file: &InputFile| InputReport { file: file.name.clone(), ..InputReport::default() };
    Ok(MergeReport {
        inputs: files.iter().map(input).collect(),
        written,
        mode: options.mode.to_string(),
        trees,
        left_out,
        ..MergeReport::default()
    })
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
        "{reason}, and the first input has none; convert the files first"
    )))
}

/// Refuses a compression or an effort, since baskets are copied without change.
fn refuse_compression(options: &MergeOptions) -> Result<()> {
    let (own, default) = (&options.output, OutputOptions::default());
    if own.compression() == default.compression() && own.effort() == default.effort() {
        return Ok(());
    }
    Err(Error::invalid_argument(
        "the baskets of TTrees are copied as they are, so that their compression cannot change: merge without \
         compression and effort",
    ))
}

/// A merge of whole files.
struct WholeFiles<'a> {
    files: Vec<InputFile>,
    objects: MergedObjects,
    /// The trees that become one tree.
    joined: Vec<Joined>,
    /// The trees of the output.
    trees: Vec<MergedTreeReport>,
    options: &'a MergeOptions,
    context: &'a Context,
}

impl Job for WholeFiles<'_> {
    type Abort = Error;

    fn write(&mut self, output: &Output, others: &mut OtherObjects) -> Result<()> {
        let settings = (self.options.output.compression(), self.context);
        let objects = std::mem::take(&mut self.objects);
        self.trees = objects.write(&self.files, output, others, settings)?;
        Ok(())
    }

    fn verify(&mut self, written: &RootFile) -> Result<()> {
        let (memory, context) = (self.options.memory(), self.context);
        let trees = self.joined.iter();
        trees.into_iter().try_for_each(|tree| tree.verify(&self.files, written, memory, context))
    }
}
