//! A file in memory that is changed in place.

use std::sync::{Arc, Mutex, PoisonError};

use nyssa_io::{Result, Sink};

/// The bytes of the file; clones share them.
#[derive(Clone, Default)]
pub struct InPlace(Arc<Mutex<Vec<u8>>>);

impl InPlace {
    /// Returns a file of these bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(bytes)))
    }

    /// Returns the present bytes of the file.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Sink for InPlace {
    fn name(&self) -> &str {
        "fuzz.root"
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The end that a file claims is not beyond its size; otherwise it would not have been opened.
        let start = offset as usize;
        let end = bytes.len().max(start + data.len());
        bytes.resize(end, 0);
        bytes[start..start + data.len()].copy_from_slice(data);
        Ok(())
    }

    fn commit(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
