//! Keeps the location of a source, which its name does not show if it has secrets.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use crate::for_people::shown;
use crate::{Limits, Result, Source, Stop};

/// A source that was opened at a location.
pub(crate) struct Located {
    inner: Arc<dyn Source>,
    name: String,
    location: PathBuf,
}

/// Returns a source with the location at which it was opened.
pub(crate) fn located(inner: Arc<dyn Source>, location: &Path) -> Arc<dyn Source> {
    Arc::new(Located { inner, name: shown(location), location: location.to_owned() })
}

impl Source for Located {
    fn inner(&self) -> Option<&dyn Source> {
        Some(self.inner.as_ref())
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn location(&self) -> &Path {
        &self.location
    }

    fn size(&self) -> u64 {
        self.inner.size()
    }

    fn limits(&self) -> Limits {
        self.inner.limits()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.read_ranges(ranges)
    }

    fn read_ranges_until(&self, ranges: &[Range<u64>], stop: &Stop) -> Result<Vec<Bytes>> {
        self.inner.read_ranges_until(ranges, stop)
    }

    fn read_ranges_again(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.read_ranges_again(ranges)
    }
}
