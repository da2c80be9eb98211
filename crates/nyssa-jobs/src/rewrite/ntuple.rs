//! Plans, writes and verifies one RNTuple.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use nyssa_data::dataset::{AnyDataset, ColumnInfo, Dataset};
use nyssa_data::view::{Selected, SelectedRange, Streamed, WithRules};
use nyssa_rntuple::choose::{self, losses, precisions, set_requested_types};
use nyssa_rntuple::format::{CONTENT_STREAMER_INFO, ExtraType};
use nyssa_rntuple::read::{self, Reader, StreamerForm};
use nyssa_rntuple::schema::{FieldId, Schema};
use nyssa_rntuple::write::{self, Writer};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::RootFile;

use super::attributes;
use super::batches::Batches;
use super::clusters::cutter;
use super::options::RewriteOptions;
use super::report::{FieldReport, RNTUPLE, RewriteReport};
use super::samples::Sampler;
use super::select::Selection;
use super::sizes::Sizes;
use super::skim;
use super::split;
use super::streamed::{self, StreamedFields};
use super::target::OutputSchema;
use crate::compare::diff;
use crate::job::largest_entry::Search;
use crate::job::largest_part::{Copies, LargestPart};
use crate::job::output::Output;
use crate::job::{EntryRange, Reencoded, Written, report};

/// An RNTuple that is rewritten.
pub(crate) struct NTuple<'a> {
    /// The reader, with only the fields that are written.
    reader: Arc<Reader>,
    /// The reader, with the members that rules add.
    values: AnyDataset,
    /// The values, with streamed objects as bytes.
    shown: AnyDataset,
    streamed: StreamedFields,
    pieces: Vec<SelectedRange>,
    target: OutputSchema,
    /// The fields with their own data: name in the source and id in the output.
    fields: Vec<(String, FieldId)>,
    dropped: Vec<String>,
    options: &'a RewriteOptions,
    context: &'a Context,
}

impl<'a> NTuple<'a> {
    /// Plans the RNTuple at `path` of `input`.
    ///
    /// # Errors
    /// `NotFound` for the RNTuple and for globs that match nothing; `InvalidArgument` for options that are not
    /// allowed; `Unsupported` with a list of all fields that cannot be read; `Cancelled`; an error if the input is
    /// damaged or cannot be read.
    pub(crate) fn new(
        input: &RootFile,
        path: &str,
        options: &'a RewriteOptions,
        context: &'a Context,
    ) -> Result<Self> {
        let select =
            |reader: &Reader| Selection::new(reader.schema(), &options.include, &options.exclude);
        let (mut reader, selection, mut types) = split::open(input, path, &options.split, select)?;
        let mut streamed = streamed::plan(input, &reader, &options.streamed, &selection)?;
        types.extend(streamed.types.clone());
        let schema = reader.schema();
        let compressed = options.output.compression().setting() != 0;
        let mut target = OutputSchema::with_types(schema, &selection, &types, compressed)?;
        target.notes.append(&mut streamed.notes);
        let (by_field, compression) =
            (&options.storage.field_options, options.output.compression());
        set_requested_types(&mut target.schema, by_field, compression, 0)?;
        let dropped = schema.top_level().filter(|(id, _)| !selection.keeps(*id));
        let dropped = dropped.map(|(_, field)| field.name.clone()).collect();
        reader.retain(|id| selection.keeps(id));
        let reader = Arc::new(reader);
        let mut values: AnyDataset = Arc::<Reader>::clone(&reader);
        if !options.rules.is_empty() {
            values = Arc::new(WithRules::new(values, &options.rules)?);
            target.add_made(&*values, &options.rules, compression)?;
        }
        readable(&*values)?;
        let mut shown = AnyDataset::clone(&values);
        if !streamed.layouts.is_empty() {
            shown = Arc::new(Streamed::new(shown, std::mem::take(&mut streamed.layouts))?);
        }
        let entries = EntryRange::checked(options.entries, reader.num_entries(), "RNTuple")?;
        let pieces = match &options.cut {
            None => vec![SelectedRange { entries, mask: None }],
            // A cut may use fields that are not written.
            Some(cut) => {
                let reader = Reader::open(input, path)?;
                skim::pieces(&reader, &entries, cut, options.output.memory(), context)?
            }
        };
        let physical = target.schema.top_level().filter(|(_, field)| field.source.is_none());
        let fields = physical.map(|(id, field)| (field.name.clone(), id)).collect();
        Ok(Self {
            reader,
            values,
            shown,
            streamed,
            pieces,
            target,
            fields,
            dropped,
            options,
            context,
        })
    }

    fn write_options(&self) -> write::RNTupleWriteOptions {
        write::RNTupleWriteOptions {
            description: self.reader.header().description.clone(),
            streamer_infos: self.streamed.infos.clone(),
            ..self.options.storage.write_options(&self.options.output)
        }
    }

    fn selected(&self) -> Result<Selected<&dyn Dataset>> {
        Selected::new(&*self.shown, self.pieces.clone())
    }

    /// Reports the memory that the largest entry of a field needs, if it exceeds the memory of the job.
    fn largest(&self, memory: u64) -> LargestPart {
        let start = self.pieces.first().map_or(0, |piece| piece.entries.start);
        let entries = start..self.pieces.last().map_or(0, |piece| piece.entries.end);
        let (reader, context) = (&*self.reader, self.context);
        let search = Search { reader, entries: &entries, memory, context };
        let largest = LargestPart::new(memory, Copies::Twice);
        for (name, id) in &self.fields {
            if let Some(&source) = self.target.sources.get(id.0 as usize) {
                largest.plan(&search.of_field(source), name, self.reader.file());
            }
        }
        largest
    }

    /// Writes the RNTuple, and the streamer infos of its streamed objects.
    ///
    /// # Errors
    /// `Cancelled`; an error if the input is damaged or the output cannot be written.
    pub(crate) fn write(&self, input: &RootFile, output: &Output) -> Result<RewriteReport> {
        if self.target.schema.has_streamed_objects() {
            // The streamer infos in the extra type information may lack the classes of empty containers.
            output.file.add_streamer_infos(&input.streamer_list().in_file(input.name())?)?;
        }
        if !self.target.schema.classes().is_empty() {
            let described = streamed::described(input, &self.reader)?;
            output.file.add_streamer_infos(&self.target.schema.infos_of_classes(&described))?;
        }
        self.write_to(input, output).in_file(input.name()).in_object(self.reader.name())
    }

    fn write_to(&self, input: &RootFile, output: &Output) -> Result<RewriteReport> {
        let start = Instant::now();
        let OutputSchema { schema, sources, notes } = &self.target;
        let mut notes = notes.clone();
        let mut schema = schema.clone();
        let write_options = self.write_options();
        let mut settings = write_options.seal_settings(&schema);
        notes.extend(losses(&schema, &precisions(&schema, &settings)));
        let physical = self.fields.iter().map(|(_, id)| sources[id.0 as usize]);
        let sizes = Sizes::new(&self.reader, &physical.collect::<Vec<_>>())?;
        let selected = self.selected()?;
        let memory = self.options.output.memory();
        let largest = self.largest(memory);
        let sampler = Sampler::new(&*self.shown, &sizes, &self.fields, self.context);
        let (name, storage) = (self.ntuple(), &self.options.storage);
        let requested = &self.options.output;
        let mut earlier = storage.profile(requested)?;
        let chosen = match storage.chooser(requested) {
            Some(chooser) => {
                let earlier = earlier.as_mut().map(|choices| (choices, name.as_str()));
                sampler.choose(&chooser, earlier, &mut schema, &mut settings)?
            }
            None => Vec::new(),
        };
        earlier.map_or(Ok(()), |choices| choices.save())?;
        let (cluster_size, note) = write::cluster_of(storage.cluster_size(), schema.columns.len());
        notes.extend(note);
        let ratios = sampler.ratios(cluster_size, &schema, &settings)?;
        let cutter = cutter(&selected, &sizes, &ratios, (cluster_size, memory));
        let mut writer =
            Writer::attach(&output.file, &name, schema.clone(), write_options.clone())?;
        let extra_types = self.extra_types(!self.streamed.infos.is_empty());
        writer.set_extra_types([writer.extra_types(), &extra_types].concat())?;
        let batches = Batches {
            selected: &selected,
            sizes: &sizes,
            fields: &self.fields,
            schema: &schema,
            settings: &settings,
            memory,
            largest: &largest,
            context: self.context,
        };
        let written = batches.run(cutter, &mut writer)?;
        notes.extend(written.notes);
        let columns = choose::reports(&schema, &settings, &chosen, &written.column_bytes);
        let (from, to) = ((input, &*self.reader), (&output.file, &mut writer));
        let sets = attributes::copy(from, &selected, to, &write_options, self.context)?;
        notes.extend(sets);
        let totals = writer.finish()?;
        let input_bytes: u64 = sizes.by_field().iter().sum();
        let (file, work) = (self.reader.file(), (input_bytes, start));
        let mut report = Written::new(output.name(), name, &totals, work, notes);
        largest.report(&mut report);
        Ok(RewriteReport {
            format: RNTUPLE,
            written: report,
            reencoded: Reencoded::new(file, input_bytes, &totals, columns, self.context),
            source: self.reader.name().to_owned(),
            input_entries: self.reader.num_entries(),
            fields: field_reports(&schema, &self.fields, sizes.by_field(), &written.field_bytes),
            dropped: self.dropped.clone(),
        })
    }

    /// Returns the extra type information of header and footer. If the writer is `described`, it has all streamer infos
    /// already.
    fn extra_types(&self, described: bool) -> Vec<ExtraType> {
        let header = &self.reader.header().records.extra_types;
        let mut all = header.clone();
        let late = self.reader.footer().extension.extra_types.iter();
        all.extend(late.filter(|record| !header.contains(record)).cloned());
        all.retain(|record| !described || record.content_id != CONTENT_STREAMER_INFO);
        all
    }

    /// Returns the path of the RNTuple in the output, without a cycle.
    fn ntuple(&self) -> String {
        self.options.output.name.clone().unwrap_or_else(|| self.reader.name().to_owned())
    }

    /// Returns how the output is read to be compared.
    fn read_options(&self) -> read::RNTupleReadOptions {
        let streamer = match self.streamed.types.is_empty() {
            true => StreamerForm::Raw,
            false => StreamerForm::Decoded,
        };
        read::RNTupleReadOptions { streamer, ..read::RNTupleReadOptions::default() }
    }

    /// Compares the output with the input.
    ///
    /// # Errors
    /// `OutOfSpecification` with the first field that differs.
    pub(crate) fn verify(&self, file: &RootFile, report: &mut RewriteReport) -> Result<()> {
        let start = Instant::now();
        let mut written = Reader::open_with(file, &self.ntuple(), self.read_options())?;
        // Fields that this job streams are decoded. Fields that were streamed before are compared as bytes.
        let names: HashSet<_> =
            self.streamed.types.keys().map(|&id| &self.reader.schema().field(id).name).collect();
        let streamed =
            written.schema().top_level().filter(|(_, field)| names.contains(&field.name));
        let streamed: HashSet<_> = streamed.map(|(id, _)| id).collect();
        written.decode_only(|id| streamed.contains(&id));
        let settings = self.write_options().seal_settings(&self.target.schema);
        let precisions = precisions(&self.target.schema, &settings);
        let tolerances = diff::Tolerance::of_fields(&self.target.schema, &precisions);
        let memory = self.options.output.memory();
        let options = diff::DiffOptions { tolerances, ..diff::DiffOptions::of_job(memory) };
        let selected = Selected::new(&*self.values, self.pieces.clone())?;
        let compared = diff::diff(&selected, &written, &options, self.context)?;
        compared
            .require_equal("the input", "the RNTuple")
            .in_file(self.reader.file())
            .in_object(self.reader.name())?;
        report::verified((&mut report.written, &mut report.reencoded), start);
        Ok(())
    }
}

/// Refuses a dataset with fields that cannot be read. The error lists all of them.
fn readable(dataset: &dyn Dataset) -> Result<()> {
    let reason = |item: &ColumnInfo| Some((item.name.clone(), item.field.as_ref().err()?.clone()));
    let (names, reasons): (Vec<_>, Vec<_>) = dataset.columns().iter().filter_map(reason).unzip();
    match reasons.len() {
        0 => Ok(()),
        count => {
            let message =
                format!("{count} fields cannot be rewritten:\n  {}", reasons.join("\n  "));
            Err(Error::unsupported(message).about_fields(names))
        }
    }
}

fn field_reports(
    schema: &Schema,
    physical: &[(String, FieldId)],
    read: &[u64],
    written: &[u64],
) -> Vec<FieldReport> {
    let report = |(id, field): (FieldId, &nyssa_rntuple::schema::Field)| {
        let index = physical.iter().position(|(_, other)| *other == id);
        let bytes = |all: &[u64]| index.and_then(|index| all.get(index)).copied().unwrap_or(0);
        FieldReport {
            name: field.name.clone(),
            type_name: field.type_name.clone(),
            projected: field.source.is_some(),
            input_bytes: bytes(read),
            output_bytes: bytes(written),
        }
    };
    schema.top_level().map(report).collect()
}
