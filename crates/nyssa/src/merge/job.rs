//! Merges RNTuples.

use std::path::Path;
use std::time::Instant;

use super::inputs::{AllInputs, InputProperties, open};
use super::objects::MergedObjects;
use super::options::MergeOptions;
use super::recluster::recluster;
use super::report::MergeReport;
use super::transfer::Transfer;
use super::unify::Unified;
use super::zeros::Zeros;
use super::{attributes, verify};
use crate::Context;
use crate::error::{Error, Result, ResultExt};
use crate::job::Written;
use crate::job::others::OtherObjects;
use crate::job::output::Output;
use crate::job::run::{self, Job};
use crate::rntuple::read;
use crate::rntuple::write::{self, Writer};
use crate::rootfile::RootFile;

/// Merges RNTuples into one RNTuple in the new file `output`. Each input is a file or `FILE:PATH`. The output
/// appears only when it is complete. Entries keep the order of the inputs. Histograms, profiles and parameters that
/// several inputs have are added up; the other objects are copied, from the first input that has them.
///
/// # Errors
/// `InvalidArgument` without inputs, for an output that is one of them, for histograms with different axes, and for the
/// first field that differs between the inputs if `options` do not allow it; `AlreadyExists` for an output that may not be replaced;
/// `Checksum` with the page; `Cancelled`; and the errors of the inputs.
pub fn merge(
    inputs: &[String],
    output: &Path,
    options: &MergeOptions,
    context: &Context,
) -> Result<MergeReport> {
    let start = Instant::now();
    // Everything that can be refused is refused before the output is touched.
    let files: Vec<_> = inputs.iter().map(|input| crate::open::split_path(input).0).collect();
    Output::check(&files, output, options.output.force)?;
    options.validate()?;
    let mut all_inputs = AllInputs::of(inputs, options, context)?;
    let objects = match options.output.carry {
        true => MergedObjects::of(&mut all_inputs, context)?,
        false => MergedObjects::default(),
    };
    let unified = Unified::of(&all_inputs, options.mode, options.recluster)?;
    let name = options.output.name.as_deref().unwrap_or(&all_inputs.path).to_owned();
    let fields = unified.schema.top_level().count() as u64;
    let files: Vec<_> = all_inputs.inputs.iter().map(|input| input.report.file.clone()).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let others = others(&all_inputs)?;
    let mut merge = Merge {
        all_inputs,
        unified,
        options,
        name: name.clone(),
        context,
        objects,
        done: OutputSizes::default(),
    };
    let finished = run::run(&mut merge, &files, output, others, &options.output, context)?;
    let Merge { all_inputs, unified, done, .. } = merge;
    let mut notes = unified.notes;
    let refused = finished.others.refused.iter();
    notes.extend(
        refused
            .map(|object| format!("left out {} {}: {}", object.class, object.path, object.reason)),
    );
    notes.extend(finished.others.left.iter().map(|object| format!("left out {object}")));
    let (output, work) = (output.display().to_string(), (all_inputs.bytes(), start));
    let mut written = Written::new(&output, name, &done.totals, work, notes);
    written.verified = options.output.verify;
    written.finish(&finished);
    Ok(MergeReport {
        inputs: all_inputs.inputs.into_iter().map(|input| input.report).collect(),
        written,
        mode: options.mode.name().to_owned(),
        fields,
        pages: done.pages,
        shared_pages: done.shared,
        page_bytes: done.bytes,
        reclustered: options.recluster,
        checksums_verified: options.verify_checksums,
    })
}

/// A merge whose plan is complete.
struct Merge<'a> {
    all_inputs: AllInputs,
    unified: Unified,
    options: &'a MergeOptions,
    /// The path of the RNTuple in the output.
    name: String,
    context: &'a Context,
    /// The other objects that several inputs have.
    objects: MergedObjects,
    done: OutputSizes,
}

impl Job for Merge<'_> {
    type Abort = Error;

    fn write(&mut self, output: &Output, others: &mut OtherObjects) -> Result<()> {
        let Self { all_inputs, unified, options, name, context, objects, done } = self;
        *done = if options.recluster {
            let place = (&output.file, name.as_str());
            let (totals, notes) = recluster(all_inputs, unified, place, options, context)?;
            unified.notes.extend(notes);
            OutputSizes {
                pages: totals.pages,
                shared: totals.shared_pages,
                bytes: totals.compressed_bytes,
                totals,
            }
        } else {
            move_all(all_inputs, unified, (output, name), options, context)?
        };
        describe_classes(all_inputs, unified, output, context)?;
        std::mem::take(objects).write(all_inputs, output, others)
    }

    fn verify(&mut self, written: &RootFile) -> Result<()> {
        verify::compare(&self.all_inputs, written, &self.name, self.options.memory(), self.context)
    }
}

/// The sizes of the output.
#[derive(Default)]
struct OutputSizes {
    totals: write::WriteReport,
    pages: u64,
    shared: u64,
    /// The number of bytes of the pages.
    bytes: u64,
}

/// Copies the pages of all inputs, and returns the sizes of the output.
fn move_all(
    all_inputs: &AllInputs,
    unified: &Unified,
    (target, name): (&Output, &str),
    options: &MergeOptions,
    context: &Context,
) -> Result<OutputSizes> {
    let write_options = write::RNTupleWriteOptions {
        compression: options.output.compression,
        description: all_inputs.description.clone(),
        ..write::RNTupleWriteOptions::default()
    };
    let zeros = Zeros::new(&write_options)?;
    let schema = unified.schema.clone();
    let mut writer = Writer::attach(&target.file, name, schema, write_options)?;
    writer.set_extra_types(unified.extra_types.clone())?;
    let mut transfer = Transfer {
        writer,
        zeros,
        context,
        verify: options.verify_checksums,
        memory_budget: options.memory(),
        moved_bytes: 0,
        moved_pages: 0,
        pages: 0,
        total: all_inputs.bytes(),
    };
    transfer.inputs(all_inputs, &unified.mappings)?;
    let (pages, shared, bytes) = (transfer.pages, transfer.shared(), transfer.moved_bytes);
    attributes::carry(all_inputs, &mut transfer.writer, context)?;
    Ok(OutputSizes { totals: transfer.writer.finish()?, pages, shared, bytes })
}

/// Copies the streamer infos of the inputs if there are streamed objects.
fn describe_classes(
    all_inputs: &AllInputs,
    unified: &Unified,
    target: &Output,
    context: &Context,
) -> Result<()> {
    let streamed = unified.schema.has_streamed_objects();
    let inputs = all_inputs.inputs.iter().filter(|_| streamed).collect::<Vec<_>>();
    let list = |input: &InputProperties| {
        let (file, _) = open(input, read::RNTupleReadOptions::default())?;
        file.streamer_list().in_file(file.name())
    };
    let add = |_: &_, list| target.file.add_streamer_infos(&list);
    all_inputs.each(&inputs, context, list, add)
}

/// Lists the other objects of the first input, which are copied.
fn others(all_inputs: &AllInputs) -> Result<OtherObjects> {
    let first = all_inputs.inputs.first();
    let first = first.ok_or_else(|| Error::invalid_argument("there is no input"))?;
    let (file, _) = open(first, read::RNTupleReadOptions::default())?;
    OtherObjects::plan(&file, &[&all_inputs.path])
}
