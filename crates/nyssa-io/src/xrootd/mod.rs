//! Opens, writes and lists the files of XRootD servers, by the crate `nyssa_xrootd` or by XRootD's own client.

mod official;
mod sink;
mod source;

use std::sync::Arc;

use nyssa_xrootd::XrootdOptions;
use nyssa_xrootd::wire::{ListEntry, Stat};

use crate::bridge::Bridge;
use crate::local::LocalSink;
use crate::protocol::Protocol;
use crate::{EntryKind, Error, FolderEntry, OpenOptions, Result, Sink, Source, Staging};
use sink::XrootdSink;
use source::XrootdSource;

/// The protocol of URLs of the schemes `root` and `roots`.
pub(crate) struct Xrootd;

impl Protocol for Xrootd {
    fn open(&self, url: &str, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let without_credentials = options.without_credentials;
        let open = || -> Result<Arc<dyn Source>> {
            let stop = options.stop().unwrap_or_default();
            let mut by = options.xrootd.clone();
            by.without_credentials |= without_credentials;
            Ok(Arc::new(XrootdSource::open(url, &by, &stop)?))
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
        let find = || {
            let stat = nyssa_xrootd::stat(url, &XrootdOptions::default());
            let stat = stat.map_err(|error| Error::new(url, "find", error))?;
            Ok(stat.map(|stat| kind_of(&stat)))
        };
        official::either(url, "find", find, |bridge| bridge.kind(url))
    }

    fn list(&self, url: &str) -> Result<Vec<FolderEntry>> {
        let action = "list the folder";
        let entry = |entry: ListEntry| {
            let kind = entry.stat.as_ref().map_or(EntryKind::File, kind_of);
            FolderEntry { name: entry.name.into(), kind }
        };
        let list = || {
            let entries = nyssa_xrootd::list(url, &XrootdOptions::default());
            let entries = entries.map_err(|error| Error::new(url, action, error))?;
            Ok(entries.into_iter().map(entry).collect())
        };
        official::either(url, action, list, |bridge| bridge.list(url))
    }
}

/// Starts a file on this machine, which XRootD's own client sends to a URL when it is complete.
fn upload(url: &str, force: bool, bridge: &dyn Bridge) -> Result<LocalSink> {
    LocalSink::upload(url, bridge.create(url, force)?)
}

fn kind_of(stat: &Stat) -> EntryKind {
    if stat.is_folder { EntryKind::Folder } else { EntryKind::File }
}
