//! The memory of an arena: from malloc, from the system, or a block that was freed before.

use super::freed::{self, Mapped};
use super::huge_pages::huge_pages;
use crate::error::{Error, Result};

/// The maximum size in bytes of an allocation that several outputs share. Such a block is large, so it comes
/// directly from the system. The system has zeroed it, so nyssa need not, and it can have huge pages, which
/// avoid most page faults. A block stays in memory as long as one array in it does.
pub(super) const BLOCK_BYTES: usize = 64 << 20;

/// Blocks smaller than this are allocated by malloc.
const MIN_MAPPED_BYTES: usize = 1 << 20;

/// One allocation.
pub(super) enum Block {
    /// Memory that malloc allocated.
    Allocated(Vec<u64>),
    /// A memory mapping of the system. When it is freed, it may be kept for the next block of about this size.
    Mapped(Mapped),
}

impl Block {
    /// Allocates at least `words` words, all zero. If `keeps`, they are kept for other blocks when they are freed.
    ///
    /// # Errors
    /// `LimitExceeded` when there is not enough memory.
    pub(super) fn zeroed(words: usize, keeps: bool) -> Result<Self> {
        let bytes = words.saturating_mul(8);
        if bytes >= MIN_MAPPED_BYTES
            && let Some(mapped) = freed::zeroed(bytes, keeps)
        {
            return Ok(Self::Mapped(mapped));
        }
        if words >= BLOCK_BYTES / 8 {
            // A wrong count in a damaged file must end as an error. Without this check it would abort the process.
            Vec::<u64>::new().try_reserve_exact(words).map_err(|_| {
                Error::limit(format!("cannot allocate {words} words of 8 bytes for arrays"))
            })?;
        }
        let mut block = vec![0; words];
        huge_pages(&mut block);
        Ok(Self::Allocated(block))
    }

    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Allocated(words) => words,
            // A mapping begins with a page, so all its bytes are in words.
            Self::Mapped(mapped) => bytemuck::pod_align_to_mut(mapped.bytes_mut()).1,
        }
    }
}
