//! Limits the number of files of a chain that are open.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nyssa_root::error::Result;

use super::MAX_OPEN;
use crate::dataset::AnyDataset;

/// Open files by their number in the chain. The file that was used last is the last.
pub(super) struct OpenFiles(Mutex<FileList>);

struct FileList {
    files: VecDeque<(usize, AnyDataset)>,
    /// The number of files that threads are opening.
    opening: usize,
}

impl OpenFiles {
    pub(super) fn new(files: VecDeque<(usize, AnyDataset)>) -> Self {
        Self(Mutex::new(FileList { files, opening: 0 }))
    }

    /// Returns file number `index`. `open` opens it if it is not open. Another file is closed first if
    /// [`MAX_OPEN`] files are open.
    ///
    /// # Errors
    /// Returns the error of `open` if it fails.
    pub(super) fn get(
        &self,
        index: usize,
        open: impl FnOnce() -> Result<AnyDataset>,
    ) -> Result<AnyDataset> {
        let mut state = self.lock();
        if let Some(dataset) = state.take(index) {
            state.files.push_back((index, Arc::clone(&dataset)));
            return Ok(dataset);
        }
        state.make_room();
        state.opening += 1;
        drop(state);
        let opened = open();
        let mut state = self.lock();
        state.opening -= 1;
        let dataset = opened?;
        // Another thread may have opened this file.
        state.take(index);
        state.files.push_back((index, Arc::clone(&dataset)));
        Ok(dataset)
    }

    /// Returns file number `index` if it is open.
    pub(super) fn find(&self, index: usize) -> Option<AnyDataset> {
        let state = self.lock();
        let mut files = state.files.iter();
        files.find(|(other, _)| *other == index).map(|(_, dataset)| Arc::clone(dataset))
    }

    /// Closes all files.
    pub(super) fn close(&self) {
        let files = std::mem::take(&mut self.lock().files);
        files.iter().for_each(|(_, dataset)| dataset.close());
    }

    fn lock(&self) -> MutexGuard<'_, FileList> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FileList {
    fn take(&mut self, index: usize) -> Option<AnyDataset> {
        let at = self.files.iter().position(|(other, _)| *other == index)?;
        self.files.remove(at).map(|(_, dataset)| dataset)
    }

    /// Drops files until one more may be open. Files that nobody reads are dropped first: the other files stay open
    /// as long as they are read.
    fn make_room(&mut self) {
        while self.files.len() + self.opening >= MAX_OPEN {
            let idle = self.files.iter().position(|(_, dataset)| Arc::strong_count(dataset) == 1);
            if self.files.remove(idle.unwrap_or(0)).is_none() {
                return;
            }
        }
    }
}
