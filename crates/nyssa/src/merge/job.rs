//! A merge from its inputs to the published output.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use nyssa_io::LocalSource;

use super::options::Options;
use super::report::Report;
use super::survey::{Survey, Surveyed, identity};
use super::transfer::Transfer;
use super::unify::Unified;
use super::zeros::Zeros;
use crate::Context;
use crate::error::{Error, Kind, Result, ResultExt};
use crate::memory::peak_memory;
use crate::output::{self, Output};
use crate::read::Reader;
use crate::rootfile::{Carry, RootFile};
use crate::write::{self, Writer};

/// Merges RNTuples, each the file or `FILE:PATH` of an argument, into one in the new file `output`, which
/// appears only when all of it is written. Entries keep the order of the inputs. The other objects of
/// the first input come along.
///
/// # Errors
/// `InvalidArgument` without inputs, for an output that is one of them or exists, and naming the first
/// field that differs between the inputs where `options` do not allow for it; `Checksum` naming the
/// page; `Cancelled`; and whatever is wrong with the inputs.
pub fn merge(
    inputs: &[String],
    output: &Path,
    options: &Options,
    context: &Context,
) -> Result<Report> {
    let start = Instant::now();
    // Everything that can be refused is refused before the output is touched.
    let survey = Survey::of(inputs, context)?;
    let unified = Unified::of(&survey, options.mode)?;
    let target = create(&survey, output, options)?;
    let name = options.name.as_deref().unwrap_or(&survey.path).to_owned();
    let write_options = write::Options {
        compression: options.compression,
        description: survey.description.clone(),
        ..write::Options::default()
    };
    let zeros = Zeros::new(&write_options)?;
    let mut writer = Writer::attach(&target.file, &name, unified.schema.clone(), write_options)?;
    writer.set_extra_types(unified.extra_types.clone())?;
    let mut transfer = Transfer {
        writer,
        zeros,
        context,
        verify: options.verify,
        memory_budget: options.memory_budget,
        moved_bytes: 0,
        moved_pages: 0,
        pages: 0,
        total: survey.bytes(),
    };
    for input in &survey.inputs {
        let (file, reader) = open(input)?;
        let mapping = unified.mappings.get(input.shape);
        let mapping =
            mapping.ok_or_else(|| Error::invalid_argument("an input without a schema"))?;
        transfer.input(&reader, mapping).in_file(file.name()).in_object(&input.report.ntuple)?;
    }
    let moved_bytes = transfer.moved_bytes;
    let (pages, shared) = (transfer.pages, transfer.shared());
    let fields = unified.schema.top_level().count() as u64;
    let totals = transfer.writer.finish()?;
    let mut notes = unified.notes;
    notes.extend(carry(&survey, &target)?);
    let output_bytes = target.finish()?;
    context.check()?;
    target.publish()?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Report {
        inputs: survey.inputs.into_iter().map(|input| input.report).collect(),
        output: target.name().to_owned(),
        ntuple: name,
        mode: options.mode.name().to_owned(),
        entries: totals.entries,
        clusters: totals.clusters,
        fields,
        pages,
        shared_pages: shared,
        moved_bytes,
        output_bytes,
        seconds,
        megabytes_per_second: moved_bytes as f64 / 1e6 / seconds.max(1e-9),
        verified: options.verify,
        peak_memory_bytes: peak_memory(),
        notes,
    })
}

fn create(survey: &Survey, output: &Path, options: &Options) -> Result<Output> {
    let inputs: Vec<_> = survey.inputs.iter().map(|input| input.report.file.as_str()).collect();
    let settings = output::Settings {
        compression: options.compression,
        force: options.force,
        reproducible: options.reproducible,
    };
    Output::create(&inputs, output, settings)
}

/// Opens an input again.
fn open(input: &Surveyed) -> Result<(RootFile, Reader)> {
    let report = &input.report;
    let file = RootFile::open(Arc::new(LocalSource::open(&report.file)?))?;
    let reader = Reader::open(&file, &report.ntuple)?;
    if identity(&reader) != input.identity {
        return Err(Error::new(Kind::Io, "the input has changed while it was merged"))
            .in_file(&report.file)
            .in_object(&report.ntuple);
    }
    Ok((file, reader))
}

/// Takes the other objects of the first input along; remarks on those that cannot be.
fn carry(survey: &Survey, target: &Output) -> Result<Vec<String>> {
    let Some(first) = survey.inputs.first() else { return Ok(Vec::new()) };
    let (file, _) = open(first)?;
    let carry = Carry::plan(&file, &[&survey.path])?;
    let late = target.file.carry(&carry)?;
    let refused = carry.refused().iter().chain(&late);
    Ok(refused
        .map(|object| format!("left out {} {}: {}", object.class, object.path, object.reason))
        .collect())
}
