//! Writes blobs: envelopes and pages in keys that no directory lists.

use std::ops::Range;

use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::writer::{RootFileWriter, Unwritten};

use crate::format::{BlobChunks, DEFAULT_MAX_KEY_SIZE};

/// The class name of the keys with pages and envelopes.
const CLASS: &str = "RBlob";

/// Writes the concatenated `parts` as the payload of an `RBlob` key, which no directory lists. `objlen`
/// is the uncompressed size, for information. A blob larger than `max_key_size` is split over several
/// keys, as RNTuple splits an envelope or a page; the parts must then be one envelope or one page.
/// Returns the position of the payload.
///
/// # Errors
/// `LimitExceeded` when the blob cannot be split; an error if the sink cannot be written.
pub fn write_blob(
    file: &mut RootFileWriter,
    parts: &[&[u8]],
    objlen: u64,
    max_key_size: u64,
) -> Result<u64> {
    let size: u64 = parts.iter().map(|part| part.len() as u64).sum();
    let chunks = BlobChunks::of(size, max_key_size).in_file(file.name())?;
    if chunks.count == 1 {
        return file.write_key(CLASS, parts, objlen);
    }
    let mut offsets = Vec::new();
    let mut start = chunks.first;
    while start < size {
        let end = size.min(start + chunks.other);
        let chunk: Vec<&[u8]> = slices(parts, start..end).collect();
        let offset = file.write_key(CLASS, &chunk, end - start)?;
        offsets.extend_from_slice(&offset.to_le_bytes());
        start = end;
    }
    let mut first: Vec<&[u8]> = slices(parts, 0..chunks.first).collect();
    first.push(&offsets);
    file.write_key(CLASS, &first, max_key_size)
}

/// Gives a blob of `stored` bytes its place, as [`write_blob`] does, and leaves its bytes to `unwritten`. The blob must fit in
/// one key.
///
/// # Errors
/// `LimitExceeded` beyond what a key can hold; an error if the sink cannot be written.
pub(super) fn place_blob(
    file: &mut RootFileWriter,
    parts: Vec<Vec<u8>>,
    (stored, objlen): (u64, u64),
    unwritten: &mut Unwritten,
) -> Result<u64> {
    file.place_key(CLASS, parts, (stored, objlen), unwritten)
}

/// Appends an `RBlob` key and skips its payload of `size` bytes, which reads as zeros. It is for aligned
/// data and sparse files. Returns the position of the payload.
///
/// # Errors
/// `LimitExceeded` above the largest key, 1 GiB; an error if the sink cannot be written.
pub fn reserve_blob(file: &mut RootFileWriter, size: u64) -> Result<u64> {
    if size > DEFAULT_MAX_KEY_SIZE {
        return Err(Error::limit(format!(
            "a gap of {size} bytes exceeds the maximum key size {DEFAULT_MAX_KEY_SIZE}"
        )));
    }
    file.reserve_key(CLASS, size)
}

/// Checks a maximum key size.
///
/// # Errors
/// `InvalidArgument` with the allowed range.
pub(super) fn check_key_size(bytes: u64) -> Result<()> {
    if (1..=DEFAULT_MAX_KEY_SIZE).contains(&bytes) {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "the maximum key size is {bytes}, but has to be 1 to {DEFAULT_MAX_KEY_SIZE} bytes"
    )))
}

/// Returns the slices of `parts` that form `range` of the concatenated parts.
fn slices<'a>(parts: &'a [&'a [u8]], range: Range<u64>) -> impl Iterator<Item = &'a [u8]> {
    let mut start = 0u64;
    parts.iter().filter_map(move |part| {
        let part_start = start;
        start += part.len() as u64;
        let from = range.start.clamp(part_start, start) - part_start;
        let to = range.end.clamp(part_start, start) - part_start;
        (from < to).then(|| &part[from as usize..to as usize])
    })
}

#[cfg(test)]
mod tests {
    use super::slices;

    #[test]
    fn slices_cross_parts() {
        let parts: [&[u8]; 3] = [b"abc", b"", b"defg"];
        let joined = |range| slices(&parts, range).collect::<Vec<_>>().concat();
        assert_eq!(joined(0..7), b"abcdefg");
        assert_eq!(joined(1..5), b"bcde");
        assert_eq!(joined(3..7), b"defg");
        assert_eq!(joined(2..2), b"");
    }
}
