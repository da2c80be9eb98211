//! Selects entries of another dataset: the entries of ranges, or the entries that pass a cut.

use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::ArrowError;
use arrow_select::concat::concat;
use arrow_select::filter::filter;
use nyssa_root::Context;
use nyssa_root::arrow::memory;
use nyssa_root::error::{Error, Result};
use nyssa_root::guard::to_usize;
use nyssa_root::page_pool::PagePool;
use rayon::prelude::*;

use crate::cut::Cut;
use crate::dataset::{Arrays, ColumnInfo, Dataset, check_entries, gather};
use crate::heuristics::view;
use crate::view::computed::named_columns;

/// A range of entries of the inner dataset. Some or all of them are selected.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectedRange {
    /// The entries of the inner dataset.
    pub entries: Range<u64>,
    /// The mask of the selected entries. `None` selects all.
    pub mask: Option<BooleanBuffer>,
}

impl SelectedRange {
    /// Returns the number of selected entries.
    pub fn taken(&self) -> u64 {
        match &self.mask {
            None => self.entries.end - self.entries.start,
            Some(mask) => mask.count_set_bits() as u64,
        }
    }
}

/// The columns of a cut for the entries that pass.
#[derive(Default)]
struct CutColumns {
    names: Vec<String>,
    /// The arrays of each range. A range that did not fit into memory has no arrays.
    arrays: Vec<Vec<ArrayRef>>,
}

impl CutColumns {
    /// Returns the array of a column in a range.
    fn find(&self, range: usize, name: &str) -> Option<&ArrayRef> {
        let column = self.names.iter().position(|known| known == name)?;
        self.arrays.get(range)?.get(column)
    }
}

/// The ranges with entries that pass cuts, and the columns of the cuts.
struct Passing {
    pieces: Vec<SelectedRange>,
    columns: CutColumns,
    /// The number of entries that pass each cut and all cuts before it.
    passed: Vec<u64>,
}

/// Finds which of `entries` pass all `cuts`. It reads only the columns of the cuts, and only some clusters or a part of a
/// cluster at a time. The columns of a cut are read where an entry passes the cuts before it.
fn passing(
    dataset: &(impl Dataset + ?Sized),
    cuts: &[Cut],
    entries: Range<u64>,
    context: &Context,
) -> Result<Passing> {
    let mut names: Vec<&str> = Vec::new();
    for cut in cuts {
        cut.check(&named_columns(dataset, cut.fields()))?;
        let new = cut.fields().iter().map(String::as_str);
        let new: Vec<_> = new.filter(|name| !names.contains(name)).collect();
        names.extend(new);
    }
    let page_pool = Arc::new(PagePool::new(view::OPENED_BYTES));
    let context = &context.clone().with_page_pool(Arc::clone(&page_pool));
    let owned = names.iter().map(|&name| name.to_owned()).collect();
    let columns = CutColumns { names: owned, arrays: Vec::new() };
    let mut found = Passing { pieces: Vec::new(), columns, passed: vec![0; cuts.len()] };
    let mut bytes = 0u64;
    let mut start = entries.start;
    while start < entries.end {
        context.check()?;
        let end = entries.end.min(start.saturating_add(view::CUT_ENTRIES));
        let window = start..end;
        start = end;
        let read = pass_window(dataset, cuts, &window, &mut found.passed, context)?;
        page_pool.turn();
        let Some((mask, read)) = read else { continue };
        let piece = SelectedRange { entries: window, mask: Some(mask) };
        let pass = |name: &&str| passed(&read[*name], piece.mask.as_ref());
        let arrays = match bytes < view::CUT_BYTES {
            true => names.iter().map(pass).collect::<Result<Vec<_>>>()?,
            false => Vec::new(),
        };
        bytes = bytes.saturating_add(memory(&arrays));
        found.pieces.push(piece);
        found.columns.arrays.push(arrays);
    }
    Ok(found)
}

/// The mask of the entries that pass, and the arrays of the columns of the cuts.
type PassedWindow<'c> = (BooleanBuffer, HashMap<&'c str, ArrayRef>);

/// Applies the cuts to a window, one after the other, and counts the entries that pass. Returns `None` if none passes.
fn pass_window<'c>(
    dataset: &(impl Dataset + ?Sized),
    cuts: &'c [Cut],
    window: &Range<u64>,
    passed: &mut [u64],
    context: &Context,
) -> Result<Option<PassedWindow<'c>>> {
    let length = to_usize(window.end - window.start, "mask")?;
    let mut mask = BooleanBuffer::new_set(length);
    let mut arrays: HashMap<&str, ArrayRef> = HashMap::new();
    for (cut, passed) in cuts.iter().zip(passed) {
        let fields = || cut.fields().iter().map(String::as_str);
        let new: Vec<&str> = fields().filter(|name| !arrays.contains_key(name)).collect();
        if !new.is_empty() {
            let read = dataset.read(&new, window.clone(), context)?;
            arrays.extend(new.into_iter().zip(read));
        }
        let own: Vec<_> = fields().filter_map(|name| arrays.get(name).cloned()).collect();
        mask = &mask & &cut.mask(&own, length)?;
        let count = mask.count_set_bits() as u64;
        *passed += count;
        if count == 0 {
            return Ok(None);
        }
    }
    Ok(Some((mask, arrays)))
}

/// The selected entries of another dataset, counted from 0. `D` points to it.
pub struct Selected<D> {
    inner: D,
    pieces: Vec<SelectedRange>,
    /// The number in this dataset of the first entry of each range, and then the number of entries.
    starts: Vec<u64>,
    cut_columns: CutColumns,
}

impl<D: Deref<Target: Dataset>> Selected<D> {
    /// Makes a dataset of the selected entries of `pieces`, in their order. Ranges without selected entries
    /// are dropped.
    ///
    /// # Errors
    /// `InvalidArgument` for a range beyond the entries, or for a mask of another length.
    pub fn new(inner: D, pieces: Vec<SelectedRange>) -> Result<Self> {
        let mut starts = vec![0];
        let mut selected = Vec::with_capacity(pieces.len());
        let mut total = 0u64;
        for piece in pieces {
            let Range { start, end } = piece.entries;
            if start > end || end > inner.num_entries() {
                return Err(Error::invalid_argument(format!(
                    "entries {start}..{end} are not within the {} entries of {}",
                    inner.num_entries(),
                    inner.name()
                )));
            }
            if piece.mask.as_ref().is_some_and(|mask| mask.len() as u64 != end - start) {
                return Err(Error::invalid_argument("a mask needs one bit for each entry"));
            }
            let taken = piece.taken();
            if taken == 0 {
                continue;
            }
            // A mask that selects all entries is not needed.
            let mask = piece.mask.filter(|_| taken != end - start);
            total += taken;
            starts.push(total);
            selected.push(SelectedRange { entries: piece.entries, mask });
        }
        Ok(Self { inner, pieces: selected, starts, cut_columns: CutColumns::default() })
    }

    /// Makes a dataset of the `entries` that pass a cut. Reads the columns of the cut, and stores up to 64 MiB of
    /// their selected entries.
    ///
    /// # Errors
    /// `NotFound`, `Unsupported` and `InvalidArgument` for a cut that does not fit the columns; an error if the
    /// columns cannot be read.
    pub fn passing(inner: D, cut: &Cut, entries: Range<u64>, context: &Context) -> Result<Self> {
        let (selected, _) = Self::passing_all(inner, std::slice::from_ref(cut), entries, context)?;
        Ok(selected)
    }

    /// Makes a dataset of the `entries` that pass all cuts, as [`Selected::passing`] does. Also returns the numbers of
    /// entries that pass each cut and all cuts before it.
    ///
    /// # Errors
    /// `NotFound`, `Unsupported` and `InvalidArgument` for a cut that does not fit the columns; an error if the
    /// columns cannot be read.
    pub fn passing_all(
        inner: D,
        cuts: &[Cut],
        entries: Range<u64>,
        context: &Context,
    ) -> Result<(Self, Vec<u64>)> {
        let Passing { pieces, columns, passed } = passing(&*inner, cuts, entries, context)?;
        Ok((Self { cut_columns: columns, ..Self::new(inner, pieces)? }, passed))
    }

    /// Returns the ranges with selected entries.
    pub fn ranges(&self) -> &[SelectedRange] {
        &self.pieces
    }

    /// Returns the number of selected entries before `entry` of the inner dataset. The ranges must be in the
    /// order of the inner dataset.
    pub fn before(&self, entry: u64) -> u64 {
        let index = self.pieces.partition_point(|piece| piece.entries.end <= entry);
        let start = self.starts.get(index).copied().unwrap_or(0);
        let Some(piece) = self.pieces.get(index) else { return start };
        let part = entry.saturating_sub(piece.entries.start);
        start
            + match &piece.mask {
                None => part,
                Some(mask) => mask.slice(0, part as usize).count_set_bits() as u64,
            }
    }

    /// Returns the range of the inner dataset that contains the entries `range`, from the first to the last.
    pub fn inner_range(&self, range: &Range<u64>) -> Range<u64> {
        let parts = self.parts(range);
        match (parts.first(), parts.last()) {
            (Some(first), Some(last)) => first.entries.start..last.entries.end,
            _ => 0..0,
        }
    }

    /// Returns the part of each range that contains entries `range` of this dataset.
    pub fn parts(&self, range: &Range<u64>) -> Vec<SelectedRange> {
        let first = self.starts.partition_point(|&start| start <= range.start).saturating_sub(1);
        let spans = self.starts.windows(2).zip(&self.pieces).skip(first);
        let parts = spans.take_while(|(span, _)| span[0] < range.end).map(|(span, piece)| {
            let from = range.start.max(span[0]) - span[0];
            part(piece, from..range.end.min(span[1]) - span[0])
        });
        parts.filter(|part| !part.entries.is_empty()).collect()
    }

    /// Reads the selected entries of a part of one range. Entry `start` of this dataset is the first entry. Columns
    /// that the cut has read are not read again.
    fn read_part(
        &self,
        names: &[&str],
        start: u64,
        part: &SelectedRange,
        context: &Context,
    ) -> Result<Vec<ArrayRef>> {
        let range = self.starts.partition_point(|&first| first <= start).saturating_sub(1);
        let row = to_usize(start - self.starts.get(range).copied().unwrap_or(start), "entry")?;
        let rows = to_usize(part.taken(), "entries")?;
        let known = |name: &str| self.cut_columns.find(range, name);
        let others: Vec<&str> =
            names.iter().copied().filter(|name| known(name).is_none()).collect();
        let arrays = match others.is_empty() {
            true => Vec::new(),
            false => self.inner.read(&others, part.entries.clone(), context)?,
        };
        let pass = |array: &ArrayRef| passed(array, part.mask.as_ref());
        let passed: Result<Vec<_>> =
            context.pool().install(|| arrays.par_iter().map(pass).collect());
        let mut passed = passed?.into_iter();
        let column = |name: &&str| match known(name) {
            Some(array) if array.len() == rows => Ok(Some(Arc::clone(array))),
            // A copy, because arrays begin with their first entry.
            Some(array) => {
                let rows: Vec<_> = (row..row + rows).map(|row| (0, row)).collect();
                gather(&[array], &rows).map(Some)
            }
            None => Ok(passed.next()),
        };
        names.iter().map(column).filter_map(Result::transpose).collect()
    }
}

/// Returns the part of a range from the first to the last of its selected entries `taken`.
fn part(piece: &SelectedRange, taken: Range<u64>) -> SelectedRange {
    let Some(mask) = &piece.mask else {
        let start = piece.entries.start;
        return SelectedRange { entries: start + taken.start..start + taken.end, mask: None };
    };
    let (mut begin, mut end, mut seen) = (0, 0, 0u64);
    for (from, to) in mask.set_slices() {
        let run = (to - from) as u64;
        if seen < taken.end && seen + run > taken.start {
            let skip = taken.start.saturating_sub(seen) as usize;
            let stop = (taken.end - seen).min(run) as usize;
            begin = if seen <= taken.start { from + skip } else { begin };
            end = from + stop;
        }
        seen += run;
    }
    let mask = mask.slice(begin, end - begin);
    let start = piece.entries.start + begin as u64;
    let entries = start..piece.entries.start + end as u64;
    let all = mask.count_set_bits() == mask.len();
    SelectedRange { entries, mask: Some(mask).filter(|_| !all) }
}

impl<D: Deref<Target: Dataset> + Send + Sync> Dataset for Selected<D> {
    same_object!(inner);
    same_columns!(inner);

    fn close(&self) {
        self.inner.close();
    }

    fn check_open(&self, entries: &Range<u64>) -> Result<()> {
        self.parts(entries).iter().try_for_each(|part| self.inner.check_open(&part.entries))
    }

    fn num_entries(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    fn columns(&self) -> &[ColumnInfo] {
        self.inner.columns()
    }

    fn subcolumns(&self) -> &[ColumnInfo] {
        self.inner.subcolumns()
    }

    fn find_column(&self, name: &str) -> Option<&ColumnInfo> {
        self.inner.find_column(name)
    }

    fn description(&self) -> String {
        self.inner.description()
    }

    fn title(&self, column: &str) -> String {
        self.inner.title(column)
    }

    fn clusters(&self) -> Vec<Range<u64>> {
        let mut clusters = Vec::new();
        let inner = self.inner.clusters();
        for (piece, start) in self.pieces.iter().zip(&self.starts) {
            let mut start = *start;
            let first = inner.partition_point(|cluster| cluster.end <= piece.entries.start);
            for cluster in inner[first..].iter().take_while(|c| c.start < piece.entries.end) {
                let from = cluster.start.max(piece.entries.start) - piece.entries.start;
                let to = cluster.end.min(piece.entries.end) - piece.entries.start;
                let taken = match &piece.mask {
                    None => to - from,
                    Some(mask) => {
                        mask.slice(from as usize, (to - from) as usize).count_set_bits() as u64
                    }
                };
                if taken > 0 {
                    clusters.push(start..start + taken);
                }
                start += taken;
            }
        }
        clusters
    }

    fn read(&self, names: &[&str], entries: Range<u64>, context: &Context) -> Result<Arrays> {
        check_entries(&entries, self.num_entries())?;
        let parts = self.parts(&entries);
        if parts.is_empty() {
            return self.inner.read(names, 0..0, context);
        }
        self.check_open(&entries)?;
        // Neighbouring parts share pages and baskets.
        let own =
            context.page_pool().is_none().then(|| Arc::new(PagePool::new(view::OPENED_BYTES)));
        let context = &own
            .iter()
            .fold(context.clone(), |context, own| context.with_page_pool(Arc::clone(own)));
        let mut pieces = vec![Vec::with_capacity(parts.len()); names.len()];
        let mut start = entries.start;
        for part in &parts {
            for (pieces, array) in
                pieces.iter_mut().zip(self.read_part(names, start, part, context)?)
            {
                pieces.push(array);
            }
            start += part.taken();
            own.iter().for_each(|own| own.turn());
        }
        let join = |arrays: Vec<ArrayRef>| {
            concat(&arrays.iter().map(AsRef::as_ref).collect::<Vec<_>>()).map_err(misfit)
        };
        context.pool().install(|| pieces.into_par_iter().map(join).collect())
    }
}

/// Returns the values of an array that pass a mask. `None` passes all.
fn passed(array: &ArrayRef, mask: Option<&BooleanBuffer>) -> Result<ArrayRef> {
    match mask {
        Some(mask) => filter(array, &BooleanArray::new(mask.clone(), None)).map_err(misfit),
        None => Ok(Arc::clone(array)),
    }
}

fn misfit(error: ArrowError) -> Error {
    Error::limit("the selected entries do not fit one array").with_source(error)
}
