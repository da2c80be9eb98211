//! Merges the inputs of one RNTuple of the output.

use std::sync::Arc;

use nyssa_rntuple::choose::FieldOptions;
use nyssa_rntuple::read;
use nyssa_rntuple::schema::{Schema, Structure};
use nyssa_rntuple::write::{self, Writer};
use nyssa_root::Context;
use nyssa_root::error::{Result, ResultExt};
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::{StreamerInfos, StreamerList};

use super::inputs::{AllInputs, InputProperties, open};
use super::options::MergeOptions;
use super::progress::Progress;
use super::recluster::recluster;
use super::report::MergedNTupleReport;
use super::transfer::Transfer;
use super::unify::Unified;
use super::zeros::Zeros;
use super::{attributes, verify};
use crate::job::largest_part::LargestPart;
use crate::job::output::Output;

/// An RNTuple of the output.
pub(super) struct MergedNTuple {
    pub all_inputs: AllInputs,
    unified: Unified,
    /// The options of fields, if new clusters are made.
    field_options: Vec<FieldOptions>,
    /// The path of the RNTuple in the output.
    pub name: String,
    /// The sizes of the output.
    totals: write::WriteReport,
    pages: u64,
    shared: u64,
    /// The number of bytes of the pages.
    bytes: u64,
    /// The largest data in memory, if new clusters are made.
    pub largest: Option<LargestPart>,
}

impl MergedNTuple {
    /// Unifies the schemas of the inputs.
    ///
    /// # Errors
    /// See [`Unified::of`].
    pub(super) fn of(all_inputs: AllInputs, options: &MergeOptions) -> Result<Self> {
        let unified = Unified::of(&all_inputs, options.mode, options.reclusters())?;
        let (name, totals) = (all_inputs.path.clone(), write::WriteReport::default());
        let (pages, shared, bytes, largest) = (0, 0, 0, None);
        let field_options = options.storage.field_options.clone();
        Ok(Self { all_inputs, unified, field_options, name, totals, pages, shared, bytes, largest })
    }

    /// Returns the fields of the output, and their options.
    pub(super) fn field_options(&mut self) -> (&Schema, &mut Vec<FieldOptions>) {
        (&self.unified.schema, &mut self.field_options)
    }

    /// Returns the amount of work in the unit of [`Progress`].
    pub(super) fn work(&self, options: &MergeOptions) -> u64 {
        match options.reclusters() {
            true => self.all_inputs.inputs.iter().map(|input| input.report.entries).sum(),
            false => self.all_inputs.bytes(),
        }
    }

    /// Takes the remarks for people.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unified.notes)
    }

    /// Writes the RNTuple.
    ///
    /// # Errors
    /// `Cancelled`; an error if an input cannot be read or the output cannot be written.
    pub(super) fn write(
        &mut self,
        output: &Output,
        options: &MergeOptions,
        progress: Progress,
        context: &Context,
    ) -> Result<()> {
        self.describe_classes(output, context)?;
        if options.reclusters() {
            self.write_again(output, options, progress, context)
        } else {
            self.copy_pages(output, options, progress, context)
        }
    }

    /// Decodes all data and writes them in new clusters.
    fn write_again(
        &mut self,
        output: &Output,
        options: &MergeOptions,
        progress: Progress,
        context: &Context,
    ) -> Result<()> {
        let inputs = (&self.all_inputs, &self.unified, &self.field_options[..]);
        let place = (&output.file, self.name.as_str());
        let (totals, notes, held) = recluster(inputs, place, options, progress, context)?;
        self.unified.notes.extend(notes);
        self.largest = Some(held);
        (self.pages, self.shared) = (totals.pages, totals.shared_pages);
        (self.bytes, self.totals) = (totals.compressed_bytes, totals);
        Ok(())
    }

    /// Copies the pages of all inputs.
    fn copy_pages(
        &mut self,
        target: &Output,
        options: &MergeOptions,
        progress: Progress,
        context: &Context,
    ) -> Result<()> {
        let Self { all_inputs, unified, .. } = self;
        let write_options = write::RNTupleWriteOptions {
            compression: options.output.compression(),
            description: all_inputs.description.clone(),
            ..write::RNTupleWriteOptions::default()
        };
        let zeros = Zeros::new(&write_options)?;
        let schema = unified.schema.clone();
        let mut writer = Writer::attach(&target.file, &self.name, schema, write_options)?;
        writer.set_extra_types(unified.extra_types.clone())?;
        let mut transfer = Transfer {
            writer,
            zeros,
            context,
            verify: !options.no_checksums,
            compression: options.recompression(),
            memory_budget: options.memory(),
            moved_bytes: 0,
            moved_pages: 0,
            pages: 0,
            progress,
        };
        transfer.inputs(all_inputs, &unified.mappings)?;
        (self.pages, self.shared) = (transfer.pages, transfer.shared());
        self.bytes = transfer.moved_bytes;
        let notes = attributes::carry(all_inputs, &target.file, &mut transfer.writer, context)?;
        unified.notes.extend(notes);
        self.totals = transfer.writer.finish()?;
        Ok(())
    }

    /// Copies the streamer infos of all inputs: all of them if there are streamed objects, and otherwise those of the classes
    /// of fields. The writer describes the classes that no input describes.
    fn describe_classes(&self, target: &Output, context: &Context) -> Result<()> {
        let Self { all_inputs, unified, .. } = self;
        let streamed = unified.schema.has_streamed_objects();
        if !streamed && unified.schema.classes().is_empty() {
            return Ok(());
        }
        let inputs = all_inputs.inputs.iter().collect::<Vec<_>>();
        let list = |input: &InputProperties| {
            let (file, _) = open(input, read::RNTupleReadOptions::default())?;
            Ok((file.name().to_owned(), file.streamer_infos()?, file.streamer_list()?))
        };
        let fields = unified.schema.fields.iter();
        let streamers = fields.filter(|field| field.structure == Structure::Streamer);
        let types: Vec<&str> = streamers.map(|field| &*field.type_name).collect();
        let add = |_: &_, (name, infos, list): (String, Arc<StreamerInfos>, StreamerList)| {
            let same = target.file.require_same_classes(&infos, types.iter().copied());
            same.in_file(&name)?;
            let needed = unified.schema.infos_of_classes(&list);
            target.file.add_streamer_infos(if streamed { &list } else { &needed })
        };
        all_inputs.each(&inputs, context, list, add)
    }

    /// Compares every value of the inputs with the output.
    ///
    /// # Errors
    /// `OutOfSpecification` with the first field that differs; `Cancelled`; an error if a file is damaged.
    pub(super) fn verify(&self, written: &RootFile, memory: u64, context: &Context) -> Result<()> {
        verify::compare(&self.all_inputs, written, &self.name, memory, context)
    }

    /// Returns the report on the RNTuple, which is written.
    pub(super) fn report(&self) -> MergedNTupleReport {
        MergedNTupleReport {
            ntuple: self.name.clone(),
            inputs: self.all_inputs.inputs.len() as u64,
            entries: self.totals.entries,
            clusters: self.totals.clusters,
            fields: self.unified.schema.top_level().count() as u64,
            pages: self.pages,
            shared_pages: self.shared,
            page_bytes: self.bytes,
        }
    }
}
