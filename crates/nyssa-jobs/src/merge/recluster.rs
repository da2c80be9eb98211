//! Makes a few full clusters from many small clusters: all data are decoded and sealed again.

use std::sync::Arc;

use nyssa_data::dataset::{ColumnInfo, Dataset};
use nyssa_data::view::evolve::{EvolutionOptions, Missing};
use nyssa_data::view::{Lengths, Mapping, WithSchema};
use nyssa_rntuple::choose::FieldOptions;
use nyssa_rntuple::read;
use nyssa_rntuple::schema::Schema;
use nyssa_rntuple::write::{self, SharedFile, TableWriter, WriteReport};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};

use super::attributes;
use super::inputs::{AllInputs, InputProperties, open};
use super::options::{MergeOptions, default_memory};
use super::progress::Progress;
use super::unify::Unified;
use crate::heuristics::merge;
use crate::job::cutting::clusters_are;
use crate::job::largest_entry::Search;
use crate::job::largest_part::{Copies, LargestPart, entries_of};
use crate::rewrite::OutputSchema;

/// Reads all inputs in order and writes them in clusters of the requested size. Returns the sizes of the output, and
/// notes.
///
/// # Errors
/// `Unsupported` for a field that cannot be read; `Cancelled`; an error if an input cannot be read or the sink cannot
/// be written.
pub(super) fn recluster(
    (all_inputs, unified, fields): (&AllInputs, &Unified, &[FieldOptions]),
    (file, name): (&SharedFile, &str),
    options: &MergeOptions,
    progress: Progress,
    context: &Context,
) -> Result<(WriteReport, Vec<String>, LargestPart)> {
    let MergeOptions { output, storage, .. } = options;
    let (compression, cluster_size) = (output.compression(), storage.cluster_size());
    let memory = options.memory();
    let target = OutputSchema::of(&unified.schema, compression.setting() != 0)?;
    let columns = Columns::of(all_inputs, unified)?;
    let names: Vec<&str> = columns.items.iter().map(|item| item.name.as_str()).collect();
    let write_options = write::RNTupleWriteOptions {
        effort: output.effort(),
        fields: fields.to_vec(),
        encodings: storage.encoding(),
        description: all_inputs.description.clone(),
        approx_zipped_cluster: cluster_size,
        max_unzipped_cluster: cluster_size.saturating_mul(10),
        memory: memory - memory / merge::READ_DIVISOR,
        ..storage.write_options(output)
    };
    let mut table = TableWriter::with_schema(file, name, target.schema, write_options, context)?;
    table.with_writer(|writer| writer.set_extra_types(unified.extra_types.clone()))?;
    let step = step(all_inputs, memory / merge::READ_DIVISOR);
    let quiet = context.quiet();
    let largest = LargestPart::new(memory, Copies::Once);
    let Progress { mut done, total } = progress;
    let inputs = all_inputs.inputs.iter().collect::<Vec<_>>();
    let open = |input: &InputProperties| {
        let reader = columns.reader(input, !options.no_checksums)?;
        plan(&largest, &reader, memory, &quiet);
        columns.open(input, reader)
    };
    all_inputs.each(&inputs, context, open, |input, dataset| {
        let mut start = 0;
        while start < input.report.entries {
            context.check()?;
            let end = input.report.entries.min(start.saturating_add(step));
            let arrays = dataset.read(&names, start..end, &quiet)?;
            largest.add(&arrays, || entries_of(&(start..end), &input.report.file));
            table.extend(&arrays)?;
            done += end - start;
            context.report(done, total);
            start = end;
        }
        Ok(())
    })?;
    table.flush()?;
    let mut notes = note(table.short_clusters()?, options);
    notes.extend(table.with_writer(|writer| attributes::carry(all_inputs, file, writer, context))?);
    Ok((table.finish()?, notes, largest))
}

/// Reports the memory that the largest entry of an input needs, if it exceeds the memory of the job.
fn plan(largest: &LargestPart, reader: &read::Reader, memory: u64, context: &Context) {
    let entries = 0..reader.num_entries();
    let fields = reader.top_level();
    let part = Search { reader, entries: &entries, memory, context }.of_fields(fields);
    largest.plan(&part, reader.name(), reader.file());
}

/// Returns a note on clusters that ended early because of the memory.
fn note(short: u64, options: &MergeOptions) -> Vec<String> {
    if short == 0 {
        return Vec::new();
    }
    let (clusters, memory) = (clusters_are(short), options.memory());
    let (cluster_size, needed) = (options.storage.cluster_size(), default_memory(options));
    vec![format!(
        "{clusters} smaller than {cluster_size} bytes on storage: a memory of {memory} bytes holds no \
         more, {needed} are enough"
    )]
}

/// Returns the number of entries that are read at the same time.
fn step(all_inputs: &AllInputs, memory: u64) -> u64 {
    let most = |input: &InputProperties| {
        let entries = input.report.entries.max(1);
        input.uncompressed.saturating_mul(merge::EXPANSION).div_ceil(entries)
    };
    let bytes = all_inputs.inputs.iter().map(most).max().unwrap_or(0);
    (memory / bytes.max(1)).max(1)
}

/// The columns of the output, and their origins in each input.
struct Columns {
    items: Arc<[ColumnInfo]>,
    mappings: Vec<Arc<Mapping>>,
}

impl Columns {
    fn of(all_inputs: &AllInputs, unified: &Unified) -> Result<Self> {
        let items: Arc<[ColumnInfo]> = physical(&unified.schema).collect();
        let options = EvolutionOptions { missing: Missing::Default, narrowing: false };
        let mut mappings = Vec::with_capacity(all_inputs.shapes.len());
        for (number, shape) in all_inputs.shapes.iter().enumerate() {
            let origins = shape.schema.top_level().zip(&shape.origins);
            let origins = origins.filter(|((_, field), _)| field.source.is_none());
            // The columns of the file, with their own names and with the names of the output.
            let (stored, renamed): (Vec<ColumnInfo>, Vec<ColumnInfo>) = origins
                .map(|((_, field), &id)| {
                    let item = read::item(&shape.file, &[id], None);
                    let renamed = ColumnInfo { name: field.name.clone(), ..item.clone() };
                    (item, renamed)
                })
                .unzip();
            let mapping =
                Mapping::between(&stored, &renamed, &items, options, (&Lengths::default(), &[]));
            for (index, item) in items.iter().enumerate() {
                let reason =
                    mapping.reason(index).or(item.field.as_ref().err().map(String::as_str));
                if let Some(reason) = reason {
                    let error = Error::unsupported(reason);
                    return Err(error).in_field(&item.name).in_file(all_inputs.name_of(number));
                }
            }
            mappings.push(Arc::new(mapping));
        }
        Ok(Self { items, mappings })
    }

    /// Opens an input.
    fn reader(&self, input: &InputProperties, verify: bool) -> Result<Arc<read::Reader>> {
        let streamer = read::StreamerForm::Raw;
        let options = read::RNTupleReadOptions { verify_checksums: verify, streamer };
        Ok(open(input, options)?.1)
    }

    /// Shows an input with the columns of the output.
    fn open(&self, input: &InputProperties, reader: Arc<read::Reader>) -> Result<WithSchema> {
        let mapping = self.mappings.get(input.shape);
        let mapping =
            mapping.ok_or_else(|| Error::invalid_argument("an input without a schema"))?;
        Ok(WithSchema::with(reader, Arc::clone(&self.items), Arc::clone(mapping)))
    }
}

/// Returns the top-level fields with their own data. Streamed objects are bytes.
fn physical(schema: &Schema) -> impl Iterator<Item = ColumnInfo> {
    let fields = schema.top_level().filter(|(_, field)| field.source.is_none());
    fields.map(|(id, _)| read::item(schema, &[id], None))
}
