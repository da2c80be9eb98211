//! Merges files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use nyssa_io::OpenOptions;
use nyssa_rntuple::read;
use nyssa_rntuple::schema::Structure;
use nyssa_rntuple::write::{self, Writer};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::{StreamerInfos, StreamerList};

use super::input::{First, Input};
use super::input_file::InputFile;
use super::inputs::{AllInputs, InputProperties, open};
use super::objects::{Choice, MergedObjects};
use super::options::MergeOptions;
use super::recluster::recluster;
use super::report::{MergeReport, MergedTreeReport, left_out};
use super::transfer::Transfer;
use super::trees::Joined;
use super::unify::Unified;
use super::zeros::Zeros;
use super::{attributes, other_cycles, verify, whole};
use crate::job::largest_part::LargestPart;
use crate::job::others::OtherObjects;
use crate::job::output::Output;
use crate::job::run::{self, Job};
use crate::job::{OutputOptions, Written};
use crate::open::{datasets, split_path};

/// Merges RNTuples into one RNTuple in the new file `output`. If the first input has none, or names a TTree, files
/// are merged like `hadd -ff`: TTrees are joined, and their baskets are copied without change. Each input is a file
/// or `FILE:PATH`. The output appears only when it is complete. Entries have the order of the inputs. Histograms,
/// profiles and parameters that several inputs have are added up; other objects are copied from the first input that
/// has them.
///
/// # Errors
/// `InvalidArgument` without inputs, for an output that is one of the inputs, for histograms with different axes, and
/// for the first field that differs between the inputs if `options` do not allow it; `AlreadyExists` for an output
/// that may not be replaced; `Checksum` with the page; `Cancelled`; an error if an input is damaged or cannot be
/// read.
pub fn merge(
    inputs: &[String],
    output: &Path,
    options: &MergeOptions,
    context: &Context,
) -> Result<MergeReport> {
    let start = Instant::now();
    // All refusals happen before the output is created.
    let files: Vec<_> = inputs.iter().map(|input| split_path(input).0).collect();
    let files: Vec<_> = files.iter().map(|file| Path::new(&**file)).collect();
    Output::check(&files, output, options.output.force)?;
    options.validate()?;
    let Some((first, rest)) = inputs.split_first() else {
        return Err(Error::invalid_argument("there is nothing to merge: name at least one file"));
    };
    let mut report = match First::open(first, &options.open)? {
        First::NTuple(first) => ntuples((*first, rest), output, options, start, context),
        First::Objects(first) => whole::merge((*first, rest), output, options, start, context),
    }?;
    report.written.notes.extend(given_twice(inputs, &options.open));
    Ok(report)
}

/// Returns a note on each input that is given more than once, possibly by another name or through a link.
fn given_twice(inputs: &[String], options: &OpenOptions) -> Vec<String> {
    let mut files: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (number, input) in inputs.iter().enumerate() {
        files.entry(nyssa_io::identity(&*split_path(input).0)).or_default().push(number);
    }
    let several = files.into_iter().filter(|(file, all)| file.is_some() && all.len() > 1);
    let several = several.flat_map(|(_, all)| by_object(inputs, &all, options));
    let several = several.filter(|all| all.len() > 1);
    let note = |all: Vec<usize>| {
        let times =
            if all.len() == 2 { "twice".to_owned() } else { format!("{} times", all.len()) };
        let first = all.first().map_or("", |&first| inputs[first].as_str());
        let first = nyssa_io::shown(first);
        format!("input {first} is given {times}: its entries are in the output {times}")
    };
    several.map(note).collect()
}

/// Groups inputs of one file by their objects. An object may be named in several ways, and a file without a path
/// means its only dataset, or the dataset that the other inputs name.
fn by_object(inputs: &[String], numbers: &[usize], options: &OpenOptions) -> Vec<Vec<usize>> {
    let named = |number: usize| split_path(&inputs[number]);
    let object = |number: usize| named(number).1;
    let Some(&first) = numbers.first() else { return Vec::new() };
    if numbers.iter().all(|&number| object(number) == object(first)) {
        return vec![numbers.to_vec()];
    }
    // The merge has already opened this file.
    let file = nyssa_io::open_with(&*named(first).0, options);
    let Ok(file) = file.map_err(Error::from).and_then(RootFile::open) else { return Vec::new() };
    let key = |number: usize| file.find(object(number)?).ok().map(|key| (key.path, key.cycle));
    let usual = match datasets(&file).as_deref() {
        Ok([only]) => Some((only.path.clone(), only.cycle)),
        _ => numbers.iter().find_map(|&number| key(number)),
    };
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for &number in numbers {
        groups.entry(key(number).or_else(|| usual.clone())).or_default().push(number);
    }
    groups.into_values().collect()
}

/// Merges RNTuples and the objects beside them.
fn ntuples(
    (first, rest): (Input, &[String]),
    output: &Path,
    options: &MergeOptions,
    start: Instant,
    context: &Context,
) -> Result<MergeReport> {
    let has_trees = first.has_trees;
    let mut all_inputs = AllInputs::of(first, rest, options, context)?;
    let left = std::mem::take(&mut all_inputs.others);
    let input_files = all_inputs.files();
    // If only the first input has other objects, and no trees are among them, they are copied in their stored form.
    let has_more = has_trees || all_inputs.has_directories || !left.is_empty();
    let is_added = !options.output.no_carry && has_more;
    let choice = Choice { only_trees: false, skip_unsupported: options.skip_unsupported };
    let mut objects = match is_added {
        true => MergedObjects::of(&input_files, choice, context)?,
        false => MergedObjects::default(),
    };
    all_inputs.others = if is_added { BTreeSet::new() } else { left };
    let mut notes = objects.trees.notes();
    notes.append(&mut objects.notes);
    let unified = Unified::of(&all_inputs, options.mode, options.reclusters())?;
    let name = options.output.name.as_deref().unwrap_or(&all_inputs.path).to_owned();
    let fields = unified.schema.top_level().count() as u64;
    let files: Vec<_> = all_inputs.inputs.iter().map(|input| input.location.clone()).collect();
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let others = others(&all_inputs)?;
    let mut merge = Merge {
        all_inputs,
        unified,
        options,
        name: name.clone(),
        context,
        joined: objects.trees.joined(),
        objects,
        files: input_files,
        trees: Vec::new(),
        done: OutputSizes::default(),
        largest: None,
    };
    let finished = run::run(&mut merge, &files, output, others, &options.output, context)?;
    let Merge { all_inputs, unified, done, trees, largest, .. } = merge;
    notes.extend(unified.notes);
    let (own, default) = (&options.output, OutputOptions::default());
    let unused = match options.reclusters() {
        false if own.compression() != default.compression() => {
            Some("the compression is that of header, footer and page lists")
        }
        false if own.effort() != default.effort() => Some("the effort is not used"),
        _ => None,
    };
    notes.extend(unused.map(|what| format!("{what}: pages and baskets are copied as they are")));
    notes.extend(left_out(&finished.others));
    let (output, work) = (nyssa_io::shown(output), (all_inputs.bytes(), start));
    let mut written = Written::new(&output, name, &done.totals, work, notes);
    written.verified = options.output.verify;
    written.memory_bytes = options.memory();
    if let Some(largest) = largest {
        largest.report(&mut written);
    }
    written.finish(&finished);
    Ok(MergeReport {
        inputs: all_inputs.inputs.into_iter().map(|input| input.report).collect(),
        written,
        mode: options.mode.to_string(),
        fields,
        trees,
        left_out: finished.others.left_out(),
        pages: done.pages,
        shared_pages: done.shared,
        page_bytes: done.bytes,
        reclustered: options.reclusters(),
        checksums_verified: !options.no_checksums,
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
    files: Vec<InputFile>,
    /// The trees that become one tree.
    joined: Vec<Joined>,
    /// The trees of the output.
    trees: Vec<MergedTreeReport>,
    done: OutputSizes,
    /// The largest data in memory, if new clusters are made.
    largest: Option<LargestPart>,
}

impl Job for Merge<'_> {
    type Abort = Error;

    fn write(&mut self, output: &Output, others: &mut OtherObjects) -> Result<()> {
        let Self {
            all_inputs,
            unified,
            options,
            name,
            context,
            objects,
            files,
            trees,
            done,
            largest,
            ..
        } = self;
        *done = if options.reclusters() {
            let place = (&output.file, name.as_str());
            let (totals, notes, held) = recluster(all_inputs, unified, place, options, context)?;
            unified.notes.extend(notes);
            *largest = Some(held);
            OutputSizes {
                pages: totals.pages,
                shared: totals.shared_pages,
                bytes: totals.compressed_bytes,
                totals,
            }
        } else {
            let (sizes, notes) = move_all(all_inputs, unified, (output, name), options, context)?;
            unified.notes.extend(notes);
            sizes
        };
        describe_classes(all_inputs, unified, output, context)?;
        let settings = (options.output.compression(), &context.quiet());
        other_cycles::name(&all_inputs.cycles, files, others);
        *trees = std::mem::take(objects).write(files, output, others, settings)?;
        Ok(())
    }

    fn verify(&mut self, written: &RootFile) -> Result<()> {
        let (memory, context) = (self.options.memory(), self.context);
        verify::compare(&self.all_inputs, written, &self.name, memory, context)?;
        self.joined.iter().try_for_each(|tree| tree.verify(&self.files, written, memory, context))
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

/// Copies the pages of all inputs, and returns the sizes of the output, and notes.
fn move_all(
    all_inputs: &AllInputs,
    unified: &Unified,
    (target, name): (&Output, &str),
    options: &MergeOptions,
    context: &Context,
) -> Result<(OutputSizes, Vec<String>)> {
    let write_options = write::RNTupleWriteOptions {
        compression: options.output.compression(),
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
        verify: !options.no_checksums,
        memory_budget: options.memory(),
        moved_bytes: 0,
        moved_pages: 0,
        pages: 0,
        total: all_inputs.bytes(),
    };
    transfer.inputs(all_inputs, &unified.mappings)?;
    let (pages, shared, bytes) = (transfer.pages, transfer.shared(), transfer.moved_bytes);
    let notes = attributes::carry(all_inputs, &target.file, &mut transfer.writer, context)?;
    Ok((OutputSizes { totals: transfer.writer.finish()?, pages, shared, bytes }, notes))
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
        Ok((file.name().to_owned(), file.streamer_infos()?, file.streamer_list()?))
    };
    let fields =
        unified.schema.fields.iter().filter(|field| field.structure == Structure::Streamer);
    let types: Vec<&str> = fields.map(|field| &*field.type_name).collect();
    let add = |_: &_, (name, infos, list): (String, Arc<StreamerInfos>, StreamerList)| {
        let same = target.file.require_same_classes(&infos, types.iter().copied());
        same.in_file(&name)?;
        target.file.add_streamer_infos(&list)
    };
    all_inputs.each(&inputs, context, list, add)
}

/// Lists the other objects of the first input, which are copied.
fn others(all_inputs: &AllInputs) -> Result<OtherObjects> {
    let first = all_inputs.inputs.first();
    let first = first.ok_or_else(|| Error::invalid_argument("there is no input"))?;
    let (file, _) = open(first, read::RNTupleReadOptions::default())?;
    let mut others = OtherObjects::plan(&file)?;
    others.leave_to_job(&[&*all_inputs.path].into());
    Ok(others)
}
