//! Sources under URLs of their own, so that tests can hand them to whatever takes a path or URL.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Entry, EntryKind, Error, Result, Source};

/// The scheme of the URLs.
pub(crate) const SCHEME: &str = "test";

type Served = BTreeMap<String, Arc<dyn Source>>;

static SERVED: Mutex<Served> = Mutex::new(BTreeMap::new());

fn all() -> MutexGuard<'static, Served> {
    SERVED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets [`open`](crate::open) find `source` under its name, which is `test://` and a word that no other test
/// of the process uses. Slashes in it make folders, which can be listed.
pub fn serve(source: Arc<dyn Source>) {
    all().insert(source.name().to_owned(), source);
}

/// The source of a URL.
pub(crate) fn served(url: &str) -> Result<Arc<dyn Source>> {
    let missing = || Error::new(url, "open", io::ErrorKind::NotFound.into());
    all().get(url).cloned().ok_or_else(missing)
}

/// What a URL names.
pub(crate) fn kind(url: &str) -> Option<EntryKind> {
    if all().contains_key(url) {
        return Some(EntryKind::File);
    }
    list(url).is_ok().then_some(EntryKind::Folder)
}

/// What lies in the folder of a URL.
pub(crate) fn list(url: &str) -> Result<Vec<Entry>> {
    let folder = format!("{}/", url.trim_end_matches('/'));
    let mut found = BTreeMap::new();
    for below in all().keys().filter_map(|name| name.strip_prefix(&folder)) {
        match below.split_once('/') {
            Some((name, _)) => found.insert(name.to_owned(), EntryKind::Folder),
            None => found.insert(below.to_owned(), EntryKind::File),
        };
    }
    if found.is_empty() {
        return Err(Error::new(url, "list the folder", io::ErrorKind::NotFound.into()));
    }
    Ok(found.into_iter().map(|(name, kind)| Entry { name: name.into(), kind }).collect())
}
