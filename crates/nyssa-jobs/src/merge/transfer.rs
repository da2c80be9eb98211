//! Copies the inputs to the output: a thread for each input reads and checks pages, and the caller writes them.
//!
//! This is not the ordered pipeline of jobs. One thread reads the pages of an input in their order as fast as the
//! disk can, and a channel keeps them in this order. Remote inputs are opened and their first pages are read while
//! earlier inputs are copied.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use nyssa_rntuple::read::{self, Reader};
use nyssa_rntuple::schema::{Cluster, ColumnId, ColumnRange, Locator, PageInfo};
use nyssa_rntuple::write::{StoredColumn, Writer};
use nyssa_root::Context;
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::waiting::read_ahead;

use super::inputs::{AllInputs, InputProperties, open};
use super::load::{LoadedPage, Loader, Place, Step, place};
use super::mapping::{ColumnMapping, Count, FieldMapping, MissingField};
use super::progress::Progress;
use super::zeros::Zeros;
use crate::heuristics::merge;

/// The number of loads of an input that are in memory at the same time.
const LOADS: u64 = merge::WAITING as u64 + 2;

/// The output side of a merge.
pub(super) struct Transfer<'a> {
    pub writer: Writer,
    pub zeros: Zeros,
    pub context: &'a Context,
    pub verify: bool,
    /// The compression of the pages, if it changes.
    pub compression: Option<Compression>,
    pub memory_budget: u64,
    /// The number of bytes of copied pages until now.
    pub moved_bytes: u64,
    /// The number of copied pages until now.
    pub moved_pages: u64,
    /// The number of pages in the page lists until now.
    pub pages: u64,
    pub progress: Progress,
}

impl Transfer<'_> {
    /// Returns the number of pages whose bytes were in the output already.
    pub(super) fn shared(&self) -> u64 {
        self.pages.saturating_sub(self.moved_pages + self.zeros.stored)
    }

    /// Returns the number of bytes of the pages that are done in this and in earlier RNTuples.
    fn done(&self) -> u64 {
        (self.progress.done + self.moved_bytes).min(self.progress.total)
    }

    /// Copies all clusters of all inputs, in order.
    ///
    /// # Errors
    /// `Cancelled`; an error if an input cannot be copied or the sink cannot be written.
    pub(super) fn inputs(
        &mut self,
        all_inputs: &AllInputs,
        mappings: &[ColumnMapping],
    ) -> Result<()> {
        let at_once = at_once(all_inputs, self.memory_budget);
        let mapping = |input: &InputProperties| {
            let mapping = mappings.get(input.shape);
            mapping.ok_or_else(|| Error::invalid_argument("an input without a schema"))
        };
        let (budget, context) = (self.memory_budget / at_once as u64, self.context);
        let how = (self.verify, self.compression);
        let read = |input: &InputProperties, send: &SyncSender<Step>| {
            context.check()?;
            let (file, reader) = open(input, read::RNTupleReadOptions::default())?;
            let sizes = load_sizes(&reader, input.bytes, budget);
            let read = load(reader, mapping(input)?, (sizes, how), send, context);
            read.in_file(file.name()).in_object(&input.report.ntuple)
        };
        read_ahead(&all_inputs.inputs, at_once, merge::WAITING, read, |input, receive| {
            // If nothing arrives, the thread that reads reports the reason.
            let Ok(Step::Open(reader, repeated)) = receive.recv() else { return Ok(()) };
            let written = self.write(&reader, mapping(input)?, receive, &repeated);
            written.in_file(&input.report.file).in_object(&input.report.ntuple)
        })
    }

    fn write(
        &mut self,
        reader: &Reader,
        mapping: &ColumnMapping,
        receive: &Receiver<Step>,
        repeated: &HashSet<Place>,
    ) -> Result<()> {
        let mut repeated_places: HashMap<Place, Locator> = HashMap::new();
        let mut places: HashMap<Place, Locator> = HashMap::new();
        for message in receive {
            match message {
                Step::Load(load) => {
                    let bytes: u64 = load.runs.iter().map(|run| run.len() as u64).sum();
                    let parts: Vec<&[u8]> = load.runs.iter().map(|run| &run[..]).collect();
                    let offset = self.writer.store_moved(&parts, load.uncompressed)?;
                    self.moved_pages += load.pages.len() as u64;
                    for LoadedPage { place, before, size } in load.pages {
                        let map = if repeated.contains(&place) {
                            &mut repeated_places
                        } else {
                            &mut places
                        };
                        map.insert(place, Locator { offset: offset + before, size });
                    }
                    self.moved_bytes += bytes;
                    self.context.report(self.done(), self.progress.total);
                }
                Step::Open(..) => {}
                Step::Begin(number) => {
                    let cluster = reader.clusters_info()?.get(number);
                    self.writer.begin_cluster(cluster.map_or(0, |cluster| cluster.entries))?;
                }
                Step::End(number) => {
                    let Some(cluster) = reader.clusters_info()?.get(number) else { continue };
                    let find = |page: &PageInfo| {
                        let page = place(page);
                        places.get(&page).or_else(|| repeated_places.get(&page)).copied()
                    };
                    self.cluster(reader, mapping, cluster, find)
                        .at(|place| place.cluster = Some(number as u64))?;
                    places.clear();
                }
            }
        }
        Ok(())
    }

    fn cluster(
        &mut self,
        reader: &Reader,
        mapping: &ColumnMapping,
        cluster: &Cluster,
        find: impl Fn(&PageInfo) -> Option<Locator>,
    ) -> Result<()> {
        for field in &mapping.fields {
            let columns = moved(reader, field, cluster, self.compression, &find);
            let columns = columns.map_err(|e| {
                e.at(|place| place.field = Some(self.writer.schema().path(field.field)))
            })?;
            for (zeros, column) in columns {
                self.put(column, zeros)?;
            }
        }
        for MissingField { columns, count } in &mapping.missing {
            let zeros = missing(count, cluster)?;
            for (slot, &column) in columns.iter().enumerate() {
                let zeros = if slot == 0 { zeros } else { 0 };
                self.put(stored(column, 0, Vec::new()), zeros)?;
            }
        }
        self.writer.commit_cluster()
    }

    /// Puts a column after its zeros.
    fn put(&mut self, mut column: StoredColumn, zeros: u64) -> Result<()> {
        if zeros > 0 {
            column.elements += zeros;
            let mut pages = self.zeros.pages(&mut self.writer, column.column, zeros)?;
            pages.append(&mut column.pages);
            column.pages = pages;
        }
        self.pages += column.pages.len() as u64;
        self.writer.put_stored(column)
    }
}

/// Returns the number of inputs that are read at the same time. The memory is enough for this number of the largest
/// input.
fn at_once(all_inputs: &AllInputs, memory_budget: u64) -> usize {
    let largest = all_inputs.inputs.iter().map(|input| input.bytes).max().unwrap_or(0);
    // Each byte is fetched ahead, and then in a load.
    let each = (2 * largest.min(LOADS * merge::LOAD_BYTES)).max(1);
    let fit = usize::try_from(memory_budget / each).unwrap_or(usize::MAX);
    fit.max(2).min(all_inputs.at_once()).min(all_inputs.inputs.len()).max(1)
}

/// Returns the size of one load of an input, and of the loads that are fetched ahead, in bytes. `budget` is the
/// memory for the pages that are read and not yet written.
fn load_sizes(reader: &Reader, input_bytes: u64, budget: u64) -> (u64, u64) {
    // The data that are fetched ahead from a source with latency take as much memory as the waiting loads.
    let copies = if reader.source().limits().is_near() { 1 } else { 2 };
    let load_bytes = match input_bytes.saturating_mul(copies) <= budget {
        true => merge::LOAD_BYTES,
        false => (budget / (LOADS * copies)).clamp(1, merge::LOAD_BYTES),
    };
    (load_bytes, load_bytes * LOADS)
}

/// Sends the steps of an input.
fn load(
    reader: Arc<Reader>,
    mapping: &ColumnMapping,
    (sizes, how): ((u64, u64), (bool, Option<Compression>)),
    send: &SyncSender<Step>,
    context: &Context,
) -> Result<()> {
    let mut loader = Loader::new(&reader, mapping, how, sizes, context)?;
    // If there is no receiver, the other side has failed and reports the reason.
    match send.send(Step::Open(Arc::clone(&reader), loader.repeated())) {
        Ok(()) => loader.load_all(|step| send.send(step).is_ok()),
        Err(_) => Ok(()),
    }
}

/// Returns the columns of a field in a cluster, at their new places. Each column comes after the zeros that it lacks.
fn moved(
    reader: &Reader,
    field: &FieldMapping,
    cluster: &Cluster,
    compression: Option<Compression>,
    find: impl Fn(&PageInfo) -> Option<Locator>,
) -> Result<Vec<(u64, StoredColumn)>> {
    let range = |id: &ColumnId| cluster.columns.get(id.0 as usize);
    let is_active = |(from, _): &&(Vec<_>, Vec<_>)| {
        from.iter().filter_map(range).any(|range| !range.suppressed)
    };
    let mut active = field.representations.iter().filter(is_active);
    let (from, into) = match (active.next(), active.next()) {
        (Some(active), None) => active,
        (Some(_), Some(_)) => {
            return Err(Error::out_of_spec("two representations of one field are active"));
        }
        // The cluster was written before the field was added.
        (None, _) => match field.representations.first() {
            Some(first) => first,
            None => return Ok(Vec::new()),
        },
    };
    let mut out = Vec::with_capacity(from.len());
    for (slot, (from, &into)) in from.iter().zip(into).enumerate() {
        let empty = ColumnRange::default();
        let known = range(from);
        let range = known.unwrap_or(&empty);
        let mut zeros = 0;
        if let (0, Some(repetitions)) = (slot, field.repetitions) {
            let expected = count(cluster.entries, repetitions)?;
            let late = reader.schema().column(*from).first_element.is_some();
            if late || known.is_none() {
                zeros = expected.saturating_sub(range.elements);
            }
        }
        let place = |page: &PageInfo| {
            let locator = find(page).ok_or_else(|| Error::out_of_spec("a page was not read"))?;
            Ok(PageInfo {
                locator,
                checksummed: page.checksummed || compression.is_some(),
                ..*page
            })
        };
        let pages = range.pages.iter().filter(|page| page.elements > 0).map(place);
        let setting = compression.map_or(range.compression, Compression::setting);
        out.push((zeros, stored(into, setting, pages.collect::<Result<_>>()?)));
    }
    Ok(out)
}

/// Returns a column of pages that are in the output. The number of items of collections is not known, since no
/// page is decoded.
fn stored(column: ColumnId, compression: u32, pages: Vec<PageInfo>) -> StoredColumn {
    let elements = pages.iter().map(|page| u64::from(page.elements)).sum();
    StoredColumn { column, elements, last_offset: None, compression, pages }
}

/// Returns the zeros for a field that the input lacks.
fn missing(of: &Count, cluster: &Cluster) -> Result<u64> {
    match of {
        Count::Nothing => Ok(0),
        Count::Entries(repetitions) => count(cluster.entries, *repetitions),
        Count::Items { like, each, times } => {
            let ranges = like.iter().filter_map(|id| cluster.columns.get(id.0 as usize));
            let active = ranges.filter(|range| !range.suppressed).map(|range| range.elements);
            count(active.max().unwrap_or(0) / each, *times)
        }
    }
}

fn count(entries: u64, repetitions: u64) -> Result<u64> {
    entries
        .checked_mul(repetitions)
        .ok_or_else(|| Error::out_of_spec("more elements than can be counted"))
}
