//! Collects small writes, so that each of them does not need a system call or a request.

/// The bytes that are not written yet. They belong to one place of a file, without gaps.
#[derive(Debug)]
pub(crate) struct WriteBuffer {
    bytes: Vec<u8>,
    /// The offset of the first byte in the file.
    offset: u64,
    /// The largest number of bytes that are collected.
    capacity: usize,
}

impl WriteBuffer {
    /// Makes an empty buffer.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { bytes: Vec::new(), offset: 0, capacity }
    }

    /// Returns the largest number of bytes that are collected.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Stores bytes that belong at `offset`, and returns whether there was a place for them: inside the
    /// buffer, or directly after its end. An empty buffer takes up to its capacity at any offset.
    #[must_use]
    pub(crate) fn put(&mut self, offset: u64, data: &[u8]) -> bool {
        if self.bytes.is_empty() {
            self.offset = offset;
        }
        let Some(start) = self.position(offset, data.len()) else { return false };
        let inside = data.len().min(self.bytes.len() - start);
        self.bytes[start..start + inside].copy_from_slice(&data[..inside]);
        self.bytes.extend_from_slice(&data[inside..]);
        true
    }

    /// Takes what was collected, and its offset in the file. The buffer is empty then.
    pub(crate) fn take(&mut self) -> (u64, Vec<u8>) {
        (self.offset, std::mem::take(&mut self.bytes))
    }

    /// Takes back the memory of bytes that were taken and are written.
    pub(crate) fn reuse(&mut self, mut bytes: Vec<u8>) {
        bytes.clear();
        self.bytes = bytes;
    }

    /// Returns the position of `offset` in the buffer, if `len` bytes can be stored there.
    fn position(&self, offset: u64, len: usize) -> Option<usize> {
        let start = usize::try_from(offset.checked_sub(self.offset)?).ok()?;
        let fits = start <= self.bytes.len() && len <= self.capacity.checked_sub(start)?;
        fits.then_some(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_that_touch_are_collected() {
        let mut buffer = WriteBuffer::new(8);
        assert!(buffer.put(100, b"abcd"));
        assert!(buffer.put(104, b"ef") && buffer.put(101, b"BC"));
        // A gap, bytes before the first one, and more bytes than fit are refused.
        assert!(!buffer.put(107, b"x") && !buffer.put(99, b"x") && !buffer.put(106, b"xyz"));
        assert_eq!(buffer.take(), (100, b"aBCdef".to_vec()));
        assert!(!buffer.put(0, b"123456789") && buffer.put(7, b"12345678"));
        assert_eq!(buffer.take(), (7, b"12345678".to_vec()));
    }
}
