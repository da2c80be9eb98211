//! The work units of a read.
//!
//! The baskets of all branches asked for are sorted by their place in the file and cut into groups. A
//! group is one unit: its baskets are fetched together, decompressed one by one into the thread's scratch,
//! decode each straight to its place in the final buffer. Where sizes are only known once
//! decoded, a thread appends what it finds, and the pieces of all threads are joined at the end.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use bytes::Bytes;
use rayon::prelude::*;

use super::Reader;
use super::basket::{Contents, Expected, Opened, payload_size};
use super::column::{Column, Decoded, Found, Output, Target};
use crate::Context;
use crate::arena::Arena;
use crate::cursor::Cursor;
use crate::error::{Error, Result};
use crate::fetch::{Needs, in_order, on_all_threads, read_all, read_one};
use crate::leftovers::{Key, Leftovers};
use crate::ttree::model::Basket;

/// Bytes read to learn the size of a basket whose branch does not tell it (files of old ROOT versions).
const SIZE_PREFIX: u64 = 4;
/// Work units per thread that a read is cut into, so that no thread is left alone at the end.
const GROUPS_PER_THREAD: u64 = 8;
/// Smallest share of a read that is worth a request of its own, bytes.
const LEAST_FETCH_BYTES: u64 = 128 << 10;
/// Largest scratch that a thread keeps after a read, bytes.
const SCRATCH_KEPT: usize = 64 << 20;

thread_local! {
    /// Decompressed payload of the basket at hand; grows to the largest one.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// One basket to read: part of a plan.
struct Job<'a> {
    column: usize,
    basket: usize,
    seek: u64,
    bytes: u64,
    /// Its slices of the final buffers, where the sizes are known beforehand.
    place: Option<Vec<&'a mut [u8]>>,
    /// What an earlier read has opened.
    opened: Option<Arc<Opened>>,
}

/// What one thread finds one job after the other where the sizes are only known then: baskets of a
/// branch that follow each other yield one piece.
#[derive(Default)]
struct Lane {
    found: HashMap<usize, Vec<Found>>,
    /// Whether it does all jobs, so that all baskets of a branch are to come.
    only: bool,
}

impl Lane {
    /// Where basket `basket` of column `index` goes.
    fn found(&mut self, index: usize, column: &Column<'_>, basket: usize) -> &mut Found {
        let all = self.found.entry(index).or_default();
        let follows = |last: &Found| last.baskets.end == basket;
        if !all.last().is_some_and(follows) {
            all.push(column.found(basket));
        }
        let last = all.len() - 1;
        let found = &mut all[last];
        if self.only && found.baskets.len() == 1 {
            column.reserve(found);
        }
        found
    }
}

impl Reader {
    /// Reads all columns; on the context's threads if there is one, else on this thread. Baskets that
    /// are among `leftovers` are not read again.
    pub(super) fn run(
        &self,
        columns: &[Column<'_>],
        context: Option<&Context>,
        leftovers: Option<&Leftovers>,
    ) -> Result<Vec<ArrayRef>> {
        let place = |error, column: &Column<'_>| self.place(error, column.branch);
        let mut outputs = Vec::with_capacity(columns.len());
        for column in columns {
            outputs.push(column.outputs(self.source.size()).map_err(|error| place(error, column))?);
        }
        let sizes = |temporary| {
            let all = outputs.iter().flatten().flatten();
            all.filter(|output| output.temporary == temporary).map(|output| output.size).collect()
        };
        let (lasting, temporary): (Vec<usize>, Vec<usize>) = (sizes(false), sizes(true));
        let mut lasting = Arena::zeroed(&lasting)?;
        let mut temporary = Arena::zeroed(&temporary)?;
        let mut bytes = [lasting.bytes_mut().into_iter(), temporary.bytes_mut().into_iter()];
        let sizes = self.unknown_sizes(columns)?;
        let mut jobs = Vec::new();
        for (index, (column, outputs)) in columns.iter().zip(&outputs).enumerate() {
            let buffers = outputs.as_ref().map(|outputs| each(outputs, &mut bytes));
            for (basket, slices) in column.places(buffers) {
                let job = job(column, index, basket, slices, &sizes);
                let mut job = job.map_err(|error| place(error, column))?;
                let key = self.key(&column.branch.baskets[basket]);
                let known = leftovers.zip(key);
                job.opened = known.and_then(|(all, key)| all.find(&key, column.next_use(basket)));
                jobs.push(job);
            }
        }
        let lanes = self.run_jobs(columns, jobs, context, leftovers)?;
        let mut found: Vec<Vec<Found>> = columns.iter().map(|_| Vec::new()).collect();
        for (index, pieces) in lanes.into_iter().flat_map(|lane| lane.found) {
            found[index].extend(pieces);
        }
        for pieces in &mut found {
            pieces.sort_by_key(|piece| piece.baskets.start);
        }

        let mut buffers =
            [lasting.into_buffers().into_iter(), temporary.into_buffers().into_iter()];
        let decoded: Vec<Decoded> = outputs
            .iter()
            .zip(found)
            .map(|(outputs, found)| match outputs {
                Some(outputs) => Decoded::Placed(each(outputs, &mut buffers)),
                None => Decoded::Found(found),
            })
            .collect();
        let finish = |(column, decoded): (&Column<'_>, Decoded)| {
            column.finish(decoded).map_err(|error| place(error, column))
        };
        match context {
            None => columns.iter().zip(decoded).map(finish).collect(),
            Some(context) => {
                context.pool().install(|| columns.par_iter().zip(decoded).map(finish).collect())
            }
        }
    }

    fn run_jobs(
        &self,
        columns: &[Column<'_>],
        jobs: Vec<Job<'_>>,
        context: Option<&Context>,
        leftovers: Option<&Leftovers>,
    ) -> Result<Vec<Lane>> {
        let wanted = self.options.fetch_bytes;
        let most = context.map_or(wanted, |context| context.fetch_bytes(wanted));
        let one_by_one = |jobs| {
            let mut lane = Lane { only: true, ..Lane::default() };
            let units = self.units(columns, group(jobs, most));
            in_order(&self.source, units, context, |jobs, bytes| {
                self.run_group(columns, jobs, bytes, &mut lane, leftovers)
            })?;
            Ok(vec![lane])
        };
        let Some(context) = context else { return one_by_one(jobs) };
        if context.threads() == 1 {
            return context.pool().install(|| one_by_one(jobs));
        }
        let bytes = jobs.iter().map(|job| job.bytes).fold(0, u64::saturating_add);
        let share = bytes / (context.threads() as u64 * GROUPS_PER_THREAD);
        let groups = group(jobs, share.clamp(LEAST_FETCH_BYTES.min(most), most));
        let units = self.units(columns, groups);
        let work = |(): &mut (), jobs: Vec<Job<'_>>, bytes: Result<&[Bytes]>| {
            let mut lane = Lane::default();
            self.run_group(columns, jobs, bytes, &mut lane, leftovers).map(|()| lane)
        };
        on_all_threads(&self.source, units, context, || (), work)
    }

    /// Groups of baskets with the bytes that they need.
    fn units<'j>(
        &self,
        columns: &[Column<'_>],
        groups: Vec<Vec<Job<'j>>>,
    ) -> Vec<Needs<Vec<Job<'j>>>> {
        groups.into_iter().map(|jobs| (self.needs(columns, &jobs), jobs)).collect()
    }

    /// The bytes of those baskets that have to be fetched; none where one of them is not in the file.
    fn needs(&self, columns: &[Column<'_>], jobs: &[Job<'_>]) -> Vec<Range<u64>> {
        let fetched = jobs.iter().filter(|job| is_fetched(columns, job));
        let ranges: Vec<Range<u64>> = fetched.map(|job| job.seek..job.seek + job.bytes).collect();
        match ranges.iter().try_for_each(|range| self.check_in_file(range)) {
            Ok(()) => ranges,
            Err(_) => Vec::new(),
        }
    }

    /// Refuses a range beyond the end of the file.
    pub(super) fn check_in_file(&self, range: &Range<u64>) -> Result<()> {
        let (place, size) = (range.start, self.source.size());
        if range.end <= size {
            return Ok(());
        }
        let bytes = range.end - range.start;
        let message = format!("{bytes} bytes are stored at byte {place} of a file of {size} bytes");
        Err(Error::out_of_spec(message).at(|at| at.offset = Some(place)))
    }

    /// The sizes of the baskets whose table leaves them out, by where they lie.
    fn unknown_sizes(&self, columns: &[Column<'_>]) -> Result<HashMap<u64, u64>> {
        let mut ranges = Vec::new();
        for column in columns {
            for (index, _) in column.places(None) {
                let basket = &column.branch.baskets[index];
                if basket.embedded.is_some() || basket.bytes > 0 {
                    continue;
                }
                let range = basket.seek..basket.seek.saturating_add(SIZE_PREFIX);
                self.check_in_file(&range).map_err(|error| self.place(error, column.branch))?;
                ranges.push(range);
            }
        }
        if ranges.is_empty() {
            return Ok(HashMap::new());
        }
        let prefixes = read_all(&self.source, &ranges)?;
        let size = |(range, bytes): (&Range<u64>, &Bytes)| {
            Ok((range.start, u64::from(Cursor::new(bytes, range.start).be_u32()?)))
        };
        ranges.iter().zip(&prefixes).map(size).collect()
    }

    /// Size of the basket at `seek` by its key, for tables that leave it out.
    pub(super) fn stored_size(&self, seek: u64) -> Result<u64> {
        let range = seek..seek.saturating_add(SIZE_PREFIX);
        self.check_in_file(&range)?;
        let prefix = read_one(&self.source, range)?;
        Ok(u64::from(Cursor::new(&prefix, seek).be_u32()?))
    }

    /// Decompresses and decodes one group of baskets, of which `bytes` were fetched.
    fn run_group(
        &self,
        columns: &[Column<'_>],
        jobs: Vec<Job<'_>>,
        bytes: Result<&[Bytes]>,
        lane: &mut Lane,
        leftovers: Option<&Leftovers>,
    ) -> Result<()> {
        let in_file = |job: &Job<'_>| self.check_in_file(&(job.seek..job.seek + job.bytes));
        let mut fetched = jobs.iter().filter(|job| is_fetched(columns, job));
        let bytes = fetched.try_for_each(in_file).and(bytes);
        let mut blocks = bytes
            .map_err(|error| match jobs.first() {
                Some(job) if jobs.len() == 1 => self.place(error, columns[job.column].branch),
                _ => error.at(|place| place.object = Some(self.path.clone())),
            })?
            .iter();
        // Taken, not borrowed: decoding a basket may read another one on this thread.
        let mut scratch = SCRATCH.take();
        let result = jobs.into_iter().try_for_each(|job| {
            let column = &columns[job.column];
            let basket = &column.branch.baskets[job.basket];
            let block = if is_fetched(columns, &job) { blocks.next() } else { None };
            let block = block.map(|block| &block[..]);
            let (index, seek) = (job.basket, job.seek);
            let done = self.run_job(column, job, block, &mut scratch, lane, leftovers);
            done.map_err(|error| {
                let error = error.at(|place| {
                    place.basket = Some(index as u64);
                    place.offset = basket.embedded.is_none().then(|| self.place_in_file(seek));
                });
                self.place(error, column.branch)
            })
        });
        if scratch.len() <= SCRATCH_KEPT {
            SCRATCH.set(scratch);
        }
        result
    }

    fn run_job(
        &self,
        column: &Column<'_>,
        job: Job<'_>,
        block: Option<&[u8]>,
        scratch: &mut Vec<u8>,
        lane: &mut Lane,
        leftovers: Option<&Leftovers>,
    ) -> Result<()> {
        let basket = &column.branch.baskets[job.basket];
        let seek = Some(self.place_in_file(basket.seek));
        let mut expected = Expected { bytes: basket.bytes, seek, entries: basket.entries };
        let block = block.unwrap_or_default();
        let wants = |leftovers: &&Leftovers| {
            let size = payload_size(block).unwrap_or_default();
            leftovers.wants(size, column.reach(job.basket))
        };
        let opened: Arc<Opened>;
        let contents = match (&basket.embedded, &job.opened, leftovers.filter(wants)) {
            (Some(embedded), ..) => {
                expected.seek = None;
                Contents::open_embedded(embedded, &expected, scratch)?
            }
            (None, Some(opened), _) => opened.contents(&expected)?,
            (None, None, Some(leftovers)) => {
                opened = Arc::new(Opened::new(block, &expected)?);
                if let Some(key) = self.key(basket) {
                    leftovers.keep(key, Arc::clone(&opened), opened.len());
                }
                opened.contents(&expected)?
            }
            (None, None, None) => Contents::open(block, &expected, scratch)?,
        };
        let target = match job.place {
            Some(slices) => Target::Placed(slices),
            None => Target::Found(lane.found(job.column, column, job.basket)),
        };
        column.decode(job.basket, &contents, target, |before| {
            let Some(counter) = column.layout.counter() else { return Ok(0) };
            let counts = self.offsets_with(counter, before, leftovers)?;
            Ok(counts.last() as u64)
        })
    }

    /// What a basket in the file is among [`Leftovers`].
    pub(super) fn key(&self, basket: &Basket) -> Option<Key> {
        let key = Key { owner: self.id, column: 0, place: basket.seek };
        basket.embedded.is_none().then_some(key)
    }
}

/// Whether the basket of a job is fetched: others are inside the tree, or were opened by an earlier read.
fn is_fetched(columns: &[Column<'_>], job: &Job<'_>) -> bool {
    let basket = &columns[job.column].branch.baskets[job.basket];
    basket.embedded.is_none() && job.opened.is_none()
}

fn job<'a>(
    column: &Column<'_>,
    index: usize,
    basket: usize,
    place: Option<Vec<&'a mut [u8]>>,
    sizes: &HashMap<u64, u64>,
) -> Result<Job<'a>> {
    let table = &column.branch.baskets[basket];
    let (seek, bytes) = match &table.embedded {
        Some(embedded) => (0, embedded.len() as u64),
        None if table.bytes == 0 => {
            (table.seek, sizes.get(&table.seek).copied().unwrap_or_default())
        }
        None => (table.seek, table.bytes),
    };
    seek.checked_add(bytes)
        .map(|_| Job { column: index, basket, seek, bytes, place, opened: None })
        .ok_or_else(|| Error::out_of_spec(format!("a basket lies at byte {seek}, beyond any file")))
}

/// What belongs to each output, from the lasting ones and the temporary ones.
fn each<T>(outputs: &[Output], from: &mut [impl Iterator<Item = T>; 2]) -> Vec<T> {
    outputs.iter().filter_map(|output| from[usize::from(output.temporary)].next()).collect()
}

/// Jobs in the order of the file, cut into groups of about `limit` bytes.
fn group(mut jobs: Vec<Job<'_>>, limit: u64) -> Vec<Vec<Job<'_>>> {
    jobs.sort_by_key(|job| job.seek);
    let mut groups: Vec<Vec<Job<'_>>> = Vec::new();
    let mut bytes = u64::MAX;
    for job in jobs {
        bytes = bytes.saturating_add(job.bytes);
        match groups.last_mut() {
            Some(group) if bytes <= limit => group.push(job),
            _ => {
                bytes = job.bytes;
                groups.push(vec![job]);
            }
        }
    }
    groups
}
