//! Keeps compressed pages and baskets on the local disk, because fetching them again would wait for a server.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use nyssa_io::Spill;

use crate::error::Result;
use crate::heuristics::container;

/// The temporary file to which compressed pages are appended.
#[derive(Default)]
pub(super) struct CompressedFile(Option<Current>);

struct Current {
    spill: Arc<Mutex<Spill>>,
    end: u64,
    /// The process that made the file. A forked process would write at the same place as its parent.
    process: u32,
}

/// A compressed page or basket in a temporary file.
#[derive(Clone)]
pub struct CompressedPage {
    spill: Arc<Mutex<Spill>>,
    offset: u64,
    size: usize,
    process: u32,
}

impl CompressedFile {
    /// Writes a page.
    ///
    /// # Errors
    /// `Io`, for example for a full disk.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<CompressedPage> {
        let process = std::process::id();
        let usable = |file: &Current| file.process == process && file.end < container::FILE_BYTES;
        let new = || Current { spill: Arc::default(), end: 0, process };
        let current = match self.0.take().filter(usable) {
            Some(current) => self.0.insert(current),
            None => self.0.insert(new()),
        };
        let spill = Arc::clone(&current.spill);
        let offset = spill.lock().unwrap_or_else(PoisonError::into_inner).append(bytes)?;
        current.end = offset + bytes.len() as u64;
        Ok(CompressedPage { spill, offset, size: bytes.len(), process })
    }
}

impl CompressedPage {
    /// Returns the number of bytes of the page.
    pub fn size(&self) -> u64 {
        self.size as u64
    }

    /// Returns whether this process wrote the page.
    pub fn is_here(&self) -> bool {
        self.process == std::process::id()
    }

    /// Reads the page.
    ///
    /// # Errors
    /// `Io` if the file cannot be read.
    pub fn read(&self) -> Result<Bytes> {
        let mut bytes = vec![0; self.size];
        let mut spill = self.spill.lock().unwrap_or_else(PoisonError::into_inner);
        spill.read(self.offset, &mut bytes)?;
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_back_from_one_file_and_from_the_next() {
        let mut file = CompressedFile::default();
        let large = vec![7; container::FILE_BYTES as usize];
        let first = file.append(b"abc").unwrap();
        let second = file.append(&large).unwrap();
        let third = file.append(b"defg").unwrap();
        assert!(
            Arc::ptr_eq(&first.spill, &second.spill) && !Arc::ptr_eq(&first.spill, &third.spill)
        );
        assert_eq!(&first.read().unwrap()[..], b"abc");
        assert_eq!(&second.read().unwrap()[..], large);
        assert_eq!(&third.read().unwrap()[..], b"defg");
        assert!(third.is_here() && third.size() == 4);
    }
}
