//! Reads and writes frames, which are sized records and lists (specification, "Frames").
//!
//! ```text
//! record:  size (i64, > 0)                 payload
//! list:    size (i64, < 0)   items (u32)   payload
//! ```
//! The size counts the whole frame. A reader continues after the frame, even if it does not know all of its content.

use nyssa_root::cursor::Cursor;
use nyssa_root::error::Result;

use super::put;

const RECORD_PREAMBLE: u64 = 8;
const LIST_PREAMBLE: u64 = 12;

/// Reads a record frame and moves `cursor` to its end.
pub(super) fn record<'a>(cursor: &mut Cursor<'a>) -> Result<Cursor<'a>> {
    let at = cursor.clone();
    let size = cursor.le_i64()?;
    if size < 0 {
        return Err(at.error("list frame where a record frame is needed"));
    }
    payload(&at, cursor, size.unsigned_abs(), RECORD_PREAMBLE)
}

/// Reads a list frame and moves `cursor` to its end. Each item has at least `min_item` bytes, so the size of
/// the frame limits the number of items.
pub(super) fn list<'a>(cursor: &mut Cursor<'a>, min_item: usize) -> Result<(u32, Cursor<'a>)> {
    let at = cursor.clone();
    let size = cursor.le_i64()?;
    if size >= 0 {
        return Err(at.error("record frame where a list frame is needed"));
    }
    let items = cursor.le_u32()?;
    let inner = payload(&at, cursor, size.unsigned_abs(), LIST_PREAMBLE)?;
    let room = inner.remaining().len();
    if (items as usize).checked_mul(min_item).is_none_or(|needed| needed > room) {
        return Err(at.error(format!("list of {items} items in {room} bytes")));
    }
    Ok((items, inner))
}

fn payload<'a>(
    at: &Cursor<'_>,
    cursor: &mut Cursor<'a>,
    size: u64,
    preamble: u64,
) -> Result<Cursor<'a>> {
    let left = cursor.remaining().len() as u64 + preamble;
    if size < preamble || size > left {
        return Err(at.error(format!("frame of {size} bytes where {left} are left")));
    }
    let base = cursor.offset();
    // `size <= left`, so the difference is at most the length of the slice.
    Ok(Cursor::new(cursor.bytes((size - preamble) as usize)?, base))
}

/// Appends a record frame around the bytes that `fill` appends.
pub(super) fn put_record(
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; RECORD_PREAMBLE as usize]);
    fill(out)?;
    let size = (out.len() - start) as i64;
    out[start..start + 8].copy_from_slice(&size.to_le_bytes());
    Ok(())
}

/// Appends a list frame. `item` appends each element of `items`.
pub(super) fn put_list<T>(
    out: &mut Vec<u8>,
    items: &[T],
    mut item: impl FnMut(&mut Vec<u8>, &T) -> Result<()>,
) -> Result<()> {
    put_list_with(out, items.len(), |out| items.iter().try_for_each(|each| item(out, each)))
}

/// Appends a list frame of `count` items around the bytes that `fill` appends.
pub(super) fn put_list_with(
    out: &mut Vec<u8>,
    count: usize,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(&put::length(count, "list")?.to_le_bytes());
    fill(out)?;
    let size = -((out.len() - start) as i64);
    out[start..start + 8].copy_from_slice(&size.to_le_bytes());
    Ok(())
}
