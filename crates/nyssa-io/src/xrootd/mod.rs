//! Reads and writes files on XRootD servers: `root://`, and with TLS `roots://`.
//!
//! This is a client of the protocol in threads, without XRootD's own library.
//!
//! ```text
//! source, sink      what `open` and `create` return: ranges of a file; a file to write
//! streams           the connections over which one far file is read
//! upload, place     an open file that is written, under another name
//! part              ranges <-> requests and answers (no I/O)
//! file              an open file; found again when its server is lost
//! official          the choice between this client and XRootD's own one
//! client            requests about paths: redirects, waits, other replicas
//! pool              the connections of this process
//! connection, auth  one socket: login, writer, the thread that reads
//! wire, url         bytes and text of the protocol (no I/O)
//! ```
//!
//! One connection serves all files on a server. Far files get a few more connections. Requests of all threads
//! are sent on a connection at the same time, and answers come in any order. Requests that were in flight when
//! a connection was lost are sent again on another one. After `fork`, a child has connections of its own.

mod auth;
mod client;
mod connection;
mod deadline;
mod failure;
mod file;
mod folder;
mod official;
mod part;
mod place;
mod pool;
mod settings;
mod sink;
mod source;
mod streams;
mod upload;
mod url;
pub mod wire;

use std::io;
use std::sync::Arc;

use crate::bridge::Bridge;
use crate::local::LocalSink;
use crate::protocol::Protocol;
use crate::{EntryKind, Error, FolderEntry, OpenOptions, Result, Sink, Source, Staging};
use failure::Failure;
use settings::Settings;
use url::Url;

pub use settings::XrootdOptions;
pub use sink::XrootdSink;
pub use source::XrootdSource;
pub(crate) use wire::DEFAULT_PORT;

/// The protocol of URLs of the schemes `root` and `roots`.
pub(crate) struct Xrootd;

impl Protocol for Xrootd {
    fn open(&self, url: &str, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let without_credentials = options.without_credentials;
        let open = || -> Result<Arc<dyn Source>> {
            let stop = options.stop().unwrap_or_default();
            let by = XrootdOptions { without_credentials, ..options.xrootd.clone() };
            Ok(Arc::new(XrootdSource::open_until(url, &by, &stop)?))
        };
        if without_credentials {
            // XRootD's own client would find credentials.
            return open();
        }
        official::either(url, "open", open, |bridge| bridge.open(url))
    }

    fn create(&self, url: &str, force: bool) -> Result<Box<dyn Sink>> {
        let create =
            || -> Result<Box<dyn Sink>> { Ok(Box::new(XrootdSink::create(url, force, None)?)) };
        official::either(url, "create", create, |bridge| Ok(Box::new(upload(url, force, bridge)?)))
    }

    fn stage(&self, url: &str, force: bool) -> Result<(Box<dyn Sink>, Staging)> {
        type Staged = (Box<dyn Sink>, Staging);
        let stage = || -> Result<Staged> {
            let staging = Staging::default();
            Ok((Box::new(XrootdSink::create(url, force, Some(staging.clone()))?), staging))
        };
        let official = |bridge: &dyn Bridge| -> Result<Staged> {
            let (sink, staging) = upload(url, force, bridge)?.with_staging();
            Ok((Box::new(sink), staging))
        };
        official::either(url, "create", stage, official)
    }

    fn kind(&self, url: &str) -> Result<Option<EntryKind>> {
        let failed = |error| Error::new(url, "find", error);
        let find = || folder::stat(&parsed(url)?, &settings()?).map_err(Failure::into_io);
        let find = || find().map(|stat| stat.map(|stat| kind_of(&stat))).map_err(failed);
        official::either(url, "find", find, |bridge| bridge.kind(url))
    }

    fn list(&self, url: &str) -> Result<Vec<FolderEntry>> {
        let action = "list the folder";
        let failed = |error| Error::new(url, action, error);
        let list = || folder::list(&parsed(url)?, &settings()?).map_err(Failure::into_io);
        let entry = |one: wire::ListEntry| {
            let kind = one.stat.as_ref().map_or(EntryKind::File, kind_of);
            FolderEntry { name: one.name.into(), kind }
        };
        let list = || list().map(|all| all.into_iter().map(entry).collect()).map_err(failed);
        official::either(url, action, list, |bridge| bridge.list(url))
    }
}

/// Starts a file on this machine, which XRootD's own client sends to a URL when it is complete.
fn upload(url: &str, force: bool, bridge: &dyn Bridge) -> Result<LocalSink> {
    LocalSink::upload(url, bridge.create(url, force)?)
}

fn kind_of(stat: &wire::Stat) -> EntryKind {
    if stat.is_folder { EntryKind::Folder } else { EntryKind::File }
}

fn parsed(url: &str) -> io::Result<Url> {
    Url::parse(url).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))
}

fn settings() -> io::Result<Settings> {
    let new = Settings::new(&XrootdOptions::default());
    new.map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))
}
