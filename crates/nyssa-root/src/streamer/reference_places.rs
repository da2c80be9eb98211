//! Records where the references are in the bytes of an object.

use std::fmt;
use std::ops::Range;

use super::possible_references::possible_reference;
use super::process_places::ProcessPlaces;
use crate::error::{Error, Result};

/// Finds the references in objects that are read as bytes.
pub(super) trait FindReferences: fmt::Debug + Send + Sync {
    /// Returns the places of references in an object, which count from `origin` bytes before it, and the places of the numbers
    /// of processes.
    fn places(&self, object: &[u8], origin: usize) -> Result<(ReferencePlaces, ProcessPlaces)>;
}

/// The places of references in the bytes of an object.
#[derive(Debug, Default)]
pub(super) struct ReferencePlaces {
    /// The places of references to objects and classes.
    pub references: Vec<usize>,
    /// The ranges of bytes that were not decoded, with the reason.
    pub unknown: Vec<(Range<usize>, String)>,
}

impl ReferencePlaces {
    /// Returns the places of all references in `object`, in order. They are counted from `origin` bytes before it.
    ///
    /// # Errors
    /// `Unsupported` with the reason if bytes that were not decoded may have a reference.
    pub(super) fn all(&self, object: &[u8], origin: usize) -> Result<Vec<usize>> {
        for (range, reason) in &self.unknown {
            if let Some(at) = possible_reference(object, range.clone(), origin) {
                return Err(Error::unsupported(format!(
                    "the bytes at byte {at} may be a reference, and nyssa does not decode them: {reason}"
                )));
            }
        }
        let mut references = self.references.clone();
        references.sort_unstable();
        references.dedup();
        Ok(references)
    }
}
