//! Remembers which version of a resource its server had, and when the server said so.
//!
//! The folder `seen` of a cache has one small file for each URL. It is replaced as a whole, so that other processes see
//! the old one or the new one. A file that is damaged, too old, or of a time that has not come yet counts as none.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::entry::read_about;
use super::folder::Cache;
use super::identity::Identity;
use super::trusted;

/// The name of the folder of these files.
const FOLDER: &str = "seen";

/// The file of one URL.
pub(super) struct Seen {
    path: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Content {
    /// The version that the server had.
    resource: Identity,
    /// The time, in milliseconds since 1970.
    time: u64,
    /// The checksum of both.
    checksum: String,
}

impl Seen {
    /// Returns the file for a URL. `server` tells apart servers that the environment names and the URL does not.
    pub(super) fn new(cache: &Cache, url: &str, server: &str) -> Self {
        let key = Identity::new(url, 0, Some(server.to_owned())).key();
        Self { path: cache.folder().join(FOLDER).join(format!("{key:032x}.json")) }
    }

    /// Returns what the server had, if it said so within the last `age` and the cache has a folder for it.
    pub(super) fn within(&self, age: Duration, cache: &Cache) -> Option<Identity> {
        let content = self.read()?;
        let then = UNIX_EPOCH.checked_add(Duration::from_millis(content.time))?;
        if SystemTime::now().duration_since(then).ok()? > age {
            return None;
        }
        let about = read_about(&cache.folder().join(content.resource.folder()))?;
        (about == content.resource).then_some(about)
    }

    /// Stores the version that the server has now. If it cannot be written, the server is asked again next time.
    pub(super) fn note(&self, resource: &Identity) {
        let _ = self.write(resource);
    }

    /// Forgets what the server had.
    pub(super) fn forget(&self) {
        if self.path.parent().is_none_or(|folder| trusted::check_folder(folder).is_err()) {
            return;
        }
        let _ = fs::remove_file(&self.path);
    }

    fn read(&self) -> Option<Content> {
        trusted::check_folder(self.path.parent()?).ok()?;
        let content: Content = serde_json::from_slice(&trusted::read(&self.path).ok()?).ok()?;
        (content.checksum == checksum(&content.resource, content.time)).then_some(content)
    }

    fn write(&self, resource: &Identity) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(&self.path);
        trusted::make_folder(folder)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = u64::try_from(now.as_millis()).unwrap_or_default();
        let checksum = checksum(resource, time);
        let content = Content { resource: resource.clone(), time, checksum };
        let mut file = tempfile::Builder::new().prefix(".seen-").tempfile_in(folder)?;
        file.write_all(&serde_json::to_vec(&content)?)?;
        super::entry::let_others_read(file.as_file())?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

impl Cache {
    /// Forgets what servers had of resources of which nothing is kept any more.
    pub(super) fn forget_removed(&self) {
        for file in fs::read_dir(self.folder().join(FOLDER)).into_iter().flatten().flatten() {
            let seen = Seen { path: file.path() };
            let is_kept = |content: Content| {
                fs::exists(self.folder().join(content.resource.folder())).unwrap_or(true)
            };
            if !seen.read().is_some_and(is_kept) {
                seen.forget();
            }
        }
    }
}

fn checksum(resource: &Identity, time: u64) -> String {
    format!("{:016x}", xxh3_64(format!("{:032x} {time}", resource.key()).as_bytes()))
}
