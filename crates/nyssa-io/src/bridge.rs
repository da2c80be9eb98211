//! Opens locations that another part of the program knows, such as the file systems that Python knows.

use std::sync::{Arc, OnceLock};

use crate::local::{LocalSink, Upload};
use crate::protocol::Protocol;
use crate::{EntryKind, FolderEntry, OpenOptions, Result, Sink, Source, Staging};

/// A bridge to another part of the program that can open URLs: URLs of schemes that are not built in, and URLs
/// of XRootD if its own client must open them. Its methods are those of this crate.
pub trait Bridge: Send + Sync {
    /// Does the same as [`crate::open`].
    ///
    /// # Errors
    /// `Unsupported` for a URL of a scheme that it does not know; the errors of the server.
    fn open(&self, url: &str) -> Result<Arc<dyn Source>>;

    /// Does the same as [`crate::create`]. The file is sent when it is complete.
    ///
    /// # Errors
    /// `Unsupported` for a URL of a scheme that it does not know; `AlreadyExists` without `force`; the errors
    /// of the server.
    fn create(&self, url: &str, force: bool) -> Result<Box<dyn Upload>>;

    /// Does the same as [`crate::kind`].
    ///
    /// # Errors
    /// `Unsupported` for a URL of a scheme that it does not know; the errors of the server.
    fn kind(&self, url: &str) -> Result<Option<EntryKind>>;

    /// Does the same as [`crate::list`].
    ///
    /// # Errors
    /// `NotFound`; `Unsupported`; the errors of the server.
    fn list(&self, url: &str) -> Result<Vec<FolderEntry>>;
}

/// The protocol of the URLs that the bridge opens.
struct Bridged(Box<dyn Bridge>);

impl Protocol for Bridged {
    fn open(&self, url: &str, _options: &OpenOptions) -> Result<Arc<dyn Source>> {
        self.0.open(url)
    }

    fn server(&self, _url: &str) -> Result<Option<String>> {
        Ok(None)
    }

    fn create(&self, url: &str, force: bool) -> Result<Box<dyn Sink>> {
        Ok(Box::new(LocalSink::upload(url, self.0.create(url, force)?)?))
    }

    fn stage(&self, url: &str, force: bool) -> Result<(Box<dyn Sink>, Staging)> {
        let sink = LocalSink::upload(url, self.0.create(url, force)?)?;
        let (sink, staging) = sink.with_staging();
        Ok((Box::new(sink), staging))
    }

    fn kind(&self, url: &str) -> Result<Option<EntryKind>> {
        self.0.kind(url)
    }

    fn list(&self, url: &str) -> Result<Vec<FolderEntry>> {
        self.0.list(url)
    }
}

static BRIDGE: OnceLock<Bridged> = OnceLock::new();

/// Sets the bridge of this process. Later calls change nothing.
pub fn set_bridge(bridge: Box<dyn Bridge>) {
    let _ = BRIDGE.set(Bridged(bridge));
}

/// Returns the bridge, if one is set.
pub(crate) fn installed() -> Option<&'static dyn Bridge> {
    BRIDGE.get().map(|bridge| &*bridge.0)
}

/// Returns the protocol of the URLs that the bridge opens, if a bridge is set.
pub(crate) fn protocol() -> Option<&'static dyn Protocol> {
    BRIDGE.get().map(|bridge| bridge as &dyn Protocol)
}
