//! Allocates the memory that a read fills with values. Later this memory becomes Arrow buffers without a copy.
//! The readers of TTree and RNTuple use it. A buffer that nobody else holds can become writable again.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use memmap2::MmapMut;

use crate::error::{Error, Result};

/// The maximum size in bytes of an allocation that several outputs share. Such a block is large, so it comes
/// directly from the system. The system has zeroed it, so nyssa need not, and it can have huge pages, which
/// avoid most page faults. A block stays in memory as long as one array in it does.
const BLOCK_BYTES: usize = 64 << 20;

/// Blocks smaller than this are allocated by malloc.
const MIN_MAPPED_BYTES: usize = 1 << 20;

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
    /// Allocates outputs of `sizes` bytes.
    ///
    /// # Errors
    /// `LimitExceeded` when there is not enough memory.
    pub fn zeroed(sizes: &[usize]) -> Result<Self> {
        let mut words: Vec<usize> = Vec::new();
        let mut places = Vec::with_capacity(sizes.len());
        for &size in sizes {
            let needed = size.div_ceil(ALIGNMENT) * UNIT;
            if words.last().is_none_or(|block| block.saturating_add(needed) > BLOCK_BYTES / 8) {
                words.push(0);
            }
            let index = words.len() - 1;
            places.push((index, words[index], size));
            words[index] = words[index].saturating_add(needed);
        }
        let blocks = words.into_iter().map(zeroed).collect::<Result<_>>()?;
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

/// A block that buffers share.
struct Shared {
    start: NonNull<u8>,
    _block: Block,
}

// SAFETY: `start` is the memory of the block, which can be sent and shared. `OwnBytes` alone writes to it.
unsafe impl Send for Shared {}
// SAFETY: threads only read `start`; `OwnBytes` alone writes to its memory.
unsafe impl Sync for Shared {}

impl Shared {
    fn new(mut block: Block) -> Arc<Self> {
        let bytes = bytemuck::cast_slice_mut::<u64, u8>(block.words_mut());
        let (len, start) = (bytes.len(), NonNull::from(bytes).cast::<u8>());
        if len > 0 {
            let place = Place { start, len, foreign: false };
            places().insert(start.as_ptr() as usize, place);
        }
        // Moving the block moves no bytes of it.
        Arc::new(Self { start, _block: block })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        places().remove(&(self.start.as_ptr() as usize));
    }
}

/// The memory of a [`Shared`].
struct Place {
    start: NonNull<u8>,
    len: usize,
    /// Whether buffers of another library point into it. Nobody counts these.
    foreign: bool,
}

// SAFETY: the pointer is only used by who owns the bytes.
unsafe impl Send for Place {}

/// All blocks that buffers share, by address. A buffer does not tell who allocated it.
static PLACES: Mutex<BTreeMap<usize, Place>> = Mutex::new(BTreeMap::new());

fn places() -> MutexGuard<'static, BTreeMap<usize, Place>> {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `take` with the block of a buffer, and the first byte of the buffer in it, if the buffer is from an arena.
fn in_block<T>(buffer: &Buffer, take: impl FnOnce(&mut Place, usize) -> T) -> Option<T> {
    let address = buffer.as_ptr() as usize;
    let mut places = places();
    let (start, place) = places.range_mut(..=address).next_back()?;
    let first = address - start;
    let inside = !buffer.is_empty() && first + buffer.len() <= place.len;
    inside.then(|| take(place, first))
}

/// States that another library may hold the memory of an array, so that it stays read-only.
pub fn keep_read_only(array: &ArrayData) {
    let nulls = array.nulls().map(|nulls| nulls.buffer());
    for buffer in array.buffers().iter().chain(nulls) {
        in_block(buffer, |place, _| place.foreign = true);
    }
    array.child_data().iter().for_each(keep_read_only);
}

/// The bytes of a buffer of an [`Arena`] that nobody else holds.
pub struct OwnBytes {
    start: NonNull<u8>,
    len: usize,
    _buffer: Buffer,
}

// SAFETY: it owns its bytes.
unsafe impl Send for OwnBytes {}
// SAFETY: it owns its bytes, and only a mutable reference writes to them.
unsafe impl Sync for OwnBytes {}

impl OwnBytes {
    /// Takes the bytes of a buffer.
    ///
    /// # Errors
    /// Returns the buffer if somebody else holds its bytes, or if it is from no arena.
    pub fn take(buffer: Buffer) -> std::result::Result<Self, Buffer> {
        // The count includes parts of the buffer. It cannot grow from one.
        if buffer.strong_count() != 1 {
            return Err(buffer);
        }
        let start = in_block(&buffer, |place, first| {
            // SAFETY: `first` is inside the block.
            (!place.foreign).then(|| unsafe { place.start.add(first) })
        });
        match start.flatten() {
            Some(start) => Ok(Self { start, len: buffer.len(), _buffer: buffer }),
            None => Err(buffer),
        }
    }

    /// Returns the bytes.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: they are alive and initialised, as the buffer had them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// Returns the bytes, which may be changed.
    pub fn as_slice_mut(&mut self) -> &mut [u8] {
        // SAFETY: the bytes are alive and initialised. No other buffer has these bytes, and nothing reads them through the buffer that is kept.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

fn zeroed(words: usize) -> Result<Block> {
    let bytes = words.saturating_mul(8);
    if bytes >= MIN_MAPPED_BYTES
        && let Ok(mapped) = MmapMut::map_anon(bytes)
    {
        let mut block = Block::Mapped(mapped);
        huge_pages(block.words_mut());
        return Ok(block);
    }
    if words >= BLOCK_BYTES / 8 {
        // A wrong count in a damaged file must end as an error. Without this check it would abort the process.
        Vec::<u64>::new().try_reserve_exact(words).map_err(|_| {
            Error::limit(format!("cannot allocate {words} words of 8 bytes for arrays"))
        })?;
    }
    let mut block = vec![0; words];
    huge_pages(&mut block);
    Ok(Block::Allocated(block))
}

/// One allocation.
enum Block {
    /// Memory that malloc allocated.
    Allocated(Vec<u64>),
    /// A memory mapping of the system. Its memory returns to the system at once, while malloc would keep it for
    /// later.
    Mapped(MmapMut),
}

impl Block {
    fn words_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Allocated(words) => words,
            // A mapping begins with a page, so all its bytes are in words.
            Self::Mapped(bytes) => bytemuck::pod_align_to_mut(&mut bytes[..]).1,
        }
    }
}

/// Asks the system for huge pages for memory that is not used yet. This does nothing where the system has
/// none.
#[cfg(target_os = "linux")]
pub(crate) fn huge_pages<T>(memory: &mut [T]) {
    const PAGE: usize = 2 << 20;
    let start = memory.as_mut_ptr().cast::<u8>();
    let skip = start.align_offset(PAGE);
    let len = size_of_val(memory).saturating_sub(skip) / PAGE * PAGE;
    if len > 0 {
        // SAFETY: the range lies inside a slice that is borrowed mutably here and starts and ends at
        // page boundaries; this advice changes no contents and no permissions.
        unsafe { libc::madvise(start.wrapping_add(skip).cast(), len, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn huge_pages<T>(_: &mut [T]) {}

/// Returns freed memory that malloc keeps to the system, for the heaps of all threads. This does nothing where the
/// allocator is not glibc's.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn give_back() {
    // SAFETY: it takes malloc's own locks and touches no memory that is in use.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_disjoint_and_keep_their_bytes() {
        let sizes = [3, 0, 64, 65, BLOCK_BYTES, 1];
        let mut arena = Arena::zeroed(&sizes).unwrap();
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
        let mut arena = Arena::zeroed(&[16, 8, 0]).unwrap();
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
        let buffer = Arena::zeroed(&[8]).unwrap().into_buffers().remove(0);
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
        let error = Arena::zeroed(&[1 << 60]).err().unwrap();
        assert_eq!(error.kind(), crate::Kind::LimitExceeded);
    }
}
