//! Opens locations that another part of the program knows, such as the file systems that Python knows.

use std::sync::{Arc, OnceLock};

use crate::local::{LocalSink, Upload};
use crate::protocol::Protocol;
use crate::{EntryKind, FolderEntry, OpenOptions, Result, Sink, Source, Staging};

/// A bridge to another part of the program that can open URLs: URLs of schemes that are not built in, and URLs
/// of XRootD if its own client must open them. Functions of this crate
/// have the names of its methods.
pub trait Bridge: Send + Sync {
    /// Opens the resource of a URL for reading.
    ///
    /// # Errors
    /// `Unsupported` for a URL of a scheme that it does not know; an error of the server.
    fn open(&self, url: &str) -> Result<Arc<dyn Source>>;

    /// Prepares an upload to a URL. The file is sent when it is complete. With `force`, it replaces an existing one.
    ///
    /// # Errors
    /// `Unsupported` for a URL of a scheme that it does not know; `AlreadyExists` without `force`; the errors
    /// of the server.
    fn create(&self, url: &str, force: bool) -> Result<Box<dyn Upload>>;

    /// Returns the kind of what a URL names, or `None` if nothing is there.
    ///
    /// # Errors
    /// `Unsupported` for a URL of a scheme that it does not know; an error of the server.
    fn kind(&self, url: &str) -> Result<Option<EntryKind>>;

    /// Returns the entries of the folder at a URL, in no order.
    ///
    /// # Errors
    /// `NotFound`; `Unsupported`; an error of the server.
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
