//! Allocates the memory that a read fills with values. Later this memory becomes Arrow buffers without a copy.
//! The readers of TTree and RNTuple use it. A buffer that nobody else holds can become writable again.

mod block;
mod freed;
mod huge_pages;
mod own;

use std::sync::Arc;

use arrow_buffer::Buffer;

use self::block::Block;
pub(crate) use self::huge_pages::huge_pages;
use self::own::Shared;
pub use self::own::{OwnBytes, keep_read_only};
use crate::error::Result;

/// Every output starts at a multiple of this number of bytes, as Arrow recommends.
const ALIGNMENT: usize = 64;

/// The number of words in [`ALIGNMENT`] bytes.
const UNIT: usize = ALIGNMENT / 8;

/// Zeroed memory for many outputs, in a few allocations.
pub struct Arena {
    blocks: Vec<Block>,
    /// The index of the block, the first word and the number of bytes of every output.
    places: Vec<(usize, usize, usize)>,
}

impl Arena {
    /// Allocates outputs of `sizes` bytes. If `keeps`, their memory is kept for other arrays when they are freed.
    ///
    /// # Errors
    /// `LimitExceeded` when there is not enough memory.
    pub fn zeroed(sizes: &[usize], keeps: bool) -> Result<Self> {
        let mut words: Vec<usize> = Vec::new();
        let mut places = Vec::with_capacity(sizes.len());
        for &size in sizes {
            let needed = size.div_ceil(ALIGNMENT) * UNIT;
            if words
                .last()
                .is_none_or(|block| block.saturating_add(needed) > block::BLOCK_BYTES / 8)
            {
                words.push(0);
            }
            let index = words.len() - 1;
            places.push((index, words[index], size));
            words[index] = words[index].saturating_add(needed);
        }
        let blocks =
            words.into_iter().map(|words| Block::zeroed(words, keeps)).collect::<Result<_>>()?;
        Ok(Self { blocks, places })
    }

    /// Returns all outputs as words, in order. The last word may extend past the end of its output.
    pub fn words_mut(&mut self) -> Vec<&mut [u64]> {
        let mut rest: Vec<&mut [u64]> = self.blocks.iter_mut().map(Block::words_mut).collect();
        let take = |&(block, _, size): &(usize, usize, usize)| {
            let units = size.div_ceil(ALIGNMENT) * UNIT;
            let (head, tail) = std::mem::take(&mut rest[block]).split_at_mut(units);
            rest[block] = tail;
            let (words, _) = head.split_at_mut(size.div_ceil(8));
            words
        };
        self.places.iter().map(take).collect()
    }

    /// Returns all outputs as bytes, in order.
    pub fn bytes_mut(&mut self) -> Vec<&mut [u8]> {
        let sizes = self.places.iter().map(|&(_, _, size)| size).collect::<Vec<_>>();
        let cut = |(words, size)| &mut bytemuck::cast_slice_mut::<u64, u8>(words)[..size];
        self.words_mut().into_iter().zip(sizes).map(cut).collect()
    }

    /// Returns the finished buffers, in order, without a copy. The capacity of a buffer is its own size, not the size
    /// of its block.
    pub fn into_buffers(self) -> Vec<Buffer> {
        let blocks = self.blocks.into_iter().map(Shared::new).collect::<Vec<_>>();
        let buffer = |&(block, start, size): &(usize, usize, usize)| {
            let owner = Arc::clone(&blocks[block]);
            // SAFETY: the `size` bytes from word `start` lie inside the block of `owner`, initialised: the places of an
            // arena are cut from its blocks by these numbers, and do not overlap. The buffer keeps the block alive. The
            // bytes only change through `OwnBytes`, when nothing else reads them.
            unsafe {
                let start = owner.start.add(start * 8);
                Buffer::from_custom_allocation(start, size, owner)
            }
        };
        self.places.iter().map(buffer).collect()
    }
}

/// Gives memory that was freed back to the system: blocks that are kept for the next arrays, and what malloc keeps for the heaps of
/// all threads (with glibc alone).
pub fn release_memory() {
    freed::release();
    give_back();
}

/// Returns freed memory that malloc keeps to the system, for the heaps of all threads. This does nothing where the
/// allocator is not glibc's.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn give_back() {
    // SAFETY: it takes malloc's own locks and touches no memory that is in use.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back() {}

#[cfg(test)]
mod tests {
    use std::ptr::NonNull;

    use arrow_data::ArrayData;

    use super::block::BLOCK_BYTES;
    use super::*;

    #[test]
    fn outputs_are_disjoint_and_keep_their_bytes() {
        let sizes = [3, 0, 64, 65, BLOCK_BYTES, 1];
        let mut arena = Arena::zeroed(&sizes, false).unwrap();
        for (index, bytes) in arena.bytes_mut().into_iter().enumerate() {
            assert_eq!(bytes.len(), sizes[index]);
            assert!(bytes.iter().all(|&byte| byte == 0));
            bytes.fill(index as u8 + 1);
        }
        for (index, buffer) in arena.into_buffers().iter().enumerate() {
            assert_eq!(buffer.len(), sizes[index]);
            assert!(buffer.iter().all(|&byte| byte == index as u8 + 1), "{index}");
            assert_eq!(buffer.as_ptr() as usize % 8, 0);
            assert_eq!(buffer.capacity(), sizes[index]);
        }
    }

    #[test]
    fn only_the_last_holder_of_an_output_can_write_to_it() {
        let mut arena = Arena::zeroed(&[16, 8, 0], false).unwrap();
        arena.bytes_mut()[1].fill(7);
        let [first, second, empty] = <[Buffer; 3]>::try_from(arena.into_buffers()).unwrap();
        let part = first.slice_with_length(8, 8);
        let first = OwnBytes::take(first).err().unwrap();
        drop(first);
        let mut part = OwnBytes::take(part).ok().unwrap();
        part.as_slice_mut().fill(3);
        assert_eq!((part.as_slice(), second.as_slice()), (&[3; 8][..], &[7; 8][..]));
        assert!(OwnBytes::take(empty).is_err());
        assert!(OwnBytes::take(Buffer::from_vec(vec![0u64])).is_err());
        assert!(OwnBytes::take(second).is_ok());
    }

    #[test]
    fn memory_that_another_library_may_hold_stays_read_only() {
        let buffer = Arena::zeroed(&[8], false).unwrap().into_buffers().remove(0);
        // The memory of a buffer of another library has another owner.
        let start = NonNull::new(buffer.as_ptr().cast_mut()).unwrap();
        // SAFETY: the owner has these bytes.
        let other = unsafe { Buffer::from_custom_allocation(start, 8, Arc::new(buffer)) };
        let array = ArrayData::builder(arrow_schema::DataType::Int64).len(1);
        keep_read_only(&array.add_buffer(other.clone()).build().unwrap());
        assert!(OwnBytes::take(other).is_err());
    }

    #[test]
    fn absurd_sizes_are_errors() {
        let error = Arena::zeroed(&[1 << 60], false).err().unwrap();
        assert_eq!(error.kind(), crate::Kind::LimitExceeded);
    }
}
