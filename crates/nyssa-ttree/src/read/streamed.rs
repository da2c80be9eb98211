//! Decodes streamed entries of a basket to values.

use std::ops::Range;

use nyssa_root::error::{Error, Result};
use nyssa_root::streamer::{Counts, EntryForm, Origin, ProcessNumbers, ReferenceFinder, Values};

use super::basket::Contents;
use crate::model::Streamed;

/// The entries that are read from a basket.
pub(super) struct Rows<'a> {
    /// The entries, counted from the first entry of the basket.
    pub rows: Range<usize>,
    /// The number in the tree of the first of these entries.
    pub first: u64,
    /// The number of entries of the basket.
    pub entries: usize,
    /// The number of items of each of these entries, for a member of a collection.
    pub counts: Option<Vec<usize>>,
    /// The number of items in the basket before these entries.
    pub skip: usize,
    /// The lengths of the arrays that pointers refer to, one for each value.
    pub lengths: Option<&'a [usize]>,
}

/// Appends the values of all these entries. With `numbers`, processes have other numbers.
pub(super) fn decode(
    streamed: &Streamed,
    contents: &Contents<'_>,
    rows: &Rows<'_>,
    numbers: Option<&ProcessNumbers>,
    values: &mut Values,
) -> Result<()> {
    let mut changed = Vec::new();
    let data = match (numbers, contents.process_offset) {
        (None, 0) => contents.data,
        (numbers, offset) => {
            let unchanged = ProcessNumbers::default();
            let places = processes(streamed, contents, rows)?;
            changed.extend_from_slice(contents.data);
            numbers.unwrap_or(&unchanged).change(&mut changed, &places, offset)?;
            &changed
        }
    };
    let ranges = ranges(streamed, contents, rows)?;
    let origin = origin(contents, rows, &ranges)?;
    let (counts, lengths) = (rows.counts(), rows.lengths);
    streamed.layout.decode_entries(data, &ranges, counts, lengths, &origin, rows.first, values)
}

/// Returns where the entries state the numbers of processes, in order.
pub(super) fn processes(
    streamed: &Streamed,
    contents: &Contents<'_>,
    rows: &Rows<'_>,
) -> Result<Vec<usize>> {
    let ranges = ranges(streamed, contents, rows)?;
    let origin = origin(contents, rows, &ranges)?;
    let (data, counts, lengths) = (contents.data, rows.counts(), rows.lengths);
    streamed.layout.processes(data, &ranges, counts, lengths, &origin, rows.first)
}

/// Returns the places of the references in the entries `wanted`, counted from the first byte of each entry. The rows are all
/// entries of the basket.
pub(super) fn references(
    streamed: &Streamed,
    contents: &Contents<'_>,
    rows: &Rows<'_>,
    wanted: &[usize],
    finder: &ReferenceFinder,
) -> Result<Vec<Result<Vec<usize>>>> {
    let offsets = contents.offsets(rows.rows.clone())?.unwrap_or_default();
    let origins = contents.places(rows.rows.clone(), &offsets);
    let mut found = Vec::with_capacity(wanted.len());
    let (mut row, mut values) = (0, 0);
    for &next in wanted {
        let items = |row: usize| rows.counts.as_ref().map(|counts| counts.get(row).copied());
        let count = |row| items(row).map_or(1, Option::unwrap_or_default);
        values += (row..next).map(count).sum::<usize>();
        row = next;
        let (Some(&[start, end]), Some(origin)) =
            (offsets.get(row..row + 2).and_then(<[usize]>::first_chunk), origins.get(row))
        else {
            return Err(Error::out_of_spec("the basket does not store where its entries lie"));
        };
        let entry = contents.data.get(start..end).unwrap_or_default();
        let lengths = rows.lengths.map(|lengths| lengths.get(values..).unwrap_or_default());
        let items = items(row).map(Option::unwrap_or_default);
        found.push(in_entry(streamed, entry, *origin as usize, (items, lengths), finder));
    }
    Ok(found)
}

/// Returns the places of the references in an entry.
fn in_entry(
    streamed: &Streamed,
    entry: &[u8],
    origin: usize,
    (items, lengths): (Option<usize>, Option<&[usize]>),
    finder: &ReferenceFinder,
) -> Result<Vec<usize>> {
    if !streamed.named {
        return finder.find(streamed.layout.entry_form(items, lengths), entry, origin);
    }
    let object = behind_name(entry, 0..entry.len())?;
    let name = entry.get(1..object.start.saturating_sub(1)).unwrap_or_default();
    let class = String::from_utf8_lossy(name);
    let bytes = entry.get(object.clone()).unwrap_or_default();
    let places = finder.find(EntryForm::Object(&class), bytes, origin + object.start)?;
    Ok(places.into_iter().map(|at| at + object.start).collect())
}

impl Rows<'_> {
    fn counts(&self) -> Counts<'_> {
        match &self.counts {
            Some(counts) => Counts::Items(counts),
            None => Counts::One,
        }
    }
}

/// Returns from where the references of each entry count: the start of the key. References of a moved entry are counted as if
/// the entry were at its original position.
fn origin(
    contents: &Contents<'_>,
    rows: &Rows<'_>,
    ranges: &[Range<usize>],
) -> Result<impl Fn(usize) -> Origin> {
    let keylen = u32::try_from(contents.keylen()).unwrap_or(u32::MAX);
    let places = written_at(contents, rows, ranges)?;
    Ok(move |entry: usize| match places.get(entry) {
        Some(&place) => Origin::Object(place),
        None => Origin::Buffer(keylen),
    })
}

/// Returns the original positions of the values of entries, counted from the start of the key, if the entries were
/// moved.
fn written_at(
    contents: &Contents<'_>,
    rows: &Rows<'_>,
    ranges: &[Range<usize>],
) -> Result<Vec<u32>> {
    let Some(places) = contents.written_at(rows.rows.clone()) else { return Ok(Vec::new()) };
    let starts = contents.offsets(rows.rows.clone())?.unwrap_or_default();
    // A value may follow the name of its class.
    let before = ranges.iter().zip(starts).map(|(range, start)| range.start.saturating_sub(start));
    let places = places.into_iter().zip(before);
    Ok(places.map(|(place, before)| place.saturating_add(before as u32)).collect())
}

/// Returns the byte ranges of the entries, from the offsets of the basket, or from the common size of all entries.
fn ranges(
    streamed: &Streamed,
    contents: &Contents<'_>,
    rows: &Rows<'_>,
) -> Result<Vec<Range<usize>>> {
    if let Some(offsets) = contents.offsets(rows.rows.clone())? {
        let entries = offsets.windows(2);
        let ranges = entries.map(|entry| entry[0]..entry[1]);
        return if streamed.named {
            ranges.map(|range| behind_name(contents.data, range)).collect()
        } else {
            Ok(ranges.collect())
        };
    }
    let have = contents.data.len();
    let no_offsets = || {
        Error::unsupported("its entries vary in size and its baskets do not store where they lie")
    };
    let size = match (&rows.counts, streamed.layout.fixed_size()) {
        // The process of a referenced object follows its bits.
        (None, _)
            if streamed.layout.is_bits()
                && rows.entries > 0
                && have.is_multiple_of(rows.entries) =>
        {
            have / rows.entries
        }
        (_, Some(size)) => size,
        (None, None) if rows.entries > 0 && have.is_multiple_of(rows.entries) => {
            have / rows.entries
        }
        _ => return Err(no_offsets()),
    };
    let mut start = rows.skip.saturating_mul(size);
    let all = rows.rows.clone().enumerate().map(|(index, _)| {
        let items = rows.counts.as_ref().map_or(1, |counts| counts.get(index).copied().unwrap_or(0));
        let end = items.checked_mul(size).and_then(|bytes| bytes.checked_add(start));
        let end = end.filter(|&end| end <= have).ok_or_else(|| {
            Error::out_of_spec(format!(
                "the basket holds {have} bytes, an entry of {items} values of {size} bytes begins at \
                 byte {start}"
            ))
        })?;
        Ok(std::mem::replace(&mut start, end)..end)
    });
    let ranges = all.collect::<Result<Vec<_>>>()?;
    if streamed.named {
        ranges.into_iter().map(|range| behind_name(contents.data, range)).collect()
    } else {
        Ok(ranges)
    }
}

/// Returns the part of an entry after the name of its class, which is a length byte, the name, and a zero
/// (`TLeafObject::FillBasket`).
fn behind_name(data: &[u8], entry: Range<usize>) -> Result<Range<usize>> {
    let name = data.get(entry.start).map_or(0, |&length| usize::from(length) + 2);
    let start = entry.start + name;
    if name == 0 || start > entry.end {
        return Err(Error::out_of_spec(format!(
            "an object of {} bytes does not begin with the name of its class",
            entry.end - entry.start
        )));
    }
    Ok(start..entry.end)
}
