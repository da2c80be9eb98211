//! Plans, writes and verifies one tree.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::time::Instant;

use nyssa_data::dataset::{Dataset, Filter, LeftOut};
use nyssa_rntuple::choose::{
    self, FieldOptions, is_narrowed, losses, precisions, set_requested_types,
};
use nyssa_rntuple::encoding::ColumnType;
use nyssa_rntuple::read;
use nyssa_rntuple::schema::{FieldId, Schema};
use nyssa_rntuple::seal::SealSettings;
use nyssa_rntuple::write::{self, Writer};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_ttree::Reader;

use super::classes::Classes;
use super::clusters::Sizes;
use super::digests::Digests;
use super::failures::{Failures, may_leave_out};
use super::map::{Checked, ConversionPlan, Rules, check, map};
use super::model::{FieldMap, Input, OutputField, Source};
use super::narrow::Narrowing;
use super::sample_baskets::SampleBaskets;
use super::samples::Sampler;
use super::streamer::StreamerBranches;
use super::streamer_fields::StreamerFieldChooser;
use super::unit::Units;
use super::work::{Abort, Work, Written};
use super::{clusters, failures, largest_basket, verify};
use crate::compare::diff::Tolerance;
use crate::compare::digest;
use crate::convert::options::{To, ToRNTuple};
use crate::convert::report::{ConvertReport, FieldReport, Skipped};
use crate::job::largest_part::{Copies, LargestPart};
use crate::job::output::Output;
use crate::job::{self, EntryRange, Reencoded, report};
use crate::kept_tree::Taken;

/// Returns the branches of a tree that have data, with the names by which they are read.
pub fn inputs(reader: &Reader) -> Vec<Input<'_>> {
    let input = |item: &nyssa_data::dataset::ColumnInfo| {
        Some(Input { path: item.name.clone(), branch: reader.branch(&item.name)? })
    };
    reader.columns().iter().filter_map(input).collect()
}

/// A tree that is converted.
pub(super) struct Tree<'a> {
    file: &'a RootFile,
    reader: &'a Reader,
    inputs: Vec<Input<'a>>,
    streamed_branches: StreamerBranches,
    map: ConversionPlan,
    entries: Range<u64>,
    options: &'a ToRNTuple,
    /// The options of fields. They also match the old names of branches that were renamed.
    field_options: Vec<FieldOptions>,
    failures: &'a mut Failures,
    /// The fields with columns that are narrower than their numbers.
    narrowed: HashSet<FieldId>,
    /// The fields that are stored with less precision, by name.
    tolerances: HashMap<String, Tolerance>,
    /// The facts about the tree that the RNTuple stores.
    taken: Taken,
    context: &'a Context,
}

impl<'a> Tree<'a> {
    pub(super) fn new(
        file: &'a RootFile,
        reader: &'a Reader,
        filter: &Filter,
        options: &'a ToRNTuple,
        failures: &'a mut Failures,
        context: &'a Context,
    ) -> Result<Self> {
        let inputs = inputs(reader);
        let infos = file.streamer_infos()?;
        let classes = Classes::new(&infos);
        let entries = EntryRange::checked(options.input.entries, reader.num_entries(), "tree");
        let entries = entries.in_object(reader.name())?;
        let checked = |input: &Input<'_>| {
            reader.check_first(&input.path, &entries)?;
            check(input.branch, options.layout, &classes)
        };
        let checks: Vec<Checked> = inputs.iter().map(checked).collect();
        let chooser = StreamerFieldChooser {
            file,
            classes: &classes,
            checks: &checks,
            failures,
            reader,
            inputs: &inputs,
            filter,
            entries: &entries,
            options,
            context,
        };
        let streamed_branches =
            chooser.streamed_branches().in_file(file.name()).in_object(reader.name())?;
        let rules = Rules {
            layout: options.layout,
            compression: options.output.compression(),
            filter,
            skip_unsupported: options.input.skip_unsupported,
            skip_unreadable: options.input.skip_unreadable,
            checks: &checks,
            streamed_branches: &streamed_branches,
            failures,
        };
        let mut map = match inputs.is_empty() {
            // A tree without branches has only a number of entries.
            true => ConversionPlan::default(),
            false => map(&inputs, rules).in_file(file.name()).in_object(reader.name())?,
        };
        map.skipped.extend(failures.members().iter().map(|LeftOut { column, reason }| Skipped {
            branch: column.clone(),
            reason: reason.clone(),
            unreadable: true,
        }));
        let mut field_options = options.storage.field_options.clone();
        for options in &mut field_options {
            map.renamed.iter().for_each(|item| options.name_also(&item.branch, &item.field));
        }
        let (narrowed, tolerances) = (HashSet::new(), HashMap::new());
        Ok(Self {
            file,
            reader,
            inputs,
            streamed_branches,
            map,
            entries,
            options,
            field_options,
            failures,
            narrowed,
            tolerances,
            taken: Taken::default(),
            context,
        })
    }

    /// Returns the fields of the RNTuple, and their options.
    pub(super) fn field_options(&mut self) -> (&Schema, &mut Vec<FieldOptions>) {
        (&self.map.schema, &mut self.field_options)
    }

    /// Takes what the RNTuple keeps of the tree of a key. Notes say what it cannot keep.
    pub(super) fn keep(&mut self, key: &KeyEntry) {
        let entries = self.entries.end - self.entries.start;
        match Taken::of(self.file, key, self.reader.tree(), entries) {
            Ok(taken) => self.taken = taken,
            Err(error) => self.taken.notes.push(format!(
                "the aliases, the friends and the form of the tree cannot be kept: {}",
                error.message()
            )),
        }
        let fields = self.map.fields.iter();
        let fields = fields.map(|field| (field.branch.as_str(), field.field.as_str())).collect();
        self.taken.set_fields(&fields);
        self.map.notes.append(&mut self.taken.notes);
    }

    /// Returns whether it may have references to objects of a process of its file (`TProcessID`).
    pub(super) fn may_refer(&self) -> bool {
        self.taken.kept.tree.process.is_some()
    }

    /// Adds units that failed to the known failures.
    ///
    /// # Errors
    /// Returns a failure that is already known, because the conversion would otherwise start again for ever.
    pub(super) fn note(&mut self, failed: BTreeMap<usize, Error>) -> Result<()> {
        for (index, error) in failed {
            let unit = self.map.units.get(index);
            if let Some(input) =
                unit.filter(|unit| self.is_too_wide(unit, &error)).and_then(OutputField::input)
            {
                self.failures.add_too_narrow(input);
                continue;
            }
            let members = unit.map_or(Ok(Vec::new()), |unit| self.damaged_members(unit, &error))?;
            if self.failures.add_members(members) {
                continue;
            }
            let news =
                |unit| self.failures.add(&self.inputs, &self.streamed_branches, unit, &error);
            if !unit.is_some_and(news) {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Returns whether a unit failed because its column is narrower than its numbers.
    fn is_too_wide(&self, unit: &OutputField, error: &Error) -> bool {
        self.narrowed.contains(&unit.field) && failures::unsupported(error.kind())
    }

    /// Returns the sub-branches of the split branch of a unit that cannot be read, if its objects can be read
    /// without them.
    fn damaged_members(&self, unit: &OutputField, error: &Error) -> Result<Vec<LeftOut>> {
        let (Source::Branch(index) | Source::Streamed(index)) = unit.source else {
            return Ok(Vec::new());
        };
        let Some(input) = self.inputs.get(index) else { return Ok(Vec::new()) };
        if input.branch.split.is_none() || failures::unsupported(error.kind()) {
            return Ok(Vec::new());
        }
        let Range { start, end } = self.entries;
        let inside = |range: Range<u64>| range.start.max(start)..range.end.min(end);
        let clusters = self.reader.clusters().into_iter().map(inside);
        let clusters: Vec<_> = clusters.filter(|range| !range.is_empty()).collect();
        let damaged = self.reader.damaged(&[&input.path], &clusters, self.context)?;
        let whole = damaged.iter().any(|item| item.column == input.path);
        Ok(if whole || damaged.len() >= self.reader.leaves(&input.path).len() {
            Vec::new()
        } else {
            damaged
        })
    }

    pub(super) fn write(&mut self, output: &Output) -> std::result::Result<ConvertReport, Abort> {
        let start = Instant::now();
        let taken: Vec<_> = self.map.units.iter().filter_map(OutputField::input).collect();
        let tree = self.reader.tree();
        let columns = self.map.schema.columns.len();
        let ToRNTuple { output: requested, storage, .. } = self.options;
        let (cluster_size, note) = write::cluster_of(storage.cluster_size(), columns);
        self.map.notes.extend(note);
        let of_units = taken.iter().filter_map(|&index| self.inputs.get(index));
        let largest = LargestPart::new(requested.memory(), Copies::Twice);
        if let Some((part, branch)) =
            largest_basket::largest(self.reader, of_units, &self.entries, requested.memory())
        {
            let is_said = std::mem::replace(&mut self.failures.need_is_said, true);
            largest.plan(&part, &branch, if is_said { "" } else { self.reader.file() });
        }
        let first =
            clusters::first(&self.inputs, &taken, &self.entries, cluster_size, requested.memory());
        let write_options = write::RNTupleWriteOptions {
            fields: self.field_options.clone(),
            description: tree.title.clone(),
            streamer_infos: self.streamed_branches.infos.clone(),
            ..storage.write_options(requested)
        };
        let compression = write_options.compression;
        set_requested_types(&mut self.map.schema, &write_options.fields, compression, 0)?;
        let mut settings = write_options.seal_settings(&self.map.schema);
        self.narrow(&mut settings);
        let precisions = precisions(&self.map.schema, &settings);
        self.map.notes.extend(losses(&self.map.schema, &precisions));
        self.tolerances = Tolerance::of_fields(&self.map.schema, &precisions);
        let sample_baskets = SampleBaskets::new(requested.memory(), self.context);
        let samples = Sampler {
            reader: self.reader,
            inputs: &self.inputs,
            streamed_branches: &self.streamed_branches,
            units: &self.map.units,
            entries: &self.entries,
            first: &first,
            sample_baskets: &sample_baskets,
            context: self.context,
        };
        let name = self.ntuple();
        let mut earlier = storage.profile(requested)?;
        let chosen = match storage.chooser(requested) {
            Some(chooser) => {
                let earlier = earlier.as_mut().map(|choices| (choices, name.as_str()));
                samples.choose(&chooser, earlier, &mut self.map.schema, &mut settings)?
            }
            None => Vec::new(),
        };
        self.note_quantize(&settings);
        let (schema, units) = (&self.map.schema, &self.map.units);
        let fields = units.iter().map(|unit| unit.field);
        self.narrowed = fields.filter(|&field| is_narrowed(schema, field, &settings)).collect();
        let units = Units::new(self.reader, &self.inputs, &self.streamed_branches, schema, units);
        let entries = &self.entries;
        let sizes = Sizes::new(
            &units,
            entries,
            &first,
            &settings,
            cluster_size,
            (&sample_baskets, self.context),
        )?;
        let cutter = sizes.cutter(tree, &units, entries, cluster_size, requested.memory());
        let mut writer =
            Writer::attach(&output.file, &name, self.map.schema.clone(), write_options)?;
        let input_bytes = self.input_bytes();
        let digests = Digests::new(&units);
        let work = Work {
            units: &units,
            sizes: &sizes,
            settings: &settings,
            sample_baskets: &sample_baskets,
            memory: requested.memory(),
            total_bytes: input_bytes,
            may_leave_out: &|unit, error| {
                self.is_too_wide(unit, error)
                    || may_leave_out(&self.options.input, &self.streamed_branches, unit, error)
            },
            digests: &digests,
            largest: &largest,
            context: self.context,
        };
        let written = work.run(cutter, &mut writer)?;
        let columns = choose::reports(units.schema, &settings, &chosen, &written.column_bytes);
        self.map.notes.extend(written.notes.iter().cloned());
        output.file.add_streamer_infos(&self.taken.infos)?;
        if !self.map.schema.classes().is_empty() {
            let described = self.map.schema.infos_of_classes(&self.file.streamer_list()?);
            output.file.add_streamer_infos(&described)?;
        }
        self.taken.kept.write(&mut writer, self.context)?;
        let totals = writer.finish()?;
        earlier.map_or(Ok(()), |choices| choices.save())?;
        let (file, work) = (self.reader.file(), (input_bytes, start));
        let notes = self.map.notes.clone();
        let mut report = job::Written::new(output.name(), name, &totals, work, notes);
        largest.report(&mut report);
        Ok(ConvertReport {
            written: report,
            reencoded: Reencoded::new(file, input_bytes, &totals, columns, self.context),
            to: To::RNTuple,
            tree: self.reader.name().to_owned(),
            first_entry: self.entries.start,
            digest_hash: digest::HASH.to_owned(),
            fields: self.field_reports(&written, digests.fields(&units, &self.map.fields)),
            streamer_fields: self.streamed_branches.reports.clone(),
            renamed: self.map.renamed.clone(),
            skipped: self.map.skipped.clone(),
        })
    }

    /// Sets the narrower columns that may be chosen, or that the options request.
    fn narrow(&mut self, settings: &mut SealSettings) {
        let (inputs, failures) = (&self.inputs[..], &*self.failures);
        let narrowing = Narrowing { inputs, failures, quantize: self.options.quantize };
        for unit in &self.map.units {
            narrowing.apply(unit, &mut self.map.schema, settings);
        }
    }

    /// Adds a note on how many columns would be smaller as the integers of the tree, if the options requested these.
    fn note_quantize(&mut self, settings: &SealSettings) {
        let schema = &self.map.schema;
        let columns = schema.columns.iter().zip(&settings.columns);
        let doubles = columns.filter(|(column, settings)| {
            let offered = settings.narrower.iter().any(|item| item.range.is_some());
            offered && column.column_type != Some(ColumnType::Real32Quant)
        });
        let count = doubles.count();
        if count > 0 {
            self.map.notes.push(format!(
                "{count} columns are integers in the tree (Double32_t or Float16_t with a range), and real numbers here: \
                 with --quantize they stay integers, and values may differ in the last bits"
            ));
        }
    }

    pub(super) fn place(&self, error: Error) -> Error {
        error.at(|place| {
            place.file = Some(self.reader.file().to_owned());
            place.object = Some(self.reader.name().to_owned());
        })
    }

    /// Returns the path of the RNTuple: the path in the options or the path of the tree, without a cycle.
    fn ntuple(&self) -> String {
        let path = self.options.output.name.as_deref().unwrap_or_else(|| self.reader.name());
        crate::open::without_cycle(path).to_owned()
    }

    fn branch_bytes(&self, path: &str) -> u64 {
        let branch = self.reader.branch(path);
        branch.map_or(0, |branch| clusters::stored(branch, &self.entries))
    }

    /// Returns the compressed bytes of the baskets that are read.
    fn input_bytes(&self) -> u64 {
        self.map.fields.iter().map(|field| self.branch_bytes(&field.branch)).sum()
    }

    fn field_reports(&self, written: &Written, digests: Vec<Option<String>>) -> Vec<FieldReport> {
        let by_field: HashMap<_, _> =
            self.map.units.iter().map(|unit| unit.field).zip(&written.unit_bytes).collect();
        let report = |(field, digest): (&FieldMap, Option<String>)| FieldReport {
            branch: field.branch.clone(),
            field: field.field.clone(),
            type_name: field.type_name.clone(),
            input_bytes: self.branch_bytes(&field.branch),
            output_bytes: by_field.get(&field.physical).copied().copied().unwrap_or(0),
            digest,
        };
        self.map.fields.iter().zip(digests).map(report).collect()
    }

    pub(super) fn verify(&self, file: &RootFile, report: &mut ConvertReport) -> Result<()> {
        let start = Instant::now();
        let ntuple = read::Reader::open(file, &self.ntuple())?;
        let mut fields = self.map.fields.clone();
        for (&index, streamed) in &self.streamed_branches.by_input {
            let path = self.inputs.get(index).map_or("", |input| input.path.as_str());
            let Some(field) = fields.iter_mut().find(|field| field.branch == path) else {
                continue;
            };
            let alike = verify::read_alike((self.reader, path), (&ntuple, &field.field));
            if alike && !streamed.is_apart() {
                continue;
            }
            field.readable = false;
            let read = |entries: &Range<u64>| streamed.read(self.reader, path, entries);
            let first = self.entries.start;
            verify::same_bytes(file, &self.ntuple(), &field.field, first, read, self.context)
                .in_file(self.reader.file())
                .in_object(self.reader.name())?;
        }
        let compared = verify::compare(
            self.reader,
            self.entries.clone(),
            &ntuple,
            &fields,
            &self.tolerances,
            self.options.output.memory(),
            self.context,
        )?;
        compared
            .require_equal("the tree", "the RNTuple")
            .in_file(self.reader.file())
            .in_object(self.reader.name())?;
        report::verified((&mut report.written, &mut report.reencoded), start);
        Ok(())
    }
}
