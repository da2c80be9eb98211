//! Many small clusters → few full ones: everything is decoded and sealed again.

use std::sync::Arc;

use super::attributes;
use super::options::Options;
use super::survey::{Survey, Surveyed, open};
use super::unify::Unified;
use crate::Context;
use crate::dataset::evolve::{Missing, Options as Evolution};
use crate::dataset::{AnyDataset, Chain, ChainOptions, Dataset, Link, Target as Columns};
use crate::error::{Error, Result, ResultExt};
use crate::read;
use crate::rewrite::Target;
use crate::write::{self, Report, SharedFile, TableWriter};

/// One part in so many of the memory is for what is read at once; the rest is for writing.
const READ_SHARE: u64 = 4;
/// Bytes that a value takes in memory, for each on storage before compression, at most: offsets of 64
/// bits, and bits as bytes.
const EXPANSION: u64 = 2;

/// Reads all inputs in order and writes them in clusters of about `cluster_bytes`.
///
/// # Errors
/// `Unsupported` naming a field that cannot be read; whatever is wrong with the inputs; the sink's;
/// `Cancelled`.
pub(super) fn recluster(
    survey: &Survey,
    unified: &Unified,
    (file, name): (&SharedFile, &str),
    cluster_bytes: u64,
    options: &Options,
    context: &Context,
) -> Result<Report> {
    let target = Target::of(&unified.schema, options.compression.setting() != 0)?;
    let physical = target.schema.top_level().filter(|(_, field)| field.source.is_none());
    let names: Vec<String> = physical.map(|(_, field)| field.name.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let chain = chain(survey, options.verify, context)?;
    for item in chain.items().iter().filter(|item| names.contains(&item.name.as_str())) {
        if let Err(reason) = &item.field {
            return Err(Error::unsupported(reason.clone())).in_field(&item.name);
        }
    }
    let write_options = write::Options {
        compression: options.compression,
        effort: options.effort,
        description: survey.description.clone(),
        approx_zipped_cluster: cluster_bytes,
        max_unzipped_cluster: cluster_bytes.saturating_mul(10),
        memory: options.memory_budget - options.memory_budget / READ_SHARE,
        ..write::Options::default()
    };
    let mut table = TableWriter::with_schema(file, name, target.schema, write_options, context)?;
    table.writer_mut().set_extra_types(unified.extra_types.clone())?;
    let total = chain.num_entries();
    let step = step(survey, options.memory_budget / READ_SHARE);
    let quiet = context.quiet();
    let mut start = 0;
    while start < total {
        context.check()?;
        let end = total.min(start.saturating_add(step));
        table.extend(&chain.read(&names, start..end, &quiet)?)?;
        context.report(end, total);
        start = end;
    }
    table.flush()?;
    attributes::carry(survey, table.writer_mut(), context)?;
    table.finish()
}

/// Entries that are read at once.
fn step(survey: &Survey, memory: u64) -> u64 {
    let most = |input: &Surveyed| {
        let entries = input.report.entries.max(1);
        input.uncompressed.saturating_mul(EXPANSION).div_ceil(entries)
    };
    let bytes = survey.inputs.iter().map(most).max().unwrap_or(0);
    (memory / bytes.max(1)).max(1)
}

/// All inputs as one dataset; some are open at a time.
fn chain(survey: &Survey, verify: bool, context: &Context) -> Result<Chain> {
    let options = read::Options { verify_checksums: verify, streamer: read::StreamerForm::Raw };
    let link = |input: &Surveyed| {
        let input = input.clone();
        Link::new(input.report.file.clone(), move || {
            let (_, reader) = open(&input, options)?;
            Ok(Arc::new(reader) as AnyDataset)
        })
    };
    let evolution = Evolution { missing: Missing::Default, narrowing: false };
    let options = ChainOptions { target: Columns::Union, evolution, ..ChainOptions::default() };
    Chain::new(survey.inputs.iter().map(link).collect(), &options, context)
}
