//! Keeps open files. Files of origins stay open for a while, so that a request does not open them again.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nyssa_io::{Error, Result, Source};
use xxhash_rust::xxh3::xxh3_64;

use crate::conditions::Version;
use crate::roots::Location;

/// The time for which the file of an origin stays open. A new version of it is seen after that time.
const KEPT: Duration = Duration::from_secs(30);
/// The largest number of files of origins that stay open.
const MOST: usize = 64;

/// The files of origins that are open.
#[derive(Default)]
pub(crate) struct Sources(Mutex<HashMap<String, OriginFile>>);

struct OriginFile {
    opened: Opened,
    since: Instant,
}

/// An open file, with its version.
#[derive(Clone)]
pub(crate) struct Opened {
    pub source: Arc<dyn Source>,
    pub version: Version,
}

impl Sources {
    /// Opens a file.
    ///
    /// # Errors
    /// `NotFound`; `PermissionDenied`; `IsADirectory`; other failures of the system or of the origin.
    pub(crate) fn open(&self, place: &Location) -> Result<Opened> {
        let url = match place {
            Location::Local(path) => return open_local(path),
            Location::Remote(url) => url,
        };
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, file| file.since.elapsed() < KEPT);
        if let Some(file) = open.get(url) {
            return Ok(file.opened.clone());
        }
        // Other threads continue meanwhile.
        drop(open);
        let source = nyssa_io::open(url)?;
        let etag = source
            .version()
            .map(|version| format!("\"{:x}-{:016x}\"", source.size(), xxh3_64(version.as_bytes())));
        let opened = Opened { source, version: Version { etag, modified: None } };
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= MOST
            && let Some(oldest) = open.iter().min_by_key(|(_, file)| file.since)
        {
            let oldest = oldest.0.clone();
            open.remove(&oldest);
        }
        open.insert(url.clone(), OriginFile { opened: opened.clone(), since: Instant::now() });
        Ok(opened)
    }

    /// Removes the file of an origin, so that it is opened again next time. It has failed, or has changed.
    pub(crate) fn forget(&self, place: &Location) {
        if let Location::Remote(url) = place {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(url);
        }
    }
}

/// Opens a file of this machine. If the file is replaced meanwhile, it is opened again, so that bytes and
/// version are of the same file.
fn open_local(path: &Path) -> Result<Opened> {
    let about = || {
        let failed = |error| Error::new(path.display().to_string(), "open", error);
        fs::metadata(path).map(|about| version(&about)).map_err(failed)
    };
    let mut before = about()?;
    loop {
        let source = nyssa_io::open(path)?;
        let after = about()?;
        if before.etag == after.etag {
            return Ok(Opened { source, version: after });
        }
        before = after;
    }
}

fn version(about: &Metadata) -> Version {
    let modified = about.modified().ok();
    let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let time = since.unwrap_or_default().as_nanos();
    let etag = format!("\"{:x}-{time:x}-{:x}\"", about.len(), number(about));
    Version { etag: Some(etag), modified }
}

#[cfg(unix)]
fn number(about: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(about)
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> u64 {
    0
}
