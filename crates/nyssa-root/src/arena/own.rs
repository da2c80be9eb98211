//! Arrays over the memory of an arena. Those that nobody else holds can be written to.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_buffer::Buffer;
use arrow_data::ArrayData;

use super::block::Block;

/// A block that buffers share.
pub(super) struct Shared {
    pub(super) start: NonNull<u8>,
    _block: Block,
}

// SAFETY: `start` is the memory of the block, which can be sent and shared. `OwnBytes` alone writes to it.
unsafe impl Send for Shared {}
// SAFETY: threads only read `start`; `OwnBytes` alone writes to its memory.
unsafe impl Sync for Shared {}

impl Shared {
    pub(super) fn new(mut block: Block) -> Arc<Self> {
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
