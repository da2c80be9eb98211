//! Reads the schemas and sizes of all inputs, and the names of their other objects, before the merge. Equal schemas
//! are stored once. Remote inputs stay open, if their number and memory allow it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use nyssa_data::dataset::Dataset;
use nyssa_io::OpenOptions;
use nyssa_rntuple::format::{Anchor, ExtraType};
use nyssa_rntuple::read::{self, Reader};
use nyssa_rntuple::schema::{Schema, align};
use nyssa_root::Context;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::rootfile::RootFile;
use nyssa_root::waiting::{AT_ONCE, read_ahead, wait_for_all};
use rayon::prelude::*;

use super::input::{Beside, Input};
use super::input_file::{InputFile, OtherCycle};
use super::options::MergeOptions;
use super::plain;
use super::report::InputReport;
use super::shape::Shape;
use crate::heuristics::merge;

/// Properties of all inputs.
pub(super) struct AllInputs {
    pub inputs: Vec<InputProperties>,
    pub shapes: Vec<Shape>,
    /// The path of the first input's RNTuple, without the cycle.
    pub path: String,
    /// The description of this RNTuple.
    pub description: String,
    /// The inputs whose RNTuple has another description.
    pub described_otherwise: Vec<String>,
    /// The paths of other objects in all inputs except the first.
    pub others: BTreeSet<String>,
    /// Whether inputs except the first have directories that contain more than their RNTuples.
    pub has_directories: bool,
    /// The other cycles of the RNTuples, with the numbers of their inputs.
    pub cycles: Vec<(usize, OtherCycle)>,
}

/// The checksum of the header, and the anchor.
pub(super) type Identity = (u64, Anchor);

/// Returns the identity of an open RNTuple.
pub(super) fn identity(reader: &Reader) -> Identity {
    (reader.header().checksum, *reader.anchor())
}

/// The properties of one input.
#[derive(Clone)]
pub(super) struct InputProperties {
    pub report: InputReport,
    /// The index of the shape of the input.
    pub shape: usize,
    /// The identity of the RNTuple, which shows a later change of the file.
    pub identity: Identity,
    /// The size of the pages in bytes.
    pub bytes: u64,
    /// The size of the pages before compression, in bytes.
    pub uncompressed: u64,
    /// Whether the input has attribute sets.
    pub has_attributes: bool,
    /// The path or URL for opening its file.
    pub location: PathBuf,
    /// The options with which its file is opened.
    pub options: OpenOptions,
    /// The open input, if it stays open.
    pub open_input: Option<Arc<Input>>,
}

impl AllInputs {
    /// Reads the properties of all inputs, several at the same time. The first input is open.
    ///
    /// # Errors
    /// Returns an error if an input cannot be opened.
    pub(super) fn of(
        mut first: Input,
        rest: &[String],
        options: &MergeOptions,
        context: &Context,
    ) -> Result<Self> {
        let path = first.path.split(';').next().unwrap_or_default().to_owned();
        let mut all_inputs = Self {
            inputs: Vec::new(),
            shapes: Vec::new(),
            description: first.reader.header().description.clone(),
            described_otherwise: Vec::new(),
            path,
            others: BTreeSet::new(),
            has_directories: false,
            cycles: Vec::new(),
        };
        let mut left =
            OpenBudget { inputs: merge::KEPT_OPEN, bytes: options.memory() / merge::KEPT_DIVISOR };
        let cycles = std::mem::take(&mut first.beside.cycles);
        let beside = Beside { cycles, ..Beside::default() };
        all_inputs.add(properties(&first)?, beside, left.keep(first));
        for chunk in rest.chunks(merge::OPEN_AT_ONCE) {
            context.check()?;
            let is_remote = any_remote(chunk.iter().map(String::as_str));
            let path = &all_inputs.path;
            let open = |argument: &String| {
                context.check()?;
                let mut input = Input::open(argument, Some(path), &options.open)?;
                let beside = std::mem::take(&mut input.beside);
                Ok((properties(&input)?, beside, is_remote.then_some(input)))
            };
            let opened = match is_remote {
                true => wait_for_all(chunk, open)?,
                false => context
                    .pool()
                    .install(|| chunk.par_iter().map(open).collect::<Result<Vec<_>>>())?,
            };
            for (opened, beside, input) in opened {
                let open_input = input.and_then(|input| left.keep(input));
                all_inputs.add(opened, beside, open_input);
            }
        }
        align(&mut all_inputs.shapes.iter_mut().map(|shape| &mut shape.schema).collect::<Vec<_>>());
        if options.reclusters() {
            plain::settle(&mut all_inputs.shapes);
        }
        Ok(all_inputs)
    }

    fn add(&mut self, opened: Opened, beside: Beside, open_input: Option<Arc<Input>>) {
        let Opened { schema, extra_types, description, input } = opened;
        if description != self.description {
            self.described_otherwise.push(input.report.file.clone());
        }
        let known = |shape: &Shape| shape.file == schema && shape.extra_types == extra_types;
        let shape = match self.shapes.iter().position(known) {
            Some(shape) => shape,
            None => {
                let origins = schema.top_level().map(|(id, _)| id).collect();
                let (file, first) = (schema.clone(), self.inputs.len());
                self.shapes.push(Shape { schema, file, origins, extra_types, first });
                self.shapes.len() - 1
            }
        };
        let number = self.inputs.len();
        self.inputs.push(InputProperties { shape, open_input, ..input });
        self.others.extend(beside.objects);
        self.has_directories |= beside.has_directories;
        self.cycles.extend(beside.cycles.into_iter().map(|cycle| (number, cycle)));
    }

    /// Returns the files of all inputs.
    pub(super) fn files(&self) -> Vec<InputFile> {
        let file = |input: &InputProperties| InputFile {
            name: input.report.file.clone(),
            location: input.location.clone(),
            options: input.options.clone(),
            open_file: input.open_input.as_ref().map(|input| input.file.clone()),
            ntuple: path_and_cycle(&input.report.ntuple),
            tree: None,
        };
        self.inputs.iter().map(file).collect()
    }

    /// Returns the name of the first input of a shape, for error messages.
    pub(super) fn name_of(&self, shape: usize) -> &str {
        let first = self.shapes.get(shape).and_then(|shape| self.inputs.get(shape.first));
        first.map_or("", |input| input.report.file.as_str())
    }

    /// Returns how many inputs may be open at the same time after their properties are read: several if opening them
    /// waits for a network.
    pub(super) fn at_once(&self) -> usize {
        match any_remote(self.inputs.iter().map(|input| input.report.file.as_str())) {
            true => AT_ONCE,
            false => 1,
        }
    }

    /// Runs `open` for each of `inputs` and passes the results to `take`, in order. For remote inputs, `open` runs
    /// while earlier inputs are used.
    ///
    /// # Errors
    /// `Cancelled`; the error of the first input for which `open` or `take` fails.
    pub(super) fn each<R: Send>(
        &self,
        inputs: &[&InputProperties],
        context: &Context,
        open: impl Fn(&InputProperties) -> Result<R> + Sync,
        mut take: impl FnMut(&InputProperties, R) -> Result<()>,
    ) -> Result<()> {
        let read = |input: &&InputProperties, send: &SyncSender<R>| {
            context.check()?;
            // Without a receiver, the input is no longer wanted.
            open(input).map(|opened| send.send(opened).unwrap_or_default())
        };
        read_ahead(inputs, self.at_once(), 1, read, |input, receive| match receive.recv() {
            Ok(opened) => take(input, opened),
            // The thread that opens reports the error.
            Err(_) => Ok(()),
        })
    }

    /// Returns the size of the pages of all inputs in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.inputs.iter().map(|input| input.bytes).sum()
    }
}

/// Returns whether opening some of these files waits for a network.
fn any_remote<'f>(mut files: impl Iterator<Item = &'f str>) -> bool {
    files.any(nyssa_io::is_remote)
}

struct Opened {
    schema: Schema,
    extra_types: Vec<ExtraType>,
    description: String,
    /// The input, whose shape is not known yet.
    input: InputProperties,
}

/// The number of inputs that may still stay open, and the bytes that they may take in memory.
struct OpenBudget {
    inputs: usize,
    bytes: u64,
}

impl OpenBudget {
    /// Returns the input if it stays open: it is remote, and there is room for it.
    fn keep(&mut self, input: Input) -> Option<Arc<Input>> {
        let Ok(bytes) = input.memory() else { return None };
        if self.inputs == 0 || bytes > self.bytes || !nyssa_io::is_remote(input.file.name()) {
            return None;
        }
        self.inputs -= 1;
        self.bytes -= bytes;
        Some(Arc::new(input))
    }
}

/// Returns the properties of an open input.
fn properties(input: &Input) -> Result<Opened> {
    let reader = &input.reader;
    let (header, footer) = (reader.header(), reader.footer());
    let extra = [&header.records.extra_types, &footer.extension.extra_types];
    let clusters = reader.clusters_info()?;
    let (mut bytes, mut uncompressed) = (0, 0);
    for range in clusters.iter().flat_map(|cluster| {
        reader.schema().columns.iter().zip(&cluster.columns).filter(|(_, range)| !range.suppressed)
    }) {
        let (column, range) = range;
        bytes += range.pages.iter().map(|page| page.locator.size).sum::<u64>();
        uncompressed += (range.elements.saturating_mul(column.bits.into())).div_ceil(8);
    }
    Ok(Opened {
        schema: reader.schema().clone(),
        extra_types: extra.into_iter().flatten().cloned().collect(),
        description: header.description.clone(),
        input: InputProperties {
            report: InputReport {
                file: reader.file().to_owned(),
                ntuple: input.path.clone(),
                entries: reader.num_entries(),
                clusters: clusters.len() as u64,
            },
            shape: 0,
            identity: identity(reader),
            bytes,
            uncompressed,
            has_attributes: !footer.attribute_sets.is_empty(),
            location: reader.source().location().to_owned(),
            options: reader.source().options().cloned().unwrap_or_default(),
            open_input: None,
        },
    })
}

/// Returns an input that is still open, or opens it again.
///
/// # Errors
/// `Io` if it has changed; an error if it cannot be opened.
pub(super) fn open(
    input: &InputProperties,
    options: read::RNTupleReadOptions,
) -> Result<(RootFile, Arc<Reader>)> {
    if let Some(open_input) = &input.open_input {
        return open_input.with_options(options);
    }
    let report = &input.report;
    let file = RootFile::open(nyssa_io::open_with(&input.location, &input.options)?)?;
    let reader = Reader::open_with(&file, &report.ntuple, options)?;
    if identity(&reader) != input.identity {
        return Err(Error::new(Kind::Io, "the input has changed while it was merged"))
            .in_file(&report.file)
            .in_object(&report.ntuple);
    }
    Ok((file, Arc::new(reader)))
}

/// Splits the path and the cycle of an RNTuple.
fn path_and_cycle(ntuple: &str) -> Option<(String, u16)> {
    let (path, cycle) = ntuple.rsplit_once(';')?;
    Some((path.to_owned(), cycle.parse().ok()?))
}
