//! Complete files that do not have their names yet.

use std::fmt::Debug;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Error, Result, Source};

/// Where a staged sink leaves its file on commit: readable, not visible under its name before
/// [`Staging::publish`]. Removed when the last handle goes without that.
#[derive(Clone, Debug, Default)]
pub struct Staging(Arc<Mutex<Option<Box<dyn Finished>>>>);

/// A complete file under another name. It is removed when this goes and was not published.
pub(crate) trait Finished: Debug + Send {
    /// Opens it for reading.
    fn open(&self) -> Result<Arc<dyn Source>>;

    /// Makes it durable and visible under its name.
    fn publish(self: Box<Self>) -> Result<()>;
}

impl Staging {
    pub(crate) fn put(&self, finished: Box<dyn Finished>) {
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
        finished.open()
    }

    /// Makes the file durable and visible under its name; nothing when there is none.
    ///
    /// # Errors
    /// `AlreadyExists` when a file of that name has appeared and is not to be replaced; the system's.
    pub fn publish(&self) -> Result<()> {
        let finished = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        finished.map_or(Ok(()), Finished::publish)
    }
}

/// The error for a name that is taken.
pub(crate) fn exists() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "it exists already and is not to be replaced")
}
