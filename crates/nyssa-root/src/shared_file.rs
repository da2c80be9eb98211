//! Writes a ROOT file that several RNTuples, TTrees and other objects share.

mod objects;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::fill::Line;
use crate::rootfile::check_new_text;
use crate::rootfile::writer::RootFileWriter;
use crate::streamer::info::StreamerList;
use crate::streamer::{ObjectCopy, Refused};

/// A ROOT file that several writers share. A clone is cheap, and every write takes one short lock. The file
/// becomes visible with [`SharedFile::finish`].
#[derive(Clone)]
pub struct SharedFile {
    state: Arc<Mutex<FileInProgress>>,
    /// The work of its writers. It has one order, so that the file does not depend on the threads.
    line: Arc<Line>,
}

struct FileInProgress {
    /// The writer of the file. `None` when the file is finished.
    file: Option<RootFileWriter>,
    /// The paths of all objects that were started.
    paths: HashSet<String>,
    /// The paths of the objects that are not finished.
    open: HashSet<String>,
}

impl FileInProgress {
    fn start(&mut self, path: &str) {
        self.paths.insert(path.to_owned());
        self.open.insert(path.to_owned());
    }
}

impl SharedFile {
    /// Shares `file`.
    pub fn new(file: RootFileWriter) -> Self {
        let (paths, open) = (HashSet::new(), HashSet::new());
        let state = FileInProgress { file: Some(file), paths, open };
        Self { state: Arc::new(Mutex::new(state)), line: Arc::default() }
    }

    /// Returns the line for work of a writer that other threads do.
    pub fn line(&self) -> &Arc<Line> {
        &self.line
    }

    /// Completes the file and makes it visible. Returns its size in bytes.
    ///
    /// # Errors
    /// `InvalidArgument` when it was finished before or an object in it is still being written; the reason why an
    /// earlier write failed.
    pub fn finish(&self) -> Result<u64> {
        self.line.settle();
        self.locked(|state| {
            state.file.as_ref().map_or(Ok(()), RootFileWriter::check)?;
            if let Some(path) = state.open.iter().min() {
                return Err(Error::invalid_argument(format!(
                    "{path} is still being written: finish it before the file"
                )));
            }
            state.file.take().ok_or_else(finished)?.finish()
        })
    }

    /// Writes the objects of another file. Returns the objects that could not be copied.
    ///
    /// # Errors
    /// `InvalidArgument` when the file is finished; `Io` if the objects cannot be read or written.
    pub fn carry(&self, carry: &ObjectCopy) -> Result<Vec<Refused>> {
        self.in_order(|file| carry.write(file))
    }

    /// Adds streamer infos to the list of the file.
    ///
    /// # Errors
    /// `InvalidArgument` when the file is finished.
    pub fn add_streamer_infos(&self, infos: &StreamerList) -> Result<()> {
        self.with(|file| file.add_streamer_infos(infos))
    }

    /// Runs `write` on the file.
    pub fn with<T>(&self, write: impl FnOnce(&mut RootFileWriter) -> Result<T>) -> Result<T> {
        self.locked(|state| write(state.file.as_mut().ok_or_else(finished)?))
    }

    /// Runs `write` on the file after the work of its writers.
    fn in_order<T>(&self, write: impl FnOnce(&mut RootFileWriter) -> Result<T>) -> Result<T> {
        self.line.settle();
        self.with(write)
    }

    /// Reserves a path for an RNTuple or a TTree.
    pub fn begin(&self, path: &str) -> Result<()> {
        check_new_text("the path", path)?;
        self.locked(|state| {
            let file = state.file.as_ref().ok_or_else(finished)?;
            if file.has(path) || state.paths.contains(path) {
                return Err(Error::invalid_argument(format!("the file already has a {path}")));
            }
            state.start(path);
            Ok(())
        })
    }

    /// Reserves the path of an RNTuple in the file, to add to it.
    pub fn resume(&self, path: &str) -> Result<()> {
        self.locked(|state| {
            state.file.as_ref().ok_or_else(finished)?;
            if state.paths.contains(path) {
                return Err(Error::invalid_argument(format!("{path} is being written already")));
            }
            state.start(path);
            Ok(())
        })
    }

    /// Marks the object at a path as complete.
    pub fn end(&self, path: &str) {
        self.locked(|state| state.open.remove(path));
    }

    /// Forgets the object at a path, of which nothing is written, so that it can be begun again.
    pub fn forget(&self, path: &str) {
        self.locked(|state| {
            state.paths.remove(path);
            state.open.remove(path);
        });
    }

    fn locked<T>(&self, run: impl FnOnce(&mut FileInProgress) -> T) -> T {
        // If another thread panicked while it held the lock, at worst an unused gap is left, in a file that
        // this thread never commits.
        run(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn finished() -> Error {
    Error::invalid_argument("the file is already finished")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::Compression;
    use crate::rootfile::writer::FileOptions;
    use crate::streamer::Draft;

    #[test]
    fn names_and_titles_have_no_zero_bytes() {
        let (sink, _file) = nyssa_io::MemorySink::new("memory.root");
        let file = RootFileWriter::create(Box::new(sink), FileOptions::default()).unwrap();
        let file = SharedFile::new(file);
        let (object, plain) = (Draft::new("TNamed"), Compression::DEFAULT);
        for refused in [
            file.begin("dir\0/T"),
            file.make_directory("dir\0"),
            file.write_object("a\0b", "", &object, plain),
            file.write_object("a", "title\0", &object, plain),
        ] {
            let message = refused.unwrap_err().to_string();
            assert!(message.contains("has a zero byte, where ROOT would end it"), "{message}");
        }
    }
}
