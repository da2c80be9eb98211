//! Locations that another part of the program opens, such as the file systems that Python knows.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::local::Upload;
use crate::location::{is_built_in, scheme};
use crate::{Entry, EntryKind, Result, Source};

/// Opens URLs of schemes that are not built in, and URLs of XRootD where its own client is to open them. Its
/// methods are those of this crate.
pub trait Bridge: Send + Sync {
    /// As [`crate::open`].
    ///
    /// # Errors
    /// `Unsupported` for a URL of a scheme that it does not know; those of the place.
    fn open(&self, url: &str) -> Result<Arc<dyn Source>>;

    /// As [`crate::create`]; the file is sent when it is complete.
    ///
    /// # Errors
    /// `Unsupported` for a URL of a scheme that it does not know; `AlreadyExists` without `force`; those of
    /// the place.
    fn create(&self, url: &str, force: bool) -> Result<Box<dyn Upload>>;

    /// As [`crate::kind`].
    ///
    /// # Errors
    /// `Unsupported` for a URL of a scheme that it does not know; those of the place.
    fn kind(&self, url: &str) -> Result<Option<EntryKind>>;

    /// As [`crate::list`].
    ///
    /// # Errors
    /// `NotFound`, `Unsupported`; those of the place.
    fn list(&self, url: &str) -> Result<Vec<Entry>>;
}

static BRIDGE: OnceLock<Box<dyn Bridge>> = OnceLock::new();

/// Sets what leads to other URLs, once for the process; later calls change nothing.
pub fn set_bridge(bridge: Box<dyn Bridge>) {
    let _ = BRIDGE.set(bridge);
}

/// Returns the bridge, if one is set.
pub(crate) fn installed() -> Option<&'static dyn Bridge> {
    BRIDGE.get().map(|bridge| &**bridge)
}

/// What leads to a URL that is not of a file of this machine, if there is such a thing.
pub(crate) fn bridge(location: &Path) -> Option<(&'static dyn Bridge, &str)> {
    let url = location.to_str()?;
    let is_other =
        |(scheme, _): &(&str, &str)| !scheme.eq_ignore_ascii_case("file") && !is_built_in(scheme);
    scheme(url).filter(is_other)?;
    Some((installed()?, url))
}
