//! Reuses the buffers of reads. The system needs about as long to give new memory as to fill it from its
//! cache of the file.

use std::sync::{Mutex, PoisonError};

use crate::heuristics::local;

/// The buffers that wait for another read.
static IDLE: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// A buffer of a read. Its memory is reused after it is dropped.
pub(crate) struct Buffer {
    memory: Vec<u8>,
    len: usize,
}

impl Buffer {
    /// Returns a buffer of `len` bytes with any contents.
    pub(crate) fn new(len: usize) -> Self {
        if len < local::MIN_BYTES {
            return Self { memory: vec![0; len], len };
        }
        let size = len.next_multiple_of(local::STEP_BYTES);
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        // A much larger buffer is not used, because the data can stay in memory for long.
        let fits = |memory: &Vec<u8>| memory.len() >= len && memory.len() <= 2 * size;
        let memory = idle.iter().position(fits).map(|index| idle.swap_remove(index));
        drop(idle);
        Self { memory: memory.unwrap_or_else(|| vec![0; size]), len }
    }

    /// Returns the bytes.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[..self.len]
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.memory[..self.len]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        if memory.len() < local::MIN_BYTES {
            return;
        }
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.iter().map(Vec::len).sum::<usize>() + memory.len() <= local::IDLE_BYTES {
            idle.push(memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again() {
        // No other test of the process uses this size.
        let len = 7 * local::STEP_BYTES + 1;
        let mut first = Buffer::new(len);
        first.bytes_mut()[len - 1] = 9;
        assert_eq!(first.as_ref().len(), len);
        let place = first.as_ref().as_ptr();
        drop(first);
        let again = Buffer::new(len - 5);
        assert_eq!((again.as_ref().as_ptr(), again.as_ref().len()), (place, len - 5));
        // The first is in use, and a small read does not get a much larger buffer.
        let other = Buffer::new(len);
        assert_ne!(other.as_ref().as_ptr(), place);
        drop(again);
        assert_ne!(Buffer::new(local::MIN_BYTES).as_ref().as_ptr(), place);
        assert_eq!(Buffer::new(3).as_ref(), [0; 3]);

        // Waiting buffers do not exceed the limit.
        let all: Vec<Buffer> = (0..60).map(|_| Buffer::new(local::STEP_BYTES)).collect();
        drop(all);
        let idle = IDLE.lock().unwrap();
        assert!(idle.iter().map(Vec::len).sum::<usize>() <= local::IDLE_BYTES);
    }
}
