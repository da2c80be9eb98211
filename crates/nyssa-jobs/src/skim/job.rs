//! Runs a skim.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use arrow_array::ArrayRef;
use nyssa_data::dataset::readable::leaves_others_readable;
use nyssa_data::dataset::steps::{Finish, InputPart, Parts, Shown, StepSize, Steps};
use nyssa_data::dataset::{AnyDataset, Format};
use nyssa_io::Staging;
use nyssa_observe::peak_memory;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::process::UsageAtStart;

use super::input::Input;
use super::options::SkimOptions;
use super::plan::{Plan, query_of, selected};
use super::report::{CutFlowRow, SkimColumn, SkimReport};
use super::target::{Target, TargetReport};
use crate::compare::digest::{self, ColumnHasher};
use crate::convert::To;
use crate::heuristics::convert;
use crate::job::Written;
use crate::job::largest_part::{Copies, LargestPart, entries_of};
use crate::job::output::{Output, Settings};
use crate::open;

/// Writes columns of the entries of `inputs` that pass the cuts, and new columns, to the new file `output`. Inputs are
/// files, `FILE:PATH`, globs, folders and lists, also at URLs; several are read one after the other. The file appears
/// only when it is complete, and verified if the options request it.
///
/// # Errors
/// `NotFound` for inputs and columns; `InvalidArgument` for options, names, cuts, or an output that are not allowed;
/// `Unsupported` with a list of all columns that cannot be written; `Cancelled`; an error if an input is damaged or
/// cannot be read.
pub fn skim(
    inputs: &[String],
    output: &Path,
    options: &SkimOptions,
    context: &Context,
) -> Result<SkimReport> {
    let files = open::files_of(inputs)?;
    let locations: Vec<_> = files.iter().map(|file| open::split_path(file).0).collect();
    let paths: Vec<&Path> = locations.iter().map(|file| Path::new(&**file)).collect();
    Output::check_any(&paths, output, options.output.force)?;
    let mut input = Arc::new(Input::open(&files, options, context)?);
    let default = match input.first.format() {
        Format::TTree => To::TTree,
        _ => To::RNTuple,
    };
    let to = options.checked(output, default)?;
    loop {
        let error = match attempt(&input, (&paths, output), to, options, context) {
            Err(error) if options.skip_unreadable && leaves_others_readable(&error) => error,
            done => return done,
        };
        // The work begins again without what cannot be read.
        let mut rest = Input::clone(&input);
        if !rest.leave_out(&selected(&input, options)?, context)? {
            return Err(error);
        }
        input = Arc::new(rest);
    }
}

/// Writes the output.
fn attempt(
    input: &Arc<Input>,
    (paths, output): (&[&Path], &Path),
    to: To,
    options: &SkimOptions,
    context: &Context,
) -> Result<SkimReport> {
    let begun = UsageAtStart::now();
    let plan = Plan::new(input, to, options, context)?;
    let path = name(input, options);
    let job = Skim { input, plan: &plan, options, context };
    let columns = (&plan.columns[..], to);
    let first = &*job.input.first;
    let mut report = match to {
        To::RNTuple | To::TTree => {
            let settings = Settings {
                compression: options.output.compression(),
                force: options.output.force,
                reproducible: options.output.reproducible,
                identity: options.output.identity,
                title: String::new(),
            };
            let file = Output::create(paths, output, settings)?;
            let target = Target::in_file(&file, &path, columns, first, options, context)?;
            let mut report = job.write(target, to)?;
            report.written.output_bytes = file.finish()?;
            report.written.process = begun.usage(report.written.output_bytes, context.threads());
            let open = || open::open_dataset(&file.open()?, Some(&path));
            job.verify(&mut report, open)?;
            context.check()?;
            file.publish()?;
            report
        }
        To::Parquet | To::Arrow => {
            let (sink, staging) = nyssa_io::stage(output, options.output.force)?;
            let target = Target::table(sink, &path, columns, first, options, context)?;
            let mut report = job.write(target, to)?;
            report.written.output_bytes = staging.open()?.size();
            report.written.process = begun.usage(report.written.output_bytes, context.threads());
            job.verify(&mut report, || table(&staging))?;
            context.check()?;
            staging.publish()?;
            report
        }
    };
    report.written.output = nyssa_io::shown(output);
    report.written.ntuple = path;
    report.written.peak_memory_bytes = peak_memory();
    Ok(report)
}

fn table(staging: &Staging) -> Result<AnyDataset> {
    let table = nyssa_tables::open(&staging.open()?)?;
    let table = table.ok_or_else(|| Error::out_of_spec("the output is no table"))?;
    Ok(Arc::clone(table.dataset()))
}

/// Returns the path of the output: the path in the options, or of the dataset in the first file.
fn name(input: &Input, options: &SkimOptions) -> String {
    let path = options.output.name.as_deref().unwrap_or_else(|| input.first.name());
    open::without_cycle(path).to_owned()
}

/// What is known of a file that was read.
#[derive(Debug, Default)]
struct ReadFile {
    /// The numbers of entries that pass the cuts.
    passed: Vec<u64>,
    /// The stored bytes of the columns.
    bytes: u64,
}

/// What is known of the files that were read, by their numbers.
type ReadFiles = Arc<Mutex<BTreeMap<usize, ReadFile>>>;

struct Skim<'a> {
    input: &'a Arc<Input>,
    plan: &'a Plan,
    options: &'a SkimOptions,
    context: &'a Context,
}

impl Skim<'_> {
    /// Writes all steps.
    fn write(&self, mut target: Target, to: To) -> Result<SkimReport> {
        let (start, read) = (Instant::now(), ReadFiles::default());
        let Range { start: first, end } = self.input.entries;
        let (context, fields) = (self.context, target.fields().iter());
        let mut digests: Vec<_> =
            fields.map(|field| ColumnHasher::new(field.data_type()).ok()).collect();
        let memory = self.options.output.memory();
        let largest = LargestPart::new(memory, Copies::Twice);
        let mut steps = self.steps(&read);
        while let Some(step) = steps.next(context)? {
            steps.prepare(context)?;
            let (arrays, rows) = step.data;
            largest.add(&arrays, || entries_of(&step.entries, &step.file));
            let arrays = target.fitted(arrays).in_file(&step.file)?;
            digest::add_arrays(&mut digests, &arrays, context);
            let rows = usize::try_from(rows).unwrap_or(usize::MAX);
            target.take(arrays, rows).in_file(&step.file)?;
            context.report(step.entries.end.saturating_sub(first), end - first);
        }
        drop(steps);
        let written = target.finish()?;
        let digests = digests.into_iter().map(|column| Some(column?.digest())).collect();
        let read = std::mem::take(&mut *read.lock().unwrap_or_else(PoisonError::into_inner));
        let input_bytes = read.values().map(|file| file.bytes).fold(0, u64::saturating_add);
        let mut report = self.report(&written, digests, (input_bytes, start), to)?;
        report.cut_flow = self.cut_flow(&read);
        largest.report(&mut report.written);
        Ok(report)
    }

    /// Returns the arrays of all columns in steps, each with the number of its entries. The next step is read while the
    /// current step is written.
    fn steps(&self, read: &ReadFiles) -> Steps<(Vec<ArrayRef>, u64)> {
        let (input, query) = (Arc::clone(self.input), self.plan.query.clone());
        let read = Arc::clone(read);
        let names: Vec<String> =
            self.plan.columns.iter().map(|column| column.field.name().clone()).collect();
        let wanted = names.clone();
        let parts: Parts = Arc::new(move |number, _, context| {
            let Some(own) = input.files.get(number) else { return Ok(None) };
            let file = Arc::from(own.name.as_str());
            let result = query_of(&query, &input, own.entries.clone(), context)?;
            let bytes = input.stored_bytes(own, &wanted)?;
            let shown = result.selected.map(|selected| -> Shown {
                Arc::new(move |entries| selected.inner_range(&entries))
            });
            let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
            read.insert(number, ReadFile { passed: result.passed, bytes });
            let (dataset, entries) = (result.dataset, result.entries);
            Ok(Some(InputPart { dataset, entries, origin: 0, file, shown }))
        });
        let finish: Finish<(Vec<ArrayRef>, u64)> =
            Arc::new(|_, arrays, rows, _| Ok(((arrays, rows), 0)));
        let size = StepSize::Memory(self.options.output.memory() / convert::READ_DIVISOR);
        Steps::new(parts, names, false, size, finish, Arc::new(AtomicBool::new(false)))
    }

    fn cut_flow(&self, read: &BTreeMap<usize, ReadFile>) -> Vec<CutFlowRow> {
        let cuts = self.options.cut.iter().enumerate();
        cuts.map(|(index, cut)| CutFlowRow {
            name: cut.name.clone(),
            cut: cut.cut.clone(),
            entries: read.values().filter_map(|file| file.passed.get(index)).sum(),
        })
        .collect()
    }

    fn report(
        &self,
        written: &TargetReport,
        digests: Vec<Option<String>>,
        (input_bytes, start): (u64, Instant),
        to: To,
    ) -> Result<SkimReport> {
        let (plan, input) = (self.plan, self.input);
        let columns = plan.columns.iter().zip(&written.columns).zip(digests);
        let columns = columns.map(|((column, output_bytes), digest)| SkimColumn {
            name: column.field.name().clone(),
            type_name: column.type_name.clone(),
            expression: column.expression.clone(),
            output_bytes: *output_bytes,
            digest,
        });
        let totals = &written.totals;
        let memory = (input_bytes, start);
        let mut base = Written::new("", input.first.name().to_owned(), totals, memory, Vec::new());
        base.memory_bytes = self.options.output.memory();
        Ok(SkimReport {
            written: base,
            inputs: input.files.iter().map(|file| file.name.clone()).collect(),
            dataset: open::without_cycle(input.first.name()).to_owned(),
            format: to,
            input_entries: input.entries.end - input.entries.start,
            first_entry: input.entries.start,
            cut_flow: Vec::new(),
            columns: columns.collect(),
            skipped: plan.skipped.clone(),
            left_out: input.other_objects()?,
            digest_hash: digest::HASH.to_owned(),
            input_bytes,
            uncompressed_bytes: totals.uncompressed_bytes,
            compressed_bytes: totals.compressed_bytes,
            threads: self.context.threads(),
        })
    }

    /// Reads the output and compares its digests with the digests of the values that were written.
    fn verify(
        &self,
        report: &mut SkimReport,
        open: impl FnOnce() -> Result<AnyDataset>,
    ) -> Result<()> {
        if !self.options.output.verify {
            return Ok(());
        }
        let written = open()?;
        let selection = crate::compare::Selection {
            memory_budget: self.options.output.memory(),
            ..crate::compare::Selection::default()
        };
        let digests = digest::digest(&*written, &selection, &self.context.quiet())?;
        for column in &report.columns {
            let own = digests.digests.iter().find(|other| other.name == column.name);
            let own = own.map(|own| own.digest.as_str());
            if column.digest.is_none() || own != column.digest.as_deref() {
                let message = "the values in the output are not those of the input";
                return Err(Error::out_of_spec(message)).in_field(&column.name);
            }
        }
        if written.num_entries() != report.written.entries {
            return Err(Error::out_of_spec("the output has another number of entries"));
        }
        report.written.verified = true;
        Ok(())
    }
}
