//! Defines what a protocol does.

use std::io;
use std::sync::Arc;

use crate::location::scheme;
use crate::{EntryKind, Error, FolderEntry, OpenOptions, Result, Sink, Source, Staging};

/// A protocol, which opens, writes and lists the resources of URLs of some schemes. The functions of this crate with
/// the names of its methods call it.
pub(crate) trait Protocol: Sync {
    fn open(&self, url: &str, options: &OpenOptions) -> Result<Arc<dyn Source>>;

    /// Returns the settings of the environment that decide which server a URL leads to. Most protocols have none.
    /// Returns `None` if the same URL may lead to another server in other processes.
    ///
    /// # Errors
    /// `InvalidInput` for settings that are not valid.
    fn server(&self, _url: &str) -> Result<Option<String>> {
        Ok(Some(String::new()))
    }

    /// Refuses to write. Protocols that can only read keep this default.
    fn create(&self, url: &str, _force: bool) -> Result<Box<dyn Sink>> {
        Err(only_reads(url))
    }

    /// Refuses to write. Protocols that can only read keep this default.
    fn stage(&self, url: &str, _force: bool) -> Result<(Box<dyn Sink>, Staging)> {
        Err(only_reads(url))
    }

    fn kind(&self, url: &str) -> Result<Option<EntryKind>>;

    fn list(&self, url: &str) -> Result<Vec<FolderEntry>>;
}

/// Returns the error of a URL that cannot be written.
pub(crate) fn only_reads(url: &str) -> Error {
    let scheme = scheme(url).map_or("such", |(scheme, _)| scheme);
    let why = format!("nyssa only reads {scheme}:// URLs; write a file here, and copy it");
    Error::new(url, "create", io::Error::new(io::ErrorKind::Unsupported, why))
}
