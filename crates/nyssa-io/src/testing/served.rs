//! Serves sources under test URLs, so that tests can give them to all functions that take a path or URL.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::protocol::Protocol;
use crate::{EntryKind, Error, FolderEntry, OpenOptions, Result, Source};

/// The scheme of the URLs.
pub(crate) const SCHEME: &str = "test";

/// The sources by name, each with the number of times that it was opened.
type Sources = BTreeMap<String, (Arc<dyn Source>, usize)>;

static SERVED: Mutex<Sources> = Mutex::new(BTreeMap::new());

fn all() -> MutexGuard<'static, Sources> {
    SERVED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes `source` available to [`open`](crate::open) by its name, which is `test://` and a word that no other
/// test of the process uses. Slashes in the name make folders, which can be listed.
pub fn serve(source: Arc<dyn Source>) {
    all().insert(source.name().to_owned(), (source, 0));
}

/// Returns how often the source of a URL was opened.
pub fn times_opened(url: &str) -> usize {
    all().get(url).map_or(0, |(_, times)| *times)
}

/// The protocol of URLs of served sources.
pub(crate) struct Served;

impl Protocol for Served {
    fn open(&self, url: &str, _options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let missing = || Error::new(url, "open", io::ErrorKind::NotFound.into());
        let mut all = all();
        let (source, times) = all.get_mut(url).ok_or_else(missing)?;
        *times += 1;
        Ok(Arc::clone(source))
    }

    fn kind(&self, url: &str) -> Result<Option<EntryKind>> {
        if all().contains_key(url) {
            return Ok(Some(EntryKind::File));
        }
        Ok(self.list(url).is_ok().then_some(EntryKind::Folder))
    }

    fn list(&self, url: &str) -> Result<Vec<FolderEntry>> {
        let folder = format!("{}/", url.trim_end_matches('/'));
        let mut entries = BTreeMap::new();
        for below in all().keys().filter_map(|name| name.strip_prefix(&folder)) {
            match below.split_once('/') {
                Some((name, _)) => entries.insert(name.to_owned(), EntryKind::Folder),
                None => entries.insert(below.to_owned(), EntryKind::File),
            };
        }
        if entries.is_empty() {
            return Err(Error::new(url, "list the folder", io::ErrorKind::NotFound.into()));
        }
        Ok(entries
            .into_iter()
            .map(|(name, kind)| FolderEntry { name: name.into(), kind })
            .collect())
    }
}
