//! Defines the state of one branch during a read: the required baskets, and the places of their elements in the
//! output.

use std::ops::Range;

use arrow_array::ArrayRef;
use arrow_buffer::{Buffer, OffsetBuffer};
use nyssa_root::arrow::Number;
use nyssa_root::error::{Error, Result};
use nyssa_root::guard;
use nyssa_root::page_pool::NeededLater;
use nyssa_root::streamer::{ProcessNumbers, ReferenceFinder};

use super::basket::Contents;
use super::variable_data::{VariableData, concatenate, decode_strings};
use super::{array, decode, streamed};
use crate::heuristics::read;
use crate::model::{Basket, Branch, EntryKind, EntryLayout, Member};

/// The largest memory that is reserved for the values of later baskets, in bytes for each stored byte.
const MAX_RESERVED_PER_BYTE: u64 = 8;

/// A branch, and the entries that are read from it.
pub(crate) struct BranchRead<'r> {
    /// The branch.
    pub branch: &'r Branch,
    /// The layout of its entries.
    pub layout: EntryLayout,
    /// The entries that are read.
    entries: Range<u64>,
    /// The offsets of a jagged branch in items, from its counter. There is one more offset than entries, and
    /// the first is 0.
    counts: Option<OffsetBuffer<i64>>,
    /// The lengths of the arrays that pointers refer to, one for each value.
    lengths: Option<Vec<usize>>,
    /// The baskets that hold these entries.
    baskets: Range<usize>,
    /// Whether the branch is a counter. Other branches may then need earlier entries of it, to find their own
    /// elements.
    pub counts_others: bool,
    /// The numbers that processes get, if they change.
    pub numbers: Option<&'r ProcessNumbers>,
}

/// The decoded data of a branch.
pub(crate) enum Decoded {
    /// One buffer for each member of the layout.
    Placed(Vec<Buffer>),
    /// Data in the order of the baskets.
    VariableData(Vec<VariableData>),
}

/// The final bytes of one member of the layout.
pub(crate) struct Output {
    /// The size in bytes.
    pub size: usize,
    /// Whether the bytes are needed only until everything is decoded. Bools become bits then.
    pub temporary: bool,
}

/// The place where the elements of one basket are written.
pub(crate) enum Target<'a> {
    /// The slices of the final buffers that belong to the basket.
    Placed(Vec<&'a mut [u8]>),
    /// The data of earlier baskets. The elements of this basket are appended to it.
    VariableData(&'a mut VariableData),
}

/// The part of a basket that is read.
struct BasketRows {
    /// The entries, counted from the first entry of the basket.
    rows: Range<usize>,
    /// The number of items of these entries.
    items: usize,
    /// Whether the part is the whole basket.
    whole: bool,
}

impl<'r> BranchRead<'r> {
    /// Prepares to read `entries` of `branch`.
    ///
    /// # Errors
    /// `Unsupported` for an unreadable branch; `InvalidArgument` for counts that do not belong to the entries;
    /// `OutOfSpecification` when the baskets do not cover the entries.
    pub(crate) fn new(
        branch: &'r Branch,
        entries: Range<u64>,
        counts: Option<OffsetBuffer<i64>>,
        lengths: Option<Vec<usize>>,
    ) -> Result<Self> {
        let layout = EntryLayout::of(branch).map_err(Error::unsupported)?;
        let rows = guard::to_usize(entries.end.saturating_sub(entries.start), "an entry range")?;
        let baskets = baskets(branch, &entries)?;
        let counts = counts.filter(|_| layout.counter().is_some());
        if let Some(counts) = &counts
            && (counts.len() != rows + 1 || counts.first() != 0)
        {
            return Err(Error::invalid_argument(format!(
                "{} offsets were given for {rows} entries",
                counts.len()
            )));
        }
        if counts.is_none()
            && let (EntryKind::Streamed(_), Some(counter)) = (&layout.kind, layout.counter())
        {
            return Err(Error::unsupported(format!(
                "its number of values is in {}, which cannot be read",
                counter.leaf
            )));
        }
        Ok(Self {
            branch,
            layout,
            entries,
            counts,
            lengths,
            baskets,
            counts_others: false,
            numbers: None,
        })
    }

    fn len(&self) -> usize {
        (self.entries.end - self.entries.start) as usize
    }

    /// Returns the outputs, one for each member of the layout. Returns `None` when sizes are known only after
    /// decoding (strings, jagged branches without a counter).
    ///
    /// # Errors
    /// `OutOfSpecification` when the baskets cannot hold so many elements.
    pub(crate) fn outputs(&self, file_bytes: u64) -> Result<Option<Vec<Output>>> {
        let items = match (&self.layout.kind, &self.counts) {
            (EntryKind::Fixed, _) => self.len(),
            (EntryKind::Jagged(_), Some(counts)) => {
                guard::to_usize(counts.last() as u64, "an array")?
            }
            _ => return Ok(None),
        };
        let stride = self.layout.stride;
        let most =
            self.baskets.clone().map(|index| self.branch.baskets[index].max_bytes(file_bytes));
        if (items as u64).saturating_mul(stride as u64) > most.fold(0, u64::saturating_add) {
            return Err(Error::out_of_spec(format!(
                "{items} elements of {stride} bytes do not fit in {} baskets",
                self.baskets.len()
            )));
        }
        let output = |member: &Member| Output {
            size: items.saturating_mul(member.size),
            temporary: member.element == Number::Bool.into(),
        };
        Ok(Some(self.layout.members.iter().map(output).collect()))
    }

    /// Makes empty data for basket `first` and the baskets after it, for branches whose sizes are known only
    /// after decoding.
    pub(crate) fn empty_piece(&self, first: usize) -> VariableData {
        let values = match &self.layout.kind {
            EntryKind::Streamed(streamed) => Some(streamed.layout.values()),
            _ => None,
        };
        VariableData { baskets: first..first, values, bytes: Vec::new(), offsets: vec![0] }
    }

    /// Reserves memory for the baskets after the baskets in `piece`, estimated from their stored sizes.
    pub(crate) fn reserve(&self, piece: &mut VariableData) {
        let bytes = |baskets: Range<usize>| {
            let sizes = self.branch.baskets[baskets].iter().map(|basket| basket.bytes);
            sizes.fold(0, u64::saturating_add)
        };
        let (known, to_come) =
            (bytes(piece.baskets.clone()), bytes(piece.baskets.end..self.baskets.end));
        if let (Some(values), 1..) = (&mut piece.values, known) {
            let more = to_come as f64 / known as f64 * read::RESERVE_FACTOR;
            let limit = to_come.saturating_mul(MAX_RESERVED_PER_BYTE);
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            values.reserve(more, limit);
        }
    }

    /// Returns whether basket `index` has entries after the entries of this read.
    pub(crate) fn needed_later(&self, index: usize) -> NeededLater {
        let basket = &self.branch.baskets[index];
        let end = basket.first_entry.saturating_add(basket.entries);
        if end > self.entries.end { NeededLater::Yes } else { NeededLater::No }
    }

    /// Returns whether this read or a later read uses basket `index` again.
    pub(crate) fn next_use(&self, index: usize) -> NeededLater {
        if self.counts_others { NeededLater::Yes } else { self.needed_later(index) }
    }

    /// Returns the part of basket `index` that is read.
    fn part(&self, index: usize) -> BasketRows {
        let basket = &self.branch.baskets[index];
        let end = basket.first_entry + basket.entries;
        let entries = basket.first_entry.max(self.entries.start)..end.min(self.entries.end);
        let row = |entry: u64| (entry - self.entries.start) as usize;
        let (from, to) = (row(entries.start), row(entries.end));
        let items = match &self.counts {
            Some(counts) => (counts[to] - counts[from]) as usize,
            None => to - from,
        };
        let first = (entries.start - basket.first_entry) as usize;
        let whole = entries.start == basket.first_entry && entries.end == end;
        BasketRows { rows: first..first + (to - from), items, whole }
    }

    /// Returns every basket, in order. When its place is known before decoding, it comes with its slices of
    /// the final `buffers`, one for each member of the layout.
    pub(crate) fn places<'a>(
        &self,
        buffers: Option<Vec<&'a mut [u8]>>,
    ) -> Vec<(usize, Option<Vec<&'a mut [u8]>>)> {
        let baskets = self.baskets.clone();
        let Some(mut rest) = buffers else { return baskets.map(|index| (index, None)).collect() };
        baskets
            .map(|index| {
                let items = self.part(index).items;
                let heads = rest.iter_mut().zip(&self.layout.members).map(|(rest, member)| {
                    let (head, tail) = std::mem::take(rest).split_at_mut(items * member.size);
                    *rest = tail;
                    head
                });
                (index, Some(heads.collect()))
            })
            .collect()
    }

    /// Builds the Arrow array from the decoded data.
    ///
    /// # Errors
    /// `Unsupported` for dimensions that Arrow does not allow; `LimitExceeded` when memory is short.
    pub(crate) fn finish(&self, decoded: Decoded) -> Result<ArrayRef> {
        let (buffers, offsets) = match decoded {
            Decoded::Placed(buffers) => (buffers, self.counts.clone()),
            Decoded::VariableData(pieces) if matches!(self.layout.kind, EntryKind::Streamed(_)) => {
                return self.finish_streamed(pieces);
            }
            Decoded::VariableData(pieces) => {
                let (buffer, offsets) = concatenate(pieces, self.len())?;
                if matches!(self.layout.kind, EntryKind::Strings) {
                    return array::strings(buffer, offsets);
                }
                (vec![buffer], Some(offsets))
            }
        };
        let items = offsets.as_ref().map_or(self.len(), |offsets| offsets.last() as usize);
        array::build(&self.layout, buffers, offsets, items)
    }

    /// Decodes the part of basket `index` that is read. `skip` returns the number of items in an entry range,
    /// from the counter. It is called only for a part of a basket that does not store this number.
    ///
    /// # Errors
    /// `OutOfSpecification` when the basket does not hold the number of items that the branch or the counter
    /// gives.
    pub(crate) fn decode(
        &self,
        index: usize,
        contents: &Contents<'_>,
        target: Target<'_>,
        skip: impl FnOnce(Range<u64>) -> Result<u64>,
    ) -> Result<()> {
        let _stage = nyssa_observe::stage!("decode", bytes_in = contents.data.len() as u64);
        let basket = &self.branch.baskets[index];
        let part = self.part(index);
        let outs = match target {
            Target::VariableData(piece) => {
                piece.baskets.end = index + 1;
                return match self.layout.kind {
                    EntryKind::Streamed(_) => {
                        self.decode_streamed(basket, contents, part.rows, skip, piece)
                    }
                    EntryKind::Strings => decode_strings(contents, part.rows, piece),
                    _ => self.decode_by_offsets(contents, part.rows, piece),
                };
            }
            Target::Placed(outs) => outs,
        };
        let stride = self.layout.stride;
        let start = if part.whole {
            0
        } else if self.counts.is_none() {
            part.rows.start * stride
        } else if let Some(offsets) = contents.offsets(part.rows.start..part.rows.start)? {
            offsets.first().copied().unwrap_or_default()
        } else {
            let items = skip(basket.first_entry..basket.first_entry + part.rows.start as u64)?;
            guard::to_usize(items.saturating_mul(stride as u64), "an offset")?
        };
        let input = self.take(basket, contents, start, &part)?;
        for (member, out) in self.layout.members.iter().zip(outs) {
            if member.size == stride {
                decode::copy(member.element, input, out);
            } else if member.size > 0 {
                let bytes = member.start..member.start + member.size;
                let rows = input.chunks_exact(stride).zip(out.chunks_exact_mut(member.size));
                rows.for_each(|(row, out)| decode::copy(member.element, &row[bytes.clone()], out));
            }
        }
        Ok(())
    }

    /// Returns the bytes of the part's items, which begin at `start` of the basket's data. When the part is
    /// the whole basket, this is all of the data.
    fn take<'a>(
        &self,
        basket: &Basket,
        contents: &Contents<'a>,
        start: usize,
        part: &BasketRows,
    ) -> Result<&'a [u8]> {
        let (have, stride) = (contents.data.len(), self.layout.stride);
        if self.counts.is_none() && have as u64 != basket.entries.saturating_mul(stride as u64) {
            return Err(Error::out_of_spec(format!(
                "the basket holds {have} bytes, not {} entries of {stride} bytes",
                basket.entries
            )));
        }
        let end = part.items.checked_mul(stride).and_then(|length| length.checked_add(start));
        match end.filter(|&end| end <= have && (!part.whole || end == have)) {
            Some(end) => Ok(&contents.data[start..end]),
            None => Err(self.disagree(start, part, have)),
        }
    }

    /// Decodes these entries of a basket with streamed values.
    fn decode_streamed(
        &self,
        basket: &Basket,
        contents: &Contents<'_>,
        rows: Range<usize>,
        skip: impl FnOnce(Range<u64>) -> Result<u64>,
        piece: &mut VariableData,
    ) -> Result<()> {
        let (EntryKind::Streamed(streamed), Some(values)) = (&self.layout.kind, &mut piece.values)
        else {
            return Ok(());
        };
        let rows = self.streamed_rows(basket, rows, skip)?;
        streamed::decode(streamed, contents, &rows, self.numbers, values)
    }

    /// Returns where basket `index`, which is read as a whole, states the numbers of processes.
    ///
    /// # Errors
    /// `Unsupported` if nyssa cannot know; `OutOfSpecification` for a damaged basket.
    pub(crate) fn processes(&self, index: usize, contents: &Contents<'_>) -> Result<Vec<usize>> {
        let EntryKind::Streamed(streamed) = &self.layout.kind else { return Ok(Vec::new()) };
        let BasketRows { rows, .. } = self.part(index);
        let rows = self.streamed_rows(&self.branch.baskets[index], rows, |_| Ok(0))?;
        streamed::processes(streamed, contents, &rows)
    }

    /// Returns the places of the references in entries of basket `index`. Errors as for [`Self::processes`].
    pub(crate) fn references(
        &self,
        index: usize,
        contents: &Contents<'_>,
        wanted: &[usize],
        finder: &ReferenceFinder,
    ) -> Result<Vec<Result<Vec<usize>>>> {
        let EntryKind::Streamed(streamed) = &self.layout.kind else {
            return Ok(wanted.iter().map(|_| Ok(Vec::new())).collect());
        };
        let BasketRows { rows, .. } = self.part(index);
        let rows = self.streamed_rows(&self.branch.baskets[index], rows, |_| Ok(0))?;
        streamed::references(streamed, contents, &rows, wanted, finder)
    }

    /// Describes these entries of a basket with streamed values.
    fn streamed_rows(
        &self,
        basket: &Basket,
        rows: Range<usize>,
        skip: impl FnOnce(Range<u64>) -> Result<u64>,
    ) -> Result<streamed::Rows<'_>> {
        // The row of the first entry in this read.
        let first = (basket.first_entry + rows.start as u64).saturating_sub(self.entries.start);
        let first = guard::to_usize(first, "an entry")?;
        let offset = |row: usize| match &self.counts {
            Some(counts) => counts.get(row).map_or(0, |&offset| offset as usize),
            None => row,
        };
        let counts = self.counts.as_ref().map(|_| {
            rows.clone().zip(first..).map(|(_, row)| offset(row + 1) - offset(row)).collect()
        });
        let lengths = self.lengths.as_ref().and_then(|lengths| lengths.get(offset(first)..));
        let skip = match (&self.counts, rows.start) {
            (Some(_), 1..) => skip(basket.first_entry..basket.first_entry + rows.start as u64)?,
            (_, start) => start as u64,
        };
        let skip = guard::to_usize(skip, "an offset")?;
        let entries = guard::to_usize(basket.entries, "a basket")?;
        let first = basket.first_entry + rows.start as u64;
        Ok(streamed::Rows { rows, first, entries, counts, skip, lengths })
    }

    /// Joins the values of all baskets. For a member of a collection, it puts them in lists.
    fn finish_streamed(&self, pieces: Vec<VariableData>) -> Result<ArrayRef> {
        let EntryKind::Streamed(streamed) = &self.layout.kind else {
            return Err(Error::unsupported("a branch that is not streamed"));
        };
        let layout = &streamed.layout;
        let values = pieces.into_iter().filter_map(|piece| piece.values);
        let arrays = values.map(|values| layout.finish(values)).collect::<Result<_>>()?;
        array::concatenate(arrays, layout.arrow_field("item"), self.counts.clone())
    }

    fn disagree(&self, start: usize, part: &BasketRows, have: usize) -> Error {
        let (name, stride) = (&self.branch.path, self.layout.stride);
        let counter = self.layout.counter().map_or("", |counter| counter.leaf.as_str());
        if stride == 0 || !have.is_multiple_of(stride) {
            return Error::out_of_spec(format!(
                "branch {name} has {have} bytes in a basket, not a whole number of elements of \
                 {stride} bytes"
            ));
        }
        let said = (start / stride).saturating_add(part.items);
        let least = if part.whole { "" } else { " or more" };
        Error::out_of_spec(format!(
            "branch {name} has {} elements in the basket, but its counter {counter} says {said}{least}",
            have / stride
        ))
    }

    fn decode_by_offsets(
        &self,
        contents: &Contents<'_>,
        rows: Range<usize>,
        piece: &mut VariableData,
    ) -> Result<()> {
        let (name, stride) = (&self.branch.path, self.layout.stride);
        let Some(offsets) = contents.offsets(rows)? else {
            let counter = self.layout.counter().map_or("", |counter| counter.leaf.as_str());
            return Err(Error::unsupported(format!(
                "branch {name} is counted by {counter}, which cannot be read, and its baskets do not \
                 store where their entries lie"
            )));
        };
        piece.offsets.reserve(offsets.len());
        for entry in offsets.windows(2) {
            let bytes = entry[1] - entry[0];
            if stride == 0 || !bytes.is_multiple_of(stride) {
                return Err(Error::out_of_spec(format!(
                    "an entry of branch {name} has {bytes} bytes, not a whole number of elements of \
                     {stride} bytes"
                )));
            }
            piece.push(bytes / stride);
        }
        let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else { return Ok(()) };
        let input = &contents.data[first..last];
        let start = piece.bytes.len();
        piece.bytes.resize(start + input.len(), 0);
        if let Some(element) = self.layout.element() {
            decode::copy(element, input, &mut piece.bytes[start..]);
        }
        Ok(())
    }
}

/// Returns the baskets that hold `entries`, and checks that they are contiguous.
fn baskets(branch: &Branch, entries: &Range<u64>) -> Result<Range<usize>> {
    if entries.end > branch.entries {
        return Err(Error::out_of_spec(format!(
            "the branch has {} entries, but entry {} was requested",
            branch.entries,
            entries.end - 1
        )));
    }
    if entries.is_empty() {
        return Ok(0..0);
    }
    branch.check_first(entries).map_err(Error::unsupported)?;
    let all = &branch.baskets;
    let first = all.partition_point(|basket| {
        basket.first_entry.saturating_add(basket.entries) <= entries.start
    });
    let mut reached = entries.start;
    for (index, basket) in all.iter().enumerate().skip(first) {
        let begins =
            basket.first_entry == reached || index == first && basket.first_entry < reached;
        let end = basket.first_entry.checked_add(basket.entries);
        let Some(end) = end.filter(|&end| begins && end >= reached) else {
            return Err(Error::out_of_spec(format!(
                "no basket holds entry {reached}: the next one starts at entry {}",
                basket.first_entry
            ))
            .at(|place| place.basket = Some(index as u64)));
        };
        if end >= entries.end {
            return Ok(first..index + 1);
        }
        reached = end;
    }
    Err(Error::out_of_spec(format!("no basket holds entry {reached}, the last one ends before it")))
}
