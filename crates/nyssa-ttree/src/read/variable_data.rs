//! Collects decoded data whose sizes are known only after they are decoded.

use std::ops::Range;

use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use nyssa_root::error::Result;
use nyssa_root::streamer::Values;

use super::basket::Contents;
use super::{array, decode};

/// The data of consecutive baskets whose sizes are known only after they are decoded.
pub(crate) struct VariableData {
    /// The baskets.
    pub baskets: Range<usize>,
    /// The streamed values. `None` for elements, which are in `bytes`.
    pub(super) values: Option<Values>,
    /// The native elements, or the bytes of strings.
    pub(super) bytes: Vec<u8>,
    /// The offsets at which the items or bytes of each entry begin, and the end.
    pub(super) offsets: Vec<i64>,
}

impl VariableData {
    /// Adds one entry of `length` items or bytes.
    pub(super) fn push(&mut self, length: usize) {
        let end = self.offsets.last().copied().unwrap_or_default();
        self.offsets.push(end + length as i64);
    }

    /// Takes the elements and the offsets of entries without a copy, if the elements are aligned for every
    /// type.
    fn whole(&mut self) -> Option<(Buffer, OffsetBuffer<i64>)> {
        self.bytes.shrink_to_fit();
        self.offsets.shrink_to_fit();
        if self.bytes.is_empty() || self.bytes.as_ptr().align_offset(align_of::<u64>()) != 0 {
            return None;
        }
        let offsets = ScalarBuffer::from(std::mem::take(&mut self.offsets));
        Some((Buffer::from_vec(std::mem::take(&mut self.bytes)), OffsetBuffer::new(offsets)))
    }
}

/// Joins the elements of all baskets in one buffer, and returns it with the offsets of the entries in items.
pub(super) fn concatenate(
    mut pieces: Vec<VariableData>,
    rows: usize,
) -> Result<(Buffer, OffsetBuffer<i64>)> {
    if let [only] = &mut pieces[..]
        && let Some(whole) = only.whole()
    {
        return Ok(whole);
    }
    let mut buffer = array::zeroed(pieces.iter().map(|piece| piece.bytes.len()).sum())?;
    let mut rest = buffer.as_slice_mut();
    let mut offsets = Vec::with_capacity(rows + 1);
    let mut end = 0_i64;
    offsets.push(end);
    for part in pieces {
        let (head, tail) = rest.split_at_mut(part.bytes.len());
        head.copy_from_slice(&part.bytes);
        rest = tail;
        offsets.extend(part.offsets.iter().skip(1).map(|offset| end + offset));
        end += part.offsets.last().copied().unwrap_or_default();
    }
    Ok((Buffer::from(buffer), OffsetBuffer::new(ScalarBuffer::from(offsets))))
}

pub(super) fn decode_strings(
    contents: &Contents<'_>,
    rows: Range<usize>,
    piece: &mut VariableData,
) -> Result<()> {
    let mut keep = |string: &[u8]| {
        piece.bytes.extend_from_slice(string);
        piece.push(string.len());
    };
    if let Some(offsets) = contents.offsets(rows.clone())? {
        for entry in offsets.windows(2) {
            keep(decode::c_string(&contents.data[entry[0]..entry[1]])?);
        }
        return Ok(());
    }
    let mut rest = contents.data;
    for entry in 0..rows.end {
        let (string, tail) = decode::split_c_string(rest)?;
        rest = tail;
        if entry >= rows.start {
            keep(string);
        }
    }
    Ok(())
}
