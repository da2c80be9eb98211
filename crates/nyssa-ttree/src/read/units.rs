//! Plans the units of work of a read.
//!
//! The baskets of all requested branches are sorted by their place in the file and divided into groups. A
//! group is one work unit. Its baskets are fetched together. A thread decompresses them one by one into its
//! scratch memory and decodes each directly to its place in the final buffer. When sizes are known only after
//! decoding, a thread appends the data of its baskets, and the data of all threads are joined at the end.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use bytes::Bytes;
use nyssa_root::Context;
use nyssa_root::arena::Arena;
use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Error, Result};
use nyssa_root::fetch::{FetchUnit, read_all, read_one};
use nyssa_root::page_pool::{CompressedPage, Key, PagePool, keeps_compressed};
use nyssa_root::unpacked::{Keep, Page, Pages, in_order, on_all_threads};
use rayon::prelude::*;

use super::Reader;
use super::basket::{Contents, Opened, decompress, payload_size, unpack};
use super::basket_header::Expected;
use super::branch_read::{BranchRead, Decoded, Output, Target};
use super::variable_data::VariableData;
use crate::heuristics::read;
use crate::model::Basket;

/// The number of bytes that are read to find the size of a basket when its branch does not store the size
/// (files of old ROOT versions).
const SIZE_PREFIX: u64 = 4;

thread_local! {
    /// The decompressed payload of the current basket. It grows to the size of the largest payload.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// One basket to read.
struct Task<'a> {
    column: usize,
    basket: usize,
    seek: u64,
    bytes: u64,
    /// The slices of the final buffers that belong to the basket. `None` when its size is known only after
    /// decoding.
    place: Option<Vec<&'a mut [u8]>>,
    /// The decompressed basket, if an earlier read stored it.
    opened: Option<Arc<Opened>>,
    /// The basket on the local disk, if an earlier read stored it there.
    compressed: Option<CompressedPage>,
    /// The bytes of the basket, once they are fetched.
    page: Option<Page>,
}

/// The data that one thread decoded from branches whose sizes are known only after decoding, by branch. The data
/// of consecutive baskets are together.
#[derive(Default)]
struct ThreadResult {
    pieces: HashMap<usize, Vec<VariableData>>,
    /// Whether this thread does all tasks, and so decodes all baskets of each branch.
    only: bool,
}

impl ThreadResult {
    /// Returns the data to which basket `basket` of column `index` is appended.
    fn piece(&mut self, index: usize, column: &BranchRead<'_>, basket: usize) -> &mut VariableData {
        let all = self.pieces.entry(index).or_default();
        let follows = |last: &VariableData| last.baskets.end == basket;
        if !all.last().is_some_and(follows) {
            all.push(column.empty_piece(basket));
        }
        let last = all.len() - 1;
        let piece = &mut all[last];
        if self.only && piece.baskets.len() == 1 {
            column.reserve(piece);
        }
        piece
    }
}

impl Reader {
    /// Reads all columns, on the threads of the context, or on this thread without a context. Baskets in
    /// `page_pool` are not read again.
    pub(super) fn run(
        &self,
        columns: &[BranchRead<'_>],
        context: Option<&Context>,
        page_pool: Option<&PagePool>,
    ) -> Result<Vec<ArrayRef>> {
        let place = |error, column: &BranchRead<'_>| self.place(error, column.branch);
        let mut outputs = Vec::with_capacity(columns.len());
        for column in columns {
            outputs
                .push(column.outputs(self.stored_bytes()).map_err(|error| place(error, column))?);
        }
        let sizes = |temporary| {
            let all = outputs.iter().flatten().flatten();
            all.filter(|output| output.temporary == temporary).map(|output| output.size).collect()
        };
        let (lasting, temporary): (Vec<usize>, Vec<usize>) = (sizes(false), sizes(true));
        let keeps = context.is_some_and(Context::keeps_memory);
        let mut lasting = Arena::zeroed(&lasting, keeps)?;
        let mut temporary = Arena::zeroed(&temporary, keeps)?;
        let mut bytes = [lasting.bytes_mut().into_iter(), temporary.bytes_mut().into_iter()];
        let sizes = self.unknown_sizes(columns)?;
        let mut tasks = Vec::new();
        for (index, (column, outputs)) in columns.iter().zip(&outputs).enumerate() {
            let buffers = outputs.as_ref().map(|outputs| each(outputs, &mut bytes));
            for (basket, slices) in column.places(buffers) {
                let task = task(column, index, basket, slices, &sizes);
                let mut task = task.map_err(|error| place(error, column))?;
                let key = self.key(&column.branch.baskets[basket]);
                let known = page_pool.zip(key);
                let next_use = column.next_use(basket);
                task.opened = known.and_then(|(all, key)| all.find(&key, next_use));
                if task.opened.is_none() {
                    task.compressed =
                        known.and_then(|(all, key)| all.find_compressed(&key, next_use));
                }
                tasks.push(task);
            }
        }
        let results = self.run_tasks(columns, tasks, context, page_pool)?;
        let mut all_pieces: Vec<Vec<VariableData>> = columns.iter().map(|_| Vec::new()).collect();
        for (index, pieces) in results.into_iter().flat_map(|result| result.pieces) {
            all_pieces[index].extend(pieces);
        }
        for pieces in &mut all_pieces {
            pieces.sort_by_key(|piece| piece.baskets.start);
        }

        let mut buffers =
            [lasting.into_buffers().into_iter(), temporary.into_buffers().into_iter()];
        let decoded: Vec<Decoded> = outputs
            .iter()
            .zip(all_pieces)
            .map(|(outputs, pieces)| match outputs {
                Some(outputs) => Decoded::Placed(each(outputs, &mut buffers)),
                None => Decoded::VariableData(pieces),
            })
            .collect();
        let finish = |(column, decoded): (&BranchRead<'_>, Decoded)| {
            let name = column.branch.path.as_str();
            let _stage = nyssa_observe::stage!("assemble", column = name);
            column.finish(decoded).map_err(|error| place(error, column))
        };
        match context {
            None => columns.iter().zip(decoded).map(finish).collect(),
            Some(context) => {
                context.pool().install(|| columns.par_iter().zip(decoded).map(finish).collect())
            }
        }
    }

    fn run_tasks(
        &self,
        columns: &[BranchRead<'_>],
        tasks: Vec<Task<'_>>,
        context: Option<&Context>,
        page_pool: Option<&PagePool>,
    ) -> Result<Vec<ThreadResult>> {
        let wanted = self.options.fetch_bytes;
        let most = context.map_or(wanted, |context| context.fetch_bytes(wanted));
        let one_by_one = |tasks| {
            let mut result = ThreadResult { only: true, ..ThreadResult::default() };
            let units = self.units(columns, group(tasks, most));
            in_order(&self.source, units, context, |tasks, pages, keep| {
                self.run_group(columns, tasks, pages, &mut result, page_pool, keep)
            })?;
            Ok(vec![result])
        };
        let Some(context) = context else { return one_by_one(tasks) };
        if context.threads() == 1 {
            return context.pool().install(|| one_by_one(tasks));
        }
        let bytes = tasks.iter().map(|task| task.bytes).fold(0, u64::saturating_add);
        let share = bytes / (context.threads() as u64 * read::GROUPS_PER_THREAD);
        let groups = group(tasks, share.clamp(read::MIN_FETCH_BYTES.min(most), most));
        let units = self.units(columns, groups);
        let work =
            |(): &mut (), tasks: Vec<Task<'_>>, pages: Result<Pages<'_>>, keep: &mut Keep| {
                let mut result = ThreadResult::default();
                self.run_group(columns, tasks, pages, &mut result, page_pool, keep).map(|()| result)
            };
        on_all_threads(&self.source, units, context, || (), work)
    }

    /// Returns each group of baskets with the byte ranges that it needs.
    fn units<'j>(
        &self,
        columns: &[BranchRead<'_>],
        groups: Vec<Vec<Task<'j>>>,
    ) -> Vec<FetchUnit<Vec<Task<'j>>>> {
        groups.into_iter().map(|tasks| (self.needs(columns, &tasks), tasks)).collect()
    }

    /// Returns the byte ranges of the baskets that must be fetched. Returns no ranges if a range is beyond the end of
    /// the file.
    fn needs(&self, columns: &[BranchRead<'_>], tasks: &[Task<'_>]) -> Vec<Range<u64>> {
        let fetched = tasks.iter().filter(|task| is_fetched(columns, task));
        let ranges: Vec<Range<u64>> =
            fetched.map(|task| task.seek..task.seek + task.bytes).collect();
        match ranges.iter().try_for_each(|range| self.check_in_file(range)) {
            Ok(()) => ranges,
            Err(_) => Vec::new(),
        }
    }

    /// Refuses a range beyond the end of the file.
    pub(super) fn check_in_file(&self, range: &Range<u64>) -> Result<()> {
        let extent = self.extent(range.start)?;
        if range.end <= extent.end {
            return Ok(());
        }
        let (place, size) = (range.start - extent.start, extent.end - extent.start);
        let bytes = range.end - range.start;
        let message = format!("{bytes} bytes are stored at byte {place} of a file of {size} bytes");
        Err(Error::out_of_spec(message).at(|at| at.offset = Some(place)))
    }

    /// Reads the sizes of the baskets that have no size in their branch. Returns them by offset of the basket.
    fn unknown_sizes(&self, columns: &[BranchRead<'_>]) -> Result<HashMap<u64, u64>> {
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

    /// Reads the size of the basket at `seek` from its key, for branches that do not store it.
    pub(super) fn stored_size(&self, seek: u64) -> Result<u64> {
        let range = seek..seek.saturating_add(SIZE_PREFIX);
        self.check_in_file(&range)?;
        let prefix = read_one(&self.source, range)?;
        Ok(u64::from(Cursor::new(&prefix, seek).be_u32()?))
    }

    /// Decompresses and decodes one group of baskets. `pages` are the fetched baskets of the group.
    fn run_group(
        &self,
        columns: &[BranchRead<'_>],
        tasks: Vec<Task<'_>>,
        pages: Result<Pages<'_>>,
        result: &mut ThreadResult,
        page_pool: Option<&PagePool>,
        keep: &mut Keep,
    ) -> Result<()> {
        let in_file = |task: &Task<'_>| self.check_in_file(&(task.seek..task.seek + task.bytes));
        let mut fetched = tasks.iter().filter(|task| is_fetched(columns, task));
        let pages = fetched.try_for_each(in_file).and(pages);
        let mut pages = pages.map_err(|error| match tasks.first() {
            Some(task) if tasks.len() == 1 => self.place(error, columns[task.column].branch),
            _ => error.at(|place| place.object = Some(self.path.clone())),
        })?;
        let mut fetched = 0..;
        // The scratch is taken and not borrowed, because decoding a basket may read another basket on this thread.
        let mut scratch = SCRATCH.take();
        let result = tasks.into_iter().try_for_each(|mut task| {
            let column = &columns[task.column];
            let name = column.branch.path.as_str();
            let _stage = nyssa_observe::stage!("basket", column = name);
            let basket = &column.branch.baskets[task.basket];
            let number = if is_fetched(columns, &task) { fetched.next() } else { None };
            task.page = number.and_then(|number| pages.take(number));
            let (index, seek) = (task.basket, task.seek);
            let done = self.run_job(column, task, &mut scratch, result, page_pool, keep);
            done.map_err(|error| {
                let error = error.at(|place| {
                    place.basket = Some(index as u64);
                    place.offset = basket.embedded.is_none().then(|| self.place_in_file(seek));
                });
                self.place(error, column.branch)
            })
        });
        if scratch.len() <= read::SCRATCH_KEPT {
            SCRATCH.set(scratch);
        }
        result
    }

    fn run_job(
        &self,
        column: &BranchRead<'_>,
        task: Task<'_>,
        scratch: &mut Vec<u8>,
        result: &mut ThreadResult,
        page_pool: Option<&PagePool>,
        keep: &mut Keep,
    ) -> Result<()> {
        let basket = &column.branch.baskets[task.basket];
        let seek = Some(self.place_in_file(basket.seek));
        let page = task.page;
        let unpacked = page.as_ref().is_some_and(|page| page.is_unpacked);
        let mut expected =
            Expected { bytes: basket.bytes, seek, entries: basket.entries, unpacked };
        let mut block = page.as_ref().map(|page| &page.bytes[..]).unwrap_or_default();
        let compressed = task.compressed.as_ref().map(|page| match page.read() {
            Ok(bytes) => Ok(bytes),
            // The local disk failed. The server has the basket, too.
            Err(_) => read_one(&self.source, task.seek..task.seek + task.bytes),
        });
        let compressed = compressed.transpose()?;
        block = compressed.as_deref().unwrap_or(block);
        let joined: Vec<u8>;
        if keep.is_wanted() && page.is_some() && !unpacked {
            let (key, payload) = unpack(block, &expected, scratch)?;
            keep.add(task.seek..task.seek + task.bytes, key, payload);
            joined = [key, payload].concat();
            (block, expected.unpacked) = (&joined, true);
        }
        let fetched =
            page.as_ref().filter(|_| !expected.unpacked && keeps_compressed(&self.source));
        if let (Some(page), Some(page_pool), Some(key)) = (fetched, page_pool, self.key(basket)) {
            page_pool.keep_compressed(key, &page.bytes, column.needed_later(task.basket));
        }
        let wants = |page_pool: &&PagePool| {
            let size = payload_size(block).unwrap_or_default();
            page_pool.wants(size, column.needed_later(task.basket))
        };
        let opened: Arc<Opened>;
        let contents = match (&basket.embedded, &task.opened, page_pool.filter(wants)) {
            (Some(embedded), ..) => {
                expected.seek = None;
                Contents::open_embedded(embedded, &expected, scratch)?
            }
            (None, Some(opened), _) => opened.contents(&expected)?,
            (None, None, Some(page_pool)) => {
                opened = Arc::new(Opened::new(block, &expected)?);
                if let Some(key) = self.key(basket) {
                    page_pool.keep(key, Arc::clone(&opened), opened.len());
                }
                opened.contents(&expected)?
            }
            (None, None, None) => match decompress(block, &expected, scratch)? {
                // The compressed bytes are free before the values take memory.
                Some(header) => {
                    drop((page, compressed));
                    Contents::decompressed(&header, scratch, &expected)?
                }
                None => Contents::open(block, &expected, scratch)?,
            },
        };
        let target = match task.place {
            Some(slices) => Target::Placed(slices),
            None => Target::VariableData(result.piece(task.column, column, task.basket)),
        };
        column.decode(task.basket, &contents, target, |before| {
            let Some(counter) = column.layout.counter() else { return Ok(0) };
            let counts = self.offsets_with(counter, before, page_pool)?;
            Ok(counts.last() as u64)
        })
    }

    /// Returns the key of a basket in [`PagePool`], if the basket is in the file.
    pub(super) fn key(&self, basket: &Basket) -> Option<Key> {
        let key = Key { owner: self.id, column: 0, place: basket.seek };
        basket.embedded.is_none().then_some(key)
    }
}

/// Returns whether the basket of a task must be fetched. Other baskets are inside the tree, or an earlier read stored
/// them.
fn is_fetched(columns: &[BranchRead<'_>], task: &Task<'_>) -> bool {
    let basket = &columns[task.column].branch.baskets[task.basket];
    basket.embedded.is_none() && task.opened.is_none() && task.compressed.is_none()
}

fn task<'a>(
    column: &BranchRead<'_>,
    index: usize,
    basket: usize,
    place: Option<Vec<&'a mut [u8]>>,
    sizes: &HashMap<u64, u64>,
) -> Result<Task<'a>> {
    let table = &column.branch.baskets[basket];
    let (seek, bytes) = match &table.embedded {
        Some(embedded) => (0, embedded.len() as u64),
        None if table.bytes == 0 => {
            (table.seek, sizes.get(&table.seek).copied().unwrap_or_default())
        }
        None => (table.seek, table.bytes),
    };
    seek.checked_add(bytes)
        .map(|_| Task {
            column: index,
            basket,
            seek,
            bytes,
            place,
            opened: None,
            compressed: None,
            page: None,
        })
        .ok_or_else(|| Error::out_of_spec(format!("a basket lies at byte {seek}, beyond any file")))
}

/// Takes the next value for each output from one of two iterators: the lasting or the temporary iterator.
fn each<T>(outputs: &[Output], from: &mut [impl Iterator<Item = T>; 2]) -> Vec<T> {
    outputs.iter().filter_map(|output| from[usize::from(output.temporary)].next()).collect()
}

/// Sorts the tasks by their place in the file, and divides them into groups of about `limit` bytes.
fn group(mut tasks: Vec<Task<'_>>, limit: u64) -> Vec<Vec<Task<'_>>> {
    tasks.sort_by_key(|task| task.seek);
    let mut groups: Vec<Vec<Task<'_>>> = Vec::new();
    let mut bytes = u64::MAX;
    for task in tasks {
        bytes = bytes.saturating_add(task.bytes);
        match groups.last_mut() {
            Some(group) if bytes <= limit => group.push(task),
            _ => {
                bytes = task.bytes;
                groups.push(vec![task]);
            }
        }
    }
    groups
}
