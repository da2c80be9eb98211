//! Memory of an output before it becomes an Arrow buffer.

use arrow_buffer::Buffer;

use crate::error::{Error, Result};

/// Allocations from this size on are tried first, so that a corrupt count ends as an error. Smaller
/// ones are as good as never refused.
const TRIED_BYTES: usize = 64 << 20;

/// Zeroed bytes aligned for every Arrow type. Fresh memory comes zeroed from the system, which a
/// `Vec` of words asks for (`calloc`), so nothing is written twice.
pub struct Aligned {
    words: Vec<u64>,
    len: usize,
}

impl Aligned {
    /// `len` zero bytes.
    ///
    /// # Errors
    /// `LimitExceeded` when memory is short.
    pub fn zeroed(len: usize) -> Result<Self> {
        let words = len.div_ceil(8);
        if len >= TRIED_BYTES {
            Vec::<u64>::new()
                .try_reserve_exact(words)
                .map_err(|_| Error::limit(format!("cannot allocate {len} bytes for an array")))?;
        }
        Ok(Self { words: vec![0; words], len })
    }

    /// The bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: a `u64` is eight initialised bytes, and every pattern of bytes is a valid `u64`.
        let (_, bytes, _) = unsafe { self.words.align_to_mut::<u8>() };
        &mut bytes[..self.len]
    }

    /// The same memory as 64-bit words, for outputs of 64-bit elements.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// The finished buffer, without a copy.
    pub fn into_buffer(self) -> Buffer {
        Buffer::from_vec(self.words).slice_with_length(0, self.len)
    }
}
