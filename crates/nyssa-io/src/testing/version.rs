//! Gives a source a version.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::source::same_resource;
use crate::{Limits, Result, Source};

/// A source whose version is known, like a file on a server.
pub struct WithVersion {
    inner: Arc<dyn Source>,
    version: String,
}

impl WithVersion {
    /// Gives `inner` a version.
    pub fn new(inner: Arc<dyn Source>, version: impl Into<String>) -> Self {
        Self { inner, version: version.into() }
    }
}

impl Source for WithVersion {
    same_resource!(inner);

    fn version(&self) -> Option<String> {
        Some(self.version.clone())
    }

    fn limits(&self) -> Limits {
        self.inner.limits()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.read_ranges(ranges)
    }
}
