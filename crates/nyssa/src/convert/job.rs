//! From a tree in a file to an RNTuple in another.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use super::choosing::Choosing;
use super::classes::Classes;
use super::clusters::Sizes;
use super::digests::Digests;
use super::map::{Checked, FieldMap, Input, Map, Rules, Source, Unit, check, map};
use super::options::Options;
use super::others::{Others, ntuple_options};
use super::pipeline::{Pipeline, Stop, Written};
use super::report::{FieldReport, Report, Skipped};
use super::samples::Samples;
use super::streamer::Products;
use super::trouble::{Troubles, spared};
use super::unit::Units;
use super::{clusters, trouble, verify};
use crate::Context;
use crate::compare::digest;
use crate::dataset::{Dataset, Filter, LeftOut};
use crate::error::{Error, Kind, Result, ResultExt};
use crate::memory::peak_memory;
use crate::open::TREE_CLASSES;
use crate::output::{self, Output};
use crate::rntuple::choose::Chooser;
use crate::rntuple::read;
use crate::rntuple::write::loss::{check_exact, losses};
use crate::rntuple::write::{
    self, DEFAULT_INITIAL_UNZIPPED_PAGE, FieldOptions, SealSettings, Writer,
};
use crate::rootfile::{NOT_CLOSED, RootFile};
use crate::ttree::{Reader, Relations};

/// Converts the tree at `path` (`dir/name` or `dir/name;cycle`) of `input` to an RNTuple of the same
/// path in the new file `output`, which appears only when all of it is written (and verified, if
/// asked).
///
/// # Errors
/// `NotFound` for the tree, `InvalidArgument` for options or an output that cannot be, `Unsupported`
/// listing every branch that cannot be converted, `Cancelled`, and whatever is wrong with the input.
pub fn convert(
    input: &RootFile,
    path: &str,
    output: &Path,
    options: &Options,
    context: &Context,
) -> Result<Report> {
    let mut reports = run(input, &[path.to_owned()], output, options, context)?;
    reports.pop().ok_or_else(|| Error::invalid_argument("nothing was converted"))
}

/// Converts every tree of `input`, each to an RNTuple of the same path in `output`.
///
/// # Errors
/// As [`convert`]; `NotFound` when there is no tree, `InvalidArgument` for a name in the options.
pub fn convert_all(
    input: &RootFile,
    output: &Path,
    options: &Options,
    context: &Context,
) -> Result<Vec<Report>> {
    if options.name.is_some() {
        return Err(Error::invalid_argument(
            "one name does not do for all trees of a file: each keeps its path",
        ));
    }
    let keys = crate::open::datasets(input)?;
    let trees = keys.into_iter().filter(|key| TREE_CLASSES.contains(&key.class.as_str()));
    let paths: Vec<_> = trees.map(|key| format!("{};{}", key.path, key.cycle)).collect();
    if paths.is_empty() {
        return Err(Error::not_found("the file has no TTree")).in_file(input.name());
    }
    run(input, &paths, output, options, context)
}

/// Begins anew as often as the data of a branch shows that it has to be left out or stored otherwise.
fn run(
    input: &RootFile,
    paths: &[String],
    output: &Path,
    options: &Options,
    context: &Context,
) -> Result<Vec<Report>> {
    Output::check(&[input.name()], output, options.force)?;
    let mut troubles = vec![Troubles::default(); paths.len()];
    loop {
        match attempt(input, paths, output, options, context, &mut troubles)? {
            Some(reports) => return Ok(reports),
            None => context.check()?,
        }
    }
}

/// Converts everything; `None` when there is news in `troubles`.
fn attempt(
    input: &RootFile,
    paths: &[String],
    output: &Path,
    options: &Options,
    context: &Context,
    troubles: &mut [Troubles],
) -> Result<Option<Vec<Report>>> {
    // Everything that can be refused is refused before the output is touched.
    options.validate()?;
    let filter = options.filter()?;
    let keys = paths.iter().map(|path| input.find(path)).collect::<Result<Vec<_>>>()?;
    let mut others = Others::plan(input, &keys)?;
    let mut none_left = None;
    let mut readers = Vec::with_capacity(paths.len());
    for ((path, key), troubles) in paths.iter().zip(&keys).zip(troubles) {
        match Reader::open(input, path) {
            // One of several trees.
            Err(error) if keys.len() > 1 && options.skip_unsupported && is_unsupported(&error) => {
                others.leave_out(key, error.message());
                none_left.get_or_insert(error);
            }
            reader => {
                let reader = reader?;
                let members = troubles.members();
                let reader = if members.is_empty() { reader } else { reader.without(members) };
                readers.push((key, reader, troubles));
            }
        }
    }
    let mut jobs = Vec::with_capacity(readers.len());
    for (key, reader, troubles) in &mut readers {
        match Job::new(input, reader, &filter, options, troubles, context) {
            // One of several trees, of which no branch is left.
            Err(error) if keys.len() > 1 && error.kind() == Kind::InvalidArgument => {
                others.leave_out(key, error.message());
                none_left.get_or_insert(error);
            }
            job => {
                let mut job = job?;
                job.map.notes.extend(match Relations::load(input, key) {
                    Ok(relations) => relations.left_out(),
                    Err(error) => vec![format!("aliases and friends: {}", error.message())],
                });
                jobs.push(job);
            }
        }
    }
    if let (true, Some(error)) = (jobs.is_empty(), none_left) {
        return Err(error);
    }
    let settings = output::Settings {
        compression: options.compression,
        force: options.force,
        reproducible: options.reproducible,
    };
    let target = Output::create(&[input.name()], output, settings)?;
    let mut done = Vec::with_capacity(jobs.len());
    if options.carry {
        others.make_directories(&target)?;
    }
    for job in &mut jobs {
        match job.write(&target) {
            Ok(report) => done.push(report),
            Err(Stop::Error(error)) => return Err(job.place(error)),
            Err(Stop::Units(failed)) => {
                job.note(failed).map_err(|error| job.place(error))?;
                return Ok(None);
            }
        }
    }
    let ntuple_options = ntuple_options(options);
    let mut rewritten = None;
    if options.carry {
        rewritten = Some(others.write(input, &target, &ntuple_options, context, &mut done)?);
    } else {
        others.leave(&mut done);
    }
    let size = target.finish()?;
    if options.verify {
        let file = target.open()?;
        for (job, report) in jobs.iter().zip(&mut done) {
            job.verify(&file, report)?;
        }
        if let Some(rewritten) = &mut rewritten {
            rewritten.verify(&file)?;
        }
    }
    context.check()?;
    target.publish()?;
    for report in &mut done {
        if input.was_recovered() {
            report.notes.push(NOT_CLOSED.to_owned());
        }
        report.output_bytes = size;
        report.peak_memory_bytes = peak_memory();
    }
    Ok(Some(done))
}

fn is_unsupported(error: &Error) -> bool {
    error.kind() == Kind::Unsupported
}

/// The branches of a tree that hold data, by the names they are read by.
pub fn inputs(reader: &Reader) -> Vec<Input<'_>> {
    let input = |item: &crate::dataset::Item| {
        Some(Input { path: item.name.clone(), branch: reader.branch(&item.name)? })
    };
    reader.items().iter().filter_map(input).collect()
}

/// One tree.
struct Job<'a> {
    reader: &'a Reader,
    inputs: Vec<Input<'a>>,
    products: Products,
    map: Map,
    entries: Range<u64>,
    options: &'a Options,
    troubles: &'a mut Troubles,
    context: &'a Context,
}

impl<'a> Job<'a> {
    fn new(
        file: &RootFile,
        reader: &'a Reader,
        filter: &Filter,
        options: &'a Options,
        troubles: &'a mut Troubles,
        context: &'a Context,
    ) -> Result<Self> {
        let inputs = inputs(reader);
        let infos = file.streamer_infos()?;
        let classes = Classes::new(&infos);
        let entries = options.entry_range(reader.num_entries()).in_object(reader.name())?;
        let checks: Vec<Checked> =
            inputs.iter().map(|input| check(input.branch, options.layout, &classes)).collect();
        let choosing = Choosing {
            file,
            classes: &classes,
            checks: &checks,
            troubles,
            reader,
            inputs: &inputs,
            filter,
            entries: &entries,
            options,
            context,
        };
        let products = choosing.products().in_file(file.name()).in_object(reader.name())?;
        let rules = Rules {
            layout: options.layout,
            compression: options.compression,
            filter,
            skip_unsupported: options.skip_unsupported,
            skip_unreadable: options.skip_unreadable,
            checks: &checks,
            products: &products,
            troubles,
        };
        let mut map = match inputs.is_empty() {
            // Trees without branches have nothing but their entries.
            true => Map::default(),
            false => map(&inputs, rules).in_file(file.name()).in_object(reader.name())?,
        };
        map.skipped.extend(troubles.members().iter().map(|LeftOut { column, reason }| Skipped {
            branch: column.clone(),
            reason: reason.clone(),
            unreadable: true,
        }));
        Ok(Self { reader, inputs, products, map, entries, options, troubles, context })
    }

    /// Takes note of units that failed.
    ///
    /// # Errors
    /// A failure that is known, which would come again for ever.
    fn note(&mut self, failed: BTreeMap<usize, Error>) -> Result<()> {
        for (index, error) in failed {
            let unit = self.map.units.get(index);
            let members = unit.map_or(Ok(Vec::new()), |unit| self.damaged_members(unit, &error))?;
            if self.troubles.add_members(members) {
                continue;
            }
            let news = |unit| self.troubles.add(&self.inputs, &self.products, unit, &error);
            if !unit.is_some_and(news) {
                return Err(error);
            }
        }
        Ok(())
    }

    /// The sub-branches of the split branch of a unit that cannot be read, if its objects can be put
    /// together without them.
    fn damaged_members(&self, unit: &Unit, error: &Error) -> Result<Vec<LeftOut>> {
        let (Source::Branch(index) | Source::Streamed(index)) = unit.source else {
            return Ok(Vec::new());
        };
        let Some(input) = self.inputs.get(index) else { return Ok(Vec::new()) };
        if input.branch.split.is_none() || trouble::unsupported(error.kind()) {
            return Ok(Vec::new());
        }
        let Range { start, end } = self.entries;
        let inside = |range: Range<u64>| range.start.max(start)..range.end.min(end);
        let clusters = self.reader.clusters().into_iter().map(inside);
        let clusters: Vec<_> = clusters.filter(|range| !range.is_empty()).collect();
        let found = self.reader.damaged(&[&input.path], &clusters, self.context)?;
        let whole = found.iter().any(|one| one.column == input.path);
        Ok(if whole || found.len() >= self.reader.leaves(&input.path).len() {
            Vec::new()
        } else {
            found
        })
    }

    fn write(&mut self, output: &Output) -> std::result::Result<Report, Stop> {
        let start = Instant::now();
        let taken: Vec<_> = self
            .map
            .units
            .iter()
            .filter_map(|unit| match unit.source {
                Source::Branch(index) | Source::Items(index) | Source::Streamed(index) => {
                    Some(index)
                }
                Source::Offsets(_) => None,
            })
            .collect();
        let tree = self.reader.tree();
        let columns = self.map.schema.columns.len();
        let (cluster_bytes, note) = write::cluster_of(self.options.cluster_bytes, columns);
        self.map.notes.extend(note);
        let options = Options { cluster_bytes, ..self.options.clone() };
        let first = clusters::first(&self.inputs, &taken, &self.entries, &options);
        let write_options = write::Options {
            compression: self.options.compression,
            fields: self.field_options(),
            initial_unzipped_page: DEFAULT_INITIAL_UNZIPPED_PAGE.min(self.options.page_bytes),
            max_unzipped_page: self.options.page_bytes,
            description: tree.title.clone(),
            streamer_infos: self.products.infos.clone(),
            ..write::Options::default()
        };
        let compression = write_options.compression;
        write::choose_columns(&mut self.map.schema, &write_options.fields, compression, 0)?;
        let mut settings = SealSettings::new(&self.map.schema, &write_options);
        if self.options.verify {
            check_exact(&self.map.schema, &settings)?;
        }
        self.map.notes.extend(losses(&self.map.schema, &settings));
        let samples = Samples {
            reader: self.reader,
            inputs: &self.inputs,
            products: &self.products,
            units: &self.map.units,
            entries: &self.entries,
            first: &first,
            context: self.context,
        };
        let Options { compression, effort, encodings, .. } = *self.options;
        let chosen = match Chooser::of(compression, effort, encodings) {
            Some(chooser) => samples.choose(&chooser, &mut self.map.schema, &mut settings)?,
            None => Vec::new(),
        };
        let (schema, units) = (&self.map.schema, &self.map.units);
        let units = Units::new(self.reader, &self.inputs, &self.products, schema, units);
        let entries = &self.entries;
        let sizes = Sizes::new(&units, entries, &first, &settings, &options, self.context)?;
        let cutter = sizes.cutter(tree, &units, entries, &options);
        let name = self.ntuple();
        let mut writer =
            Writer::attach(&output.file, &name, self.map.schema.clone(), write_options)?;
        let input_bytes = self.input_bytes();
        let digests = Digests::new(&units);
        let pipeline = Pipeline {
            units: &units,
            sizes: &sizes,
            settings: &settings,
            budget: self.options.memory_budget,
            total_bytes: input_bytes,
            spared: &|unit, error| spared(self.options, &self.products, unit, error),
            digests: &digests,
            context: self.context,
        };
        let (written, cutter) = pipeline.run(cutter, &mut writer)?;
        let columns =
            write::column_report::reports(units.schema, &settings, &chosen, &written.column_bytes);
        let notes = cutter.notes(self.options.memory_budget);
        self.map.notes.extend(notes);
        let totals = writer.finish()?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Report {
            input: self.reader.file().to_owned(),
            tree: self.reader.name().to_owned(),
            output: output.name().to_owned(),
            ntuple: name,
            first_entry: self.entries.start,
            entries: totals.entries,
            clusters: totals.clusters,
            input_bytes,
            uncompressed_bytes: totals.uncompressed_bytes,
            compressed_bytes: totals.compressed_bytes,
            seconds,
            megabytes_per_second: input_bytes as f64 / 1e6 / seconds.max(1e-9),
            threads: self.context.threads(),
            digest_hash: digest::HASH.to_owned(),
            fields: self.field_reports(&written, digests.fields(&units, &self.map.fields)),
            columns,
            products: self.products.reports.clone(),
            renamed: self.map.renamed.clone(),
            skipped: self.map.skipped.clone(),
            notes: self.map.notes.clone(),
            ..Report::default()
        })
    }

    fn place(&self, error: Error) -> Error {
        error.at(|place| {
            place.file = Some(self.reader.file().to_owned());
            place.object = Some(self.reader.name().to_owned());
        })
    }

    /// Path of the RNTuple: that of the tree, without a cycle.
    fn ntuple(&self) -> String {
        let path = self.options.name.as_deref().unwrap_or_else(|| self.reader.name());
        path.split(';').next().unwrap_or(path).to_owned()
    }

    /// Options by field, with the names of branches that became others.
    fn field_options(&self) -> Vec<FieldOptions> {
        let mut all = self.options.field_options.clone();
        for options in &mut all {
            for renamed in &self.map.renamed {
                options.name_also(&renamed.branch, &renamed.field);
            }
        }
        all
    }

    fn branch_bytes(&self, path: &str) -> u64 {
        let branch = self.reader.branch(path);
        branch.map_or(0, |branch| clusters::stored(branch, &self.entries))
    }

    /// Zipped bytes of the baskets that are read.
    fn input_bytes(&self) -> u64 {
        self.map.fields.iter().map(|field| self.branch_bytes(&field.branch)).sum()
    }

    fn field_reports(&self, written: &Written, digests: Vec<Option<String>>) -> Vec<FieldReport> {
        let by_field: std::collections::HashMap<_, _> =
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

    fn verify(&self, file: &RootFile, report: &mut Report) -> Result<()> {
        let start = Instant::now();
        let ntuple = read::Reader::open(file, &self.ntuple())?;
        let mut fields = self.map.fields.clone();
        for (index, product) in self.products.apart() {
            let path = self.inputs.get(index).map_or("", |input| input.path.as_str());
            let Some(field) = fields.iter_mut().find(|field| field.branch == path) else {
                continue;
            };
            field.readable = false;
            let read = |entries: &Range<u64>| product.read(self.reader, path, entries);
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
            self.options.memory_budget,
            self.context,
        )?;
        compared
            .require_equal("the tree", "the RNTuple")
            .in_file(self.reader.file())
            .in_object(self.reader.name())?;
        report.verified = true;
        report.verify_seconds = Some(start.elapsed().as_secs_f64());
        Ok(())
    }
}
