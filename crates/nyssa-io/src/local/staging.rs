//! Complete files that do not have their final names yet.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::NamedTempFile;

use super::source::LocalSource;
use crate::{Error, Result, Source};

/// Handle to the complete file of a staged [`super::LocalSink`] after the commit. The file can be read, but
/// it gets its final name only by [`Staging::publish`]. If all handles are dropped before that, the file is
/// removed.
#[derive(Clone, Debug, Default)]
pub struct Staging(Arc<Mutex<Option<Finished>>>);

/// A complete temporary file.
#[derive(Debug)]
pub(super) struct Finished {
    pub name: String,
    pub target: PathBuf,
    pub force: bool,
    pub temporary: NamedTempFile,
}

impl Staging {
    pub(super) fn put(&self, finished: Finished) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(finished);
    }

    /// Opens the complete file for reading.
    ///
    /// # Errors
    /// `NotFound` before the commit and after publishing; the system's.
    pub fn open(&self) -> Result<Arc<dyn Source>> {
        let finished = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(finished) = finished.as_ref() else {
            let error = io::Error::new(io::ErrorKind::NotFound, "it is not finished");
            return Err(Error::new("the output", "open", error));
        };
        Ok(Arc::new(LocalSource::open(finished.temporary.path())?))
    }

    /// Makes the file durable and visible under its name. Does nothing if there is no file.
    ///
    /// # Errors
    /// `AlreadyExists` if a file with that name has appeared and must not be replaced; those of the system.
    pub fn publish(&self) -> Result<()> {
        let finished = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        finished.map_or(Ok(()), Finished::publish)
    }
}

impl Finished {
    /// Makes the file durable and visible under its name.
    pub fn publish(self) -> Result<()> {
        let Self { name, target, force, temporary } = self;
        let failed = |error| Error::new(&name, "finish writing", error);
        temporary.as_file().sync_all().map_err(failed)?;
        let persisted =
            if force { temporary.persist(&target) } else { temporary.persist_noclobber(&target) };
        match persisted {
            Ok(_) => sync_directory(directory(&target)).map_err(failed),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(failed(exists()))
            }
            Err(error) => Err(failed(error.error)),
        }
    }
}

/// Makes the error for a name that is already used.
pub(super) fn exists() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "it exists already and is not to be replaced")
}

/// Returns the directory of a file.
pub(super) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Makes the new name durable, if the system can do this.
fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        // Some network file systems cannot do this for directories.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput
                    | io::ErrorKind::Unsupported
                    | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        result => result,
    }
}
