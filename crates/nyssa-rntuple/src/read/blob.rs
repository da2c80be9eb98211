//! Reads blobs, which may be split over several keys (specification, "Anchor schema": `Max Key Size`).

use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use nyssa_root::error::{Error, Result};
use nyssa_root::fetch::read_all;
use nyssa_root::guard::to_usize;

use crate::format::BlobChunks;

/// The position of a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blob {
    /// The bytes of the blob, or the payload of its first key: the first bytes, then the positions of the other
    /// keys.
    pub first: Range<u64>,
    /// The number of bytes of the blob.
    pub size: u64,
    /// The maximum payload of a key, in bytes.
    pub max_key_size: u64,
}

impl Blob {
    /// Makes a blob of `size` bytes that starts at byte `offset`.
    ///
    /// # Errors
    /// `OutOfSpecification` when the blob does not lie inside the file; `LimitExceeded` when it cannot be
    /// split.
    pub(super) fn new(offset: u64, size: u64, file_size: u64, max_key_size: u64) -> Result<Self> {
        let chunks = BlobChunks::of(size, max_key_size)?;
        let here = if chunks.count > 1 { max_key_size } else { size };
        let end = offset.checked_add(here).filter(|&end| end <= file_size && size <= file_size);
        let end = end.ok_or_else(|| {
            Error::out_of_spec(format!(
                "{size} bytes at byte {offset} end after the file of {file_size} bytes"
            ))
        })?;
        Ok(Self { first: offset..end, size, max_key_size })
    }

    /// Returns whether the blob has more than one key.
    pub(super) fn is_split(&self) -> bool {
        self.first.end - self.first.start < self.size
    }

    /// Reads the rest of the blob. `first` are the bytes of its first range.
    ///
    /// # Errors
    /// `OutOfSpecification` when another key lies outside the file; an error if the source cannot be read.
    pub(super) fn complete(
        &self,
        source: &Arc<dyn nyssa_io::Source>,
        first: &Bytes,
    ) -> Result<Bytes> {
        if !self.is_split() {
            return Ok(first.clone());
        }
        let chunks = BlobChunks::of(self.size, self.max_key_size)?;
        let (head, offsets) = first
            .split_at_checked(to_usize(chunks.first, "blob")?)
            .ok_or_else(|| Error::out_of_spec("the first key of a blob is too short"))?;
        let mut rest = self.size - chunks.first;
        let mut ranges = Vec::new();
        for offset in offsets.as_chunks().0 {
            let offset = u64::from_le_bytes(*offset);
            let size = rest.min(chunks.other);
            let end = offset.checked_add(size).filter(|&end| end <= source.size());
            let end = end.ok_or_else(|| {
                Error::out_of_spec(format!(
                    "a further key of a blob, of {size} bytes at byte {offset}, ends after the file"
                ))
            })?;
            ranges.push(offset..end);
            rest -= size;
        }
        if rest > 0 {
            return Err(Error::out_of_spec(format!("{rest} bytes of a blob are in no key")));
        }
        let size = to_usize(self.size, "blob")?;
        let mut whole = BytesMut::with_capacity(size);
        whole.extend_from_slice(head);
        for part in read_all(source, &ranges)? {
            whole.extend_from_slice(&part);
        }
        Ok(whole.freeze())
    }
}

/// Reads several blobs. This takes one request if the source allows it and no blob is split.
///
/// # Errors
/// `OutOfSpecification` when a key lies outside the file; an error if the source cannot be read.
pub(super) fn read_blobs(source: &Arc<dyn nyssa_io::Source>, blobs: &[Blob]) -> Result<Vec<Bytes>> {
    let ranges = blobs.iter().map(|blob| blob.first.clone()).collect::<Vec<_>>();
    let first = read_all(source, &ranges)?;
    blobs.iter().zip(first).map(|(blob, first)| blob.complete(source, &first)).collect()
}
