//! Copies one input to the output: a thread reads and checks pages, and the caller writes them.
//!
//! This is not the ordered pipeline of jobs. One thread reads the pages of an input in their order as fast as the
//! disk can, and a channel keeps them in this order.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::load::{Loader, Place, Step, place};
use super::mapping::{ColumnMapping, Count, FieldMapping, MissingField};
use super::zeros::Zeros;
use crate::Context;
use crate::error::{Error, Kind, Result, ResultExt};
use crate::rntuple::read::Reader;
use crate::rntuple::schema::{Cluster, ColumnId, ColumnRange, PageInfo};
use crate::rntuple::write::{StoredColumn, Writer};

/// Number of loads that wait to be written. One more is being read, and one is being written.
const WAITING: usize = 2;
/// Largest number of bytes of one load: a few reads of a size that is fast for disks.
const LOAD_BYTES: u64 = 16 << 20;

/// The output side of a merge.
pub(super) struct Transfer<'a> {
    pub writer: Writer,
    pub zeros: Zeros,
    pub context: &'a Context,
    pub verify: bool,
    pub memory_budget: u64,
    /// Bytes of the pages that are copied so far.
    pub moved_bytes: u64,
    /// Number of pages that are copied so far.
    pub moved_pages: u64,
    /// Number of pages in the page lists so far.
    pub pages: u64,
    /// Bytes of the pages of all inputs, for progress.
    pub total: u64,
}

impl Transfer<'_> {
    /// Returns the number of pages whose bytes were in the output already.
    pub fn shared(&self) -> u64 {
        self.pages.saturating_sub(self.moved_pages + self.zeros.stored)
    }

    /// Copies all clusters of an input.
    ///
    /// # Errors
    /// The errors of the input and of the sink; `Cancelled`.
    pub fn input(&mut self, reader: &Reader, mapping: &ColumnMapping) -> Result<()> {
        // The data that are fetched ahead from a source with latency take as much memory as the waiting loads.
        let near = reader.source().limits().is_near();
        let loads = (WAITING as u64 + 2) * if near { 1 } else { 2 };
        let load_bytes = (self.memory_budget / loads).clamp(1, LOAD_BYTES);
        let sizes = (load_bytes, load_bytes * (WAITING as u64 + 2));
        let loader = Loader::new(reader, mapping, self.verify, sizes, self.context)?;
        std::thread::scope(|scope| {
            let (send, receive) = sync_channel(WAITING);
            let repeated = loader.repeated();
            let thread = std::thread::Builder::new()
                .name("nyssa-merge".to_owned())
                .spawn_scoped(scope, move || read_ahead(loader, &send))
                .map_err(|error| Error::limit("cannot start a thread").with_source(error))?;
            let written = self.write(reader, mapping, &receive, &repeated);
            // Without a receiver the reading thread ends, even if it waits.
            drop(receive);
            let read = thread.join().unwrap_or_else(|_| {
                Err(Error::new(Kind::Io, "the thread that reads pages has died"))
            });
            read.and(written)
        })
    }

    fn write(
        &mut self,
        reader: &Reader,
        mapping: &ColumnMapping,
        receive: &Receiver<Step>,
        repeated: &HashSet<Place>,
    ) -> Result<()> {
        let mut kept: HashMap<Place, u64> = HashMap::new();
        let mut places: HashMap<Place, u64> = HashMap::new();
        for message in receive {
            match message {
                Step::Load(load) => {
                    let bytes: u64 = load.runs.iter().map(|run| run.len() as u64).sum();
                    let parts: Vec<&[u8]> = load.runs.iter().map(|run| &run[..]).collect();
                    let offset = self.writer.store_moved(&parts, load.uncompressed)?;
                    self.moved_pages += load.pages.len() as u64;
                    for (page, before) in load.pages {
                        let map = if repeated.contains(&page) { &mut kept } else { &mut places };
                        map.insert(page, offset + before);
                    }
                    self.moved_bytes += bytes;
                    self.context.report(self.moved_bytes.min(self.total), self.total);
                }
                Step::Begin(number) => {
                    let cluster = reader.clusters_info().get(number);
                    self.writer.begin_cluster(cluster.map_or(0, |cluster| cluster.entries))?;
                }
                Step::End(number) => {
                    let Some(cluster) = reader.clusters_info().get(number) else { continue };
                    let find = |page: &PageInfo| {
                        let page = place(page);
                        places.get(&page).or_else(|| kept.get(&page)).copied()
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
        find: impl Fn(&PageInfo) -> Option<u64>,
    ) -> Result<()> {
        for field in &mapping.fields {
            let columns = moved(reader, field, cluster, &find);
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

fn read_ahead(mut loader: Loader<'_>, send: &SyncSender<Step>) -> Result<()> {
    // If there is no receiver, the other side has failed and reports why.
    loader.load_all(|step| send.send(step).is_ok())
}

/// Returns the columns of a field in a cluster, at their new places. Each comes after the zeros that it lacks.
fn moved(
    reader: &Reader,
    field: &FieldMapping,
    cluster: &Cluster,
    find: impl Fn(&PageInfo) -> Option<u64>,
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
            let offset = find(page).ok_or_else(|| Error::out_of_spec("a page was not read"))?;
            let mut page = *page;
            page.locator.offset = offset;
            Ok(page)
        };
        let pages = range.pages.iter().filter(|page| page.elements > 0).map(place);
        out.push((zeros, stored(into, range.compression, pages.collect::<Result<_>>()?)));
    }
    Ok(out)
}

/// A column of pages that are in the output. The number of items of collections is not known, since no page is
/// decoded.
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
