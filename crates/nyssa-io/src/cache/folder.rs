//! Opens a folder of cached resources for one process.

use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nyssa_net::PerProcess;
use serde::{Deserialize, Serialize};

use super::entry::let_others_read;
use super::record::Form;
use super::trusted;
use crate::location::local;
use crate::warning::warn;
use crate::{Error, Result};

/// The name of the file that says that a folder is a cache.
const MARKER: &str = "nyssa-cache.json";
/// The name of the file that is locked while something is removed.
pub(super) const LOCK: &str = "lock";
/// The format that this version reads and writes.
const FORMAT: u32 = 1;

/// The default for the largest number of bytes that a folder takes.
pub(super) const LIMIT_BYTES: u64 = 20_000_000_000;

/// A folder in which bytes of remote resources are kept. Clones share it.
#[derive(Clone, Debug)]
pub struct Cache(Arc<Folder>);

#[derive(Debug)]
struct Folder {
    folder: PathBuf,
    options: CacheOptions,
    /// Whether bytes are added. It becomes false after a write has failed, until the folder is opened again.
    writes: AtomicBool,
    /// Whether the user was warned that something could not be written.
    has_warned: AtomicBool,
    estimate: PerProcess<Mutex<Estimate>>,
}

/// The size of a folder, as this process estimates it.
#[derive(Debug, Default)]
pub(super) struct Estimate {
    /// The number of bytes in the folder when it was last measured.
    pub bytes: Option<u64>,
    /// The number of bytes that this process has added since then.
    pub added: u64,
    /// The time at which the folder had no space.
    pub full: Option<Instant>,
}

/// The options of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CacheOptions {
    /// The number of bytes that the folder may take, or `None` for no limit. Resources that were not used for
    /// longest are removed.
    pub limit: Option<u64>,
    /// The form in which pages and baskets are kept.
    pub form: Form,
    /// The time for which a resource is opened without its server, after the server has said which version it has. The
    /// server is then asked only for what the cache lacks. Zero means that it is always asked.
    pub max_age: Duration,
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self { limit: Some(LIMIT_BYTES), form: Form::Stored, max_age: Duration::ZERO }
    }
}

/// The action that errors name as impossible.
const USE: &str = "use the cache folder";

/// The folders that this process has opened, by their options.
static OPEN: PerProcess<Mutex<HashMap<(PathBuf, CacheOptions), Cache>>> = PerProcess::new();

#[derive(Serialize, Deserialize)]
struct Marker {
    format: u32,
}

impl Cache {
    /// Opens a cache folder, and makes it if it does not exist. A new folder can only be read by its owner.
    ///
    /// # Errors
    /// The folder cannot be made; `InvalidInput` if it has other files and is not a cache, or is of a later version of
    /// nyssa; `InvalidData` if it is damaged; `PermissionDenied` if it belongs to another user.
    pub fn open(folder: impl AsRef<Path>, options: CacheOptions) -> Result<Self> {
        let folder = folder.as_ref();
        let failed = |error| Error::new(folder.display().to_string(), USE, error);
        let absolute = std::path::absolute(local(folder, USE)?).map_err(failed)?;
        make(&absolute).map_err(failed)?;
        trusted::check_owner(&absolute).map_err(failed)?;
        let is_writable = begin(&absolute).map_err(failed)?;
        let mut open = OPEN.lock();
        let known = open.entry((absolute.clone(), options));
        let cache = known.or_insert_with(|| Self::of(absolute, options, is_writable));
        cache.0.writes.store(is_writable, Ordering::Relaxed);
        Ok(cache.clone())
    }

    /// Opens an existing cache folder, to examine it.
    ///
    /// # Errors
    /// `NotFound` if there is none; `InvalidInput` if it is not a cache.
    pub fn find(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let failed = |error| Error::new(folder.display().to_string(), USE, error);
        let absolute = std::path::absolute(local(folder, USE)?).map_err(failed)?;
        if !fs::metadata(&absolute).map_err(failed)?.is_dir() {
            return Err(failed(io::Error::new(ErrorKind::NotADirectory, "it is not a folder")));
        }
        if !is_cache(&absolute).map_err(failed)? {
            return Err(failed(other("it is not a cache of nyssa")));
        }
        Ok(Self::of(absolute, CacheOptions::default(), false))
    }

    fn of(folder: PathBuf, options: CacheOptions, writes: bool) -> Self {
        let (writes, has_warned) = (AtomicBool::new(writes), AtomicBool::new(false));
        let estimate = PerProcess::new();
        Self(Arc::new(Folder { folder, options, writes, has_warned, estimate }))
    }

    /// Returns the folder as an absolute path.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// Returns the options.
    pub fn options(&self) -> CacheOptions {
        self.0.options
    }

    /// Returns whether bytes are added.
    pub(super) fn writes(&self) -> bool {
        self.0.writes.load(Ordering::Relaxed)
    }

    /// Adds nothing from now on, and warns once in a process.
    pub(super) fn stop_writing(&self, why: &io::Error) {
        self.0.writes.store(false, Ordering::Relaxed);
        if !self.0.has_warned.swap(true, Ordering::Relaxed) {
            let folder = self.folder().display();
            warn(&format!("nyssa stores no more data in the cache folder {folder}: {why}"));
        }
    }

    pub(super) fn estimate(&self) -> &PerProcess<Mutex<Estimate>> {
        &self.0.estimate
    }
}

fn other(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, why)
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

/// Makes a folder, and those above it.
fn make(folder: &Path) -> io::Result<()> {
    if let Ok(metadata) = fs::metadata(folder) {
        return match metadata.is_dir() {
            true => Ok(()),
            false => Err(io::Error::new(ErrorKind::NotADirectory, "it is not a folder")),
        };
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Turns a folder into a cache. Returns whether this process may write into it.
fn begin(folder: &Path) -> io::Result<bool> {
    let is_known = is_cache(folder)?;
    if !is_known {
        let name = |entry: io::Result<fs::DirEntry>| entry.map(|entry| entry.file_name());
        let names = fs::read_dir(folder)?.map(name).collect::<io::Result<Vec<_>>>()?;
        let is_other = |name: &&std::ffi::OsString| !name.to_string_lossy().starts_with(".nyssa-");
        // Another process may have turned it into a cache meanwhile.
        if let Some(name) = names.iter().find(is_other)
            && !is_cache(folder)?
        {
            let name = name.display();
            return Err(other(&format!(
                "it has other files, such as {name}; name an empty folder"
            )));
        }
    }
    match write_marker(folder, is_known) {
        Err(_) if is_known => Ok(false),
        written => written.map(|()| true),
    }
}

/// Returns whether a folder is a cache.
fn is_cache(folder: &Path) -> io::Result<bool> {
    let text = match trusted::read(&folder.join(MARKER)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        text => text?,
    };
    let marker: Marker = serde_json::from_slice(&text)
        .map_err(|_| damaged(&format!("its file {MARKER} is damaged; remove the folder")))?;
    match marker.format {
        FORMAT => Ok(true),
        format => Err(other(&format!(
            "its format is {format}, which this version of nyssa does not know; name another folder"
        ))),
    }
}

/// Writes the marker if there is none. Otherwise tests whether the folder can be written.
fn write_marker(folder: &Path, is_known: bool) -> io::Result<()> {
    if is_known {
        let lock = folder.join(LOCK);
        return trusted::options().append(true).create(true).open(lock).map(drop);
    }
    let mut file = tempfile::Builder::new().prefix(".nyssa-").tempfile_in(folder)?;
    serde_json::to_writer(&mut file, &Marker { format: FORMAT })?;
    let_others_read(file.as_file())?;
    file.persist(folder.join(MARKER)).map_err(|error| error.error)?;
    Ok(())
}
