//! Blobs larger than the largest key payload (specification, "Anchor schema", `Max Key Size`).
//!
//! ```text
//! first chunk, max key size bytes:  data | offset of chunk 2 | offset of chunk 3 | ...  (u64, LE)
//! chunk 2, chunk 3, ...:            data, max key size bytes each, the last one shorter
//! ```
//! Offsets point to the payloads of their keys.

use crate::error::{Error, Result};

/// Size of one chunk offset.
const OFFSET_SIZE: u64 = 8;

/// How a blob is cut into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobChunks {
    /// Number of keys, at least 1.
    pub count: u64,
    /// Bytes of data in the first chunk; its offsets follow.
    pub first: u64,
    /// Largest number of bytes in the other chunks.
    pub other: u64,
}

impl BlobChunks {
    /// The chunks of a blob of `size` bytes; one if it is not larger than `max_key_size`, or when
    /// `max_key_size` is 0 (unknown).
    ///
    /// # Errors
    /// `LimitExceeded` when the offsets do not fit into the first chunk.
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
