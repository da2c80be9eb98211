//! Holds the schemas and sizes of all inputs of one RNTuple, before the merge. Equal schemas are stored once. Remote
//! inputs stay open, if their number and memory allow it.

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
use nyssa_root::waiting::{AT_ONCE, read_ahead};

use super::input::Input;
use super::plain;
use super::report::InputReport;
use super::shape::Shape;
use crate::heuristics::merge;

/// Properties of all inputs of one RNTuple of the output.
pub(super) struct AllInputs {
    pub inputs: Vec<InputProperties>,
    pub shapes: Vec<Shape>,
    /// The path of the RNTuple in the output, if it is not renamed.
    pub path: String,
    /// The description of the first RNTuple.
    pub description: String,
    /// The inputs whose RNTuple has another description.
    pub described_otherwise: Vec<String>,
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
    /// The number of its file among the inputs of the merge.
    pub number: usize,
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
    /// Begins the RNTuple at `path` of the output, whose first input is `opened`.
    pub(super) fn new(path: &str, opened: &OpenedNTuple) -> Self {
        Self {
            inputs: Vec::new(),
            shapes: Vec::new(),
            path: path.to_owned(),
            description: opened.description.clone(),
            described_otherwise: Vec::new(),
        }
    }

    /// Adds the RNTuple of file number `number`.
    pub(super) fn add(
        &mut self,
        number: usize,
        opened: OpenedNTuple,
        open_input: Option<Arc<Input>>,
    ) {
        let OpenedNTuple { schema, extra_types, description, input } = opened;
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
        self.inputs.push(InputProperties { number, shape, open_input, ..input });
    }

    /// Matches the collections of all inputs when these are known. With `decode`, everything is decoded.
    pub(super) fn align(&mut self, decode: bool) {
        let shapes = self.shapes.iter_mut().map(|shape| &mut shape.schema);
        align(&mut shapes.collect::<Vec<_>>());
        if decode {
            plain::settle(&mut self.shapes);
        }
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
pub(super) fn any_remote<'f>(mut files: impl Iterator<Item = &'f str>) -> bool {
    files.any(nyssa_io::is_remote)
}

/// An open RNTuple of an input.
pub(super) struct OpenedNTuple {
    schema: Schema,
    extra_types: Vec<ExtraType>,
    description: String,
    /// The input, whose shape is not known yet.
    input: InputProperties,
}

/// The number of inputs that may still stay open, and the bytes that they may take in memory.
pub(super) struct OpenBudget {
    inputs: usize,
    bytes: u64,
}

impl OpenBudget {
    /// Makes the budget of a merge with `memory` bytes.
    pub(super) fn new(memory: u64) -> Self {
        Self { inputs: merge::KEPT_OPEN, bytes: memory / merge::KEPT_DIVISOR }
    }

    /// Returns the input if it stays open: it is remote, and there is room for it.
    pub(super) fn keep(&mut self, input: Input) -> Option<Arc<Input>> {
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
///
/// # Errors
/// Returns an error if a page list is damaged or cannot be read.
pub(super) fn properties(input: &Input) -> Result<OpenedNTuple> {
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
    Ok(OpenedNTuple {
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
            number: 0,
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
