//! Keeps a cache folder below its limit. Whole resources are removed, beginning with those that were not used
//! for longest.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

use super::entry::{ABOUT, DATA, INDEX};
use super::folder::{Cache, Estimate, LOCK};
use super::identity::is_folder;
use super::trusted;
use crate::heuristics::cache;
use crate::local::{Lock, lock};

/// The start of the names of folders that are being removed.
const REMOVED: &str = ".nyssa-removed-";

/// The folder of a resource, as it is on the disk.
pub(super) struct CachedFolder {
    pub path: PathBuf,
    /// The number of bytes of its files.
    pub bytes: u64,
    /// The time of its last use.
    pub used: SystemTime,
}

impl Cache {
    /// Returns whether `bytes` may be added to the folder `own`. If necessary, removes resources that were not
    /// used for longest.
    pub(super) fn has_room(&self, bytes: u64, own: &Path) -> bool {
        let Some(limit) = self.options().limit else { return true };
        let mut estimate = self.estimate().lock();
        if estimate.full.is_some_and(|full| full.elapsed() < cache::FULL_TIME) {
            return false;
        }
        let is_old = estimate.added > limit / cache::PARTS;
        let known = estimate.bytes.filter(|_| !is_old).map(|known| known + estimate.added);
        let mut total = match known {
            Some(total) if total.saturating_add(bytes) <= limit => total,
            _ => {
                *estimate = Estimate::default();
                let folders = self.resources().unwrap_or_default();
                let total = folders.iter().map(|item| item.bytes).sum::<u64>();
                match total.saturating_add(bytes) > limit {
                    true => total - self.remove_oldest(folders, total, limit, bytes, own),
                    false => total,
                }
            }
        };
        estimate.bytes.get_or_insert(total);
        total = total.saturating_add(bytes);
        if total > limit {
            estimate.full = Some(Instant::now());
            return false;
        }
        estimate.added += bytes;
        true
    }

    /// Returns the folders of all resources, in no order.
    ///
    /// # Errors
    /// The cache folder cannot be listed.
    pub(super) fn resources(&self) -> io::Result<Vec<CachedFolder>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(self.folder())? {
            let entry = entry?;
            if is_folder(&entry.file_name().to_string_lossy()) {
                all.extend(cached_folder(entry.path()));
            }
        }
        Ok(all)
    }

    /// Removes the resources that were not used for longest until there is space for `bytes`, and some more.
    /// Returns the number of bytes that were removed. Removes nothing while another process removes something.
    fn remove_oldest(
        &self,
        mut folders: Vec<CachedFolder>,
        total: u64,
        limit: u64,
        bytes: u64,
        own: &Path,
    ) -> u64 {
        let Some(_lock) = self.lock() else { return 0 };
        self.remove_leftovers();
        let most = (limit - limit / cache::FREED).saturating_sub(bytes);
        let mut removed = 0;
        folders.sort_by_key(|item| item.used);
        for item in folders.iter().filter(|item| item.path != own) {
            if total - removed <= most {
                break;
            }
            // The time of the last use may have changed.
            let is_used =
                self::cached_folder(item.path.clone()).is_none_or(|now| now.used > item.used);
            if !is_used && self.remove(&item.path).is_ok() {
                removed += item.bytes;
            }
        }
        self.forget_removed();
        removed
    }

    /// Removes the folder of a resource. Sources that have it open continue to read it if the system allows
    /// that.
    ///
    /// # Errors
    /// The folder cannot be removed.
    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let (process, number) = (process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let place = self.folder().join(format!("{REMOVED}{process}-{number}"));
        // Other processes see the whole folder or none.
        fs::rename(path, &place)?;
        match fs::remove_dir_all(&place) {
            // Another process removes a folder that it takes for a leftover.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Removes the leftovers of processes that were killed while they removed something.
    pub(super) fn remove_leftovers(&self) {
        for entry in fs::read_dir(self.folder()).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(REMOVED) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Locks the folder against others that remove something, until the file is dropped.
    pub(super) fn lock(&self) -> Option<File> {
        let path = self.folder().join(LOCK);
        let file = trusted::options().append(true).create(true).open(path).ok()?;
        (lock(&file) != Lock::Taken).then_some(file)
    }
}

fn cached_folder(path: PathBuf) -> Option<CachedFolder> {
    trusted::check_folder(&path).ok()?;
    let used = fs::metadata(path.join(ABOUT)).and_then(|about| about.modified());
    let used = used.or_else(|_| fs::metadata(&path)?.modified()).ok()?;
    let size = |name| fs::symlink_metadata(path.join(name)).map_or(0, |metadata| metadata.len());
    let bytes = [ABOUT, INDEX, DATA].into_iter().map(size).sum();
    Some(CachedFolder { path, bytes, used })
}
