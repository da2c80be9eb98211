//! Keeps complete files that do not have their final names yet.

use std::fmt::Debug;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::counted::open_by;
use crate::{Error, OpenOptions, Result, Source};

/// A handle to the complete file of a staged sink after the commit. The file can be read, but it gets its final
/// name only by [`Staging::publish`]. If all handles are dropped before that, the file is removed.
#[derive(Clone, Debug, Default)]
pub struct Staging(Arc<Mutex<Option<Box<dyn Finished>>>>);

/// A complete file under another name. It is removed if this is dropped before the file is published.
pub(crate) trait Finished: Debug + Send {
    /// Opens the file for reading.
    fn open(&self) -> Result<Arc<dyn Source>>;

    /// Makes the file durable and visible under its name.
    fn publish(self: Box<Self>) -> Result<()>;
}

impl Staging {
    pub(crate) fn put(&self, finished: Box<dyn Finished>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(finished);
    }

    /// Opens the complete file for reading.
    ///
    /// # Errors
    /// `NotFound` before the commit and after publishing; an error of the system.
    pub fn open(&self) -> Result<Arc<dyn Source>> {
        let finished = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(finished) = finished.as_ref() else {
            let error = io::Error::new(io::ErrorKind::NotFound, "it is not finished");
            return Err(Error::new("the output", "open", error));
        };
        open_by(&OpenOptions::default(), || finished.open())
    }

    /// Makes the file durable and visible under its name. Does nothing when there is no file.
    ///
    /// # Errors
    /// `AlreadyExists` if a file with that name has appeared and must not be replaced; an error of the
    /// system.
    pub fn publish(&self) -> Result<()> {
        let finished = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        finished.map_or(Ok(()), Finished::publish)
    }
}

/// Makes the error for a name that is already used.
pub(crate) fn exists() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "it exists already")
}
