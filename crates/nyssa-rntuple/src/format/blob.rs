//! Computes the chunks of blobs that are larger than the largest payload of a key (specification, "Anchor
//! schema", `Max Key Size`).
//!
//! ```text
//! first chunk, max key size bytes:  data | offset of chunk 2 | offset of chunk 3 | ...  (u64, LE)
//! chunk 2, chunk 3, ...:            data, max key size bytes each, the last chunk shorter
//! ```
//! The offsets are the positions of the payloads of the keys.

use nyssa_root::error::{Error, Result};

/// The size of the offset of one chunk, in bytes.
const OFFSET_SIZE: u64 = 8;

/// The chunks of a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobChunks {
    /// The number of chunks, which is at least one. Each chunk has a key.
    pub count: u64,
    /// The number of data bytes in the first chunk. The offsets of the other chunks follow them.
    pub first: u64,
    /// The maximum number of data bytes in each other chunk.
    pub other: u64,
}

impl BlobChunks {
    /// Computes the chunks of a blob of `size` bytes. It has one chunk if it is not larger than
    /// `max_key_size`, or if `max_key_size` is 0 (unknown).
    ///
    /// # Errors
    /// `LimitExceeded` when the first chunk has no room for the offsets.
    pub fn of(size: u64, max_key_size: u64) -> Result<Self> {
        if size <= max_key_size || max_key_size == 0 {
            return Ok(Self { count: 1, first: size, other: 0 });
        }
        let mut count = size.div_ceil(max_key_size);
        let room = count.saturating_mul(max_key_size) - size;
        if (count - 1).saturating_mul(OFFSET_SIZE) > room {
            count += 1;
        }
        let offsets = (count - 1).saturating_mul(OFFSET_SIZE);
        let first = max_key_size.checked_sub(offsets);
        match first {
            Some(first) if (count - 1).saturating_mul(max_key_size) >= size - first => {
                Ok(Self { count, first, other: max_key_size })
            }
            _ => Err(Error::limit(format!(
                "a blob of {size} bytes cannot be cut into keys of {max_key_size} bytes"
            ))),
        }
    }
}
