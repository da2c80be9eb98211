//! Decodes streamed numbers into columns.

use std::ops::Range;

use super::column::{ColumnBuilder, Numbers, mismatch};
use crate::arrow::{Native, each_number};
use crate::cursor::{BYTE_COUNT, Cursor};
use crate::error::Result;
use crate::streamer::basic::Basic;
use crate::streamer::wire::IS_REFERENCED;

/// The bit in the first byte of a version that marks containers that are streamed member by member.
const MEMBER_WISE: u8 = 1 << 6;

/// Appends `count` numbers.
pub(super) fn read(
    basic: Basic,
    cursor: &mut Cursor<'_>,
    count: usize,
    column: &mut ColumnBuilder,
) -> Result<()> {
    let ColumnBuilder::Number(numbers) = column else { return Err(mismatch()) };
    if basic == Basic::Bits {
        return bits(cursor, count, numbers);
    }
    let size = count.checked_mul(basic.size());
    let size = size.ok_or_else(|| cursor.error(format!("an array of {count} numbers")))?;
    append(basic, numbers, std::iter::once(cursor.bytes(size)?))
}

/// Appends `count` lists of numbers. A 32-bit length comes before each list.
pub(super) fn read_lists(
    basic: Basic,
    cursor: &mut Cursor<'_>,
    count: usize,
    column: &mut ColumnBuilder,
) -> Result<()> {
    let ColumnBuilder::List { offsets, item } = column else { return Err(mismatch()) };
    let ColumnBuilder::Number(numbers) = &mut **item else { return Err(mismatch()) };
    let size = basic.size();
    let mut end = offsets.last().copied().unwrap_or(0);
    let mut next = || {
        let length = cursor.number_of(size)?;
        end += length as i64;
        offsets.push(end);
        cursor.bytes(length * size)
    };
    let mut failed = None;
    let lists = (0..count).map_while(|_| next().map_err(|error| failed = Some(error)).ok());
    append(basic, numbers, lists)?;
    failed.map_or(Ok(()), Err)
}

/// Appends lists of numbers. Each of `ranges` of `bytes` has one list, with the header of its container and its
/// length before the numbers. If a list has another form or is damaged, nothing is appended and the result is
/// `false`.
pub(super) fn read_containers(
    basic: Basic,
    bytes: &[u8],
    ranges: &[Range<usize>],
    column: &mut ColumnBuilder,
) -> Result<bool> {
    let ColumnBuilder::List { offsets, item } = column else { return Err(mismatch()) };
    let ColumnBuilder::Number(numbers) = &mut **item else { return Err(mismatch()) };
    let (size, known) = (basic.size(), offsets.len());
    let mut end = offsets.last().copied().unwrap_or(0);
    for range in ranges {
        let length = bytes.get(range.clone()).and_then(|entry| alone(entry, size));
        let Some(length) = length else {
            offsets.truncate(known);
            return Ok(false);
        };
        end += length as i64;
        offsets.push(end);
    }
    let lists = ranges.iter().filter_map(|range| bytes.get(range.start + CONTAINER..range.end));
    append(basic, numbers, lists)?;
    Ok(true)
}

/// The size of the header and the length of a container, in bytes.
const CONTAINER: usize = 10;

/// Returns how many numbers of `size` bytes are in a container that takes all bytes of an entry.
fn alone(entry: &[u8], size: usize) -> Option<usize> {
    let (head, numbers) = entry.split_first_chunk::<CONTAINER>()?;
    let [a, b, c, d, version, _, length @ ..] = *head;
    let end = u32::from_be_bytes([a, b, c, d]) ^ BYTE_COUNT;
    let length = u32::from_be_bytes(length) as usize;
    let plain = version & MEMBER_WISE == 0 && end as usize == entry.len() - 4;
    (plain && length.checked_mul(size) == Some(numbers.len())).then_some(length)
}

fn extend<T: Native>(values: &mut Vec<T>, run: &[u8]) {
    values.extend(T::read_be(run));
}

/// Appends the big-endian numbers of each of `runs`.
fn append<'a>(
    basic: Basic,
    numbers: &mut Numbers,
    runs: impl Iterator<Item = &'a [u8]>,
) -> Result<()> {
    let size = basic.size();
    match (basic, numbers) {
        (Basic::Plain(_) | Basic::Date, numbers) if numbers.number() == basic.number() => {
            each_number!(Numbers, numbers,
                values => runs.for_each(|run| extend(values, run)),
                bits => runs.for_each(|run| run.iter().for_each(|&byte| bits.append(byte != 0))));
        }
        (Basic::Double32, Numbers::Float64(values)) => {
            runs.for_each(|run| values.extend(f32::read_be(run).map(f64::from)));
        }
        (Basic::Ranged { .. } | Basic::Truncated { .. }, Numbers::Float64(values)) => {
            runs.for_each(|run| {
                values.extend(run.chunks_exact(size).map(|item| basic.unpack(item)));
            });
        }
        (Basic::Ranged { .. } | Basic::Truncated { .. }, Numbers::Float32(values)) => {
            runs.for_each(|run| {
                values.extend(run.chunks_exact(size).map(|item| basic.unpack(item) as f32));
            });
        }
        _ => return Err(mismatch()),
    }
    Ok(())
}

/// Appends the bits of `TObject`s. The number of a process follows the bits if they say so.
fn bits(cursor: &mut Cursor<'_>, count: usize, numbers: &mut Numbers) -> Result<()> {
    let Numbers::UInt32(values) = numbers else { return Err(mismatch()) };
    for _ in 0..count {
        let bits = cursor.be_u32()?;
        if bits & IS_REFERENCED != 0 {
            cursor.skip(2)?;
        }
        values.push(bits);
    }
    Ok(())
}

/// Appends one number to a column of `UInt32`.
pub(super) fn push_u32(column: &mut ColumnBuilder, value: u32) -> Result<()> {
    match column {
        ColumnBuilder::Number(Numbers::UInt32(values)) => {
            values.push(value);
            Ok(())
        }
        _ => Err(mismatch()),
    }
}
