//! Reports what is in a cache folder, checks it, and removes it.

use std::io::ErrorKind;
use std::time::SystemTime;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use super::entry::{Entry, read_about};
use super::folder::Cache;
use super::limit::CachedFolder;
use super::record::Form;
use crate::{Error, Result};

/// The number of bytes that are read together to check them.
const CHECK_BYTES: u64 = 8 << 20;

/// The contents of a cache folder.
#[derive(Clone, Debug, Serialize)]
pub struct CacheReport {
    /// The resources. The resource that was used last comes first.
    pub resources: Vec<CachedResource>,
}

/// A resource, and what the cache keeps of it.
#[derive(Clone, Debug, Serialize)]
pub struct CachedResource {
    /// The name of its folder in the cache.
    pub folder: String,
    /// Its URL without user, password and query, or `None` if its description is damaged.
    pub url: Option<String>,
    /// Its size in bytes.
    pub size: u64,
    /// Its ETag or the time of its last change, if the server stated one.
    pub version: Option<String>,
    /// The number of its bytes that are kept as they are stored.
    pub stored_bytes: u64,
    /// The number of its bytes whose unpacked form is kept.
    pub unpacked_bytes: u64,
    /// The number of bytes that its folder takes.
    pub disk_bytes: u64,
    /// The time of its last use. In JSON it is text.
    #[serde(serialize_with = "as_text")]
    pub used: SystemTime,
}

/// The result of checking what the cache keeps of a resource.
#[derive(Clone, Debug, Default, Serialize)]
pub struct VerifiedResource {
    /// Its URL, or the name of its folder if its description is damaged.
    pub name: String,
    /// The number of records whose bytes were read.
    pub checked: u64,
    /// The number of bytes that were read.
    pub bytes: u64,
    /// The number of records of the index that are damaged.
    pub damaged_records: u64,
    /// The number of records whose bytes in the data file are damaged.
    pub damaged_blocks: u64,
    /// Whether the description of the resource is damaged, so that nothing of it is used.
    pub is_unknown: bool,
}

impl CachedResource {
    /// Returns the time of its last use as text, such as `2026-11-23T03:04:05Z`.
    pub fn last_use(&self) -> String {
        text(self.used)
    }
}

fn text(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let time = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    time.map(|time| time.to_string()).unwrap_or_default()
}

fn as_text<S: Serializer>(
    time: &SystemTime,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(*time))
}

impl VerifiedResource {
    /// Returns whether nothing is damaged.
    pub fn is_sound(&self) -> bool {
        self.damaged_records == 0 && self.damaged_blocks == 0 && !self.is_unknown
    }
}

impl Cache {
    /// Lists the resources.
    ///
    /// # Errors
    /// The cache folder cannot be read.
    pub fn report(&self) -> Result<CacheReport> {
        let mut resources: Vec<CachedResource> =
            self.listed()?.into_iter().map(|item| self.resource(item)).collect();
        resources.sort_by_key(|resource| std::cmp::Reverse(resource.used));
        Ok(CacheReport { resources })
    }

    /// Checks all bytes of the cache. Changes nothing.
    ///
    /// # Errors
    /// The cache folder cannot be read.
    pub fn verify(&self) -> Result<Vec<VerifiedResource>> {
        let mut all: Vec<_> = self.listed()?.into_iter().map(|item| self.verified(&item)).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// Removes the resources whose URLs `selects` accepts. `selects` gets `None` for a resource whose
    /// description is damaged. Returns the numbers of removed resources and bytes.
    ///
    /// # Errors
    /// The folder of a resource cannot be removed.
    pub fn clear(&self, selects: impl Fn(Option<&str>) -> bool) -> Result<(u64, u64)> {
        let (mut count, mut bytes) = (0, 0);
        for item in self.listed()? {
            let url = read_about(&item.path).map(|about| about.shown());
            if selects(url.as_deref()) {
                match self.remove(&item.path) {
                    // Another process has removed it.
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    removed => {
                        removed.map_err(|error| self.failed("remove a resource of", error))?;
                    }
                }
                count += 1;
                bytes += item.bytes;
            }
        }
        self.remove_leftovers();
        self.forget_removed();
        Ok((count, bytes))
    }

    fn listed(&self) -> Result<Vec<CachedFolder>> {
        self.resources().map_err(|error| self.failed("list", error))
    }

    fn failed(&self, action: &str, error: std::io::Error) -> Error {
        Error::new(self.folder().display().to_string(), format!("{action} the cache folder"), error)
    }

    fn entry(&self, folder: &CachedFolder) -> Option<Entry> {
        let about =
            read_about(&folder.path).filter(|about| folder.path.ends_with(about.folder()))?;
        Entry::look(self.folder(), about).ok()
    }

    fn resource(&self, cached: CachedFolder) -> CachedResource {
        let folder = cached.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let about = read_about(&cached.path);
        let (mut stored_bytes, mut unpacked_bytes) = (0, 0);
        if let Some(entry) = self.entry(&cached) {
            entry.with_index(|index| {
                stored_bytes = index.stored_bytes();
                let unpacked = index.records().filter(|record| record.form != Form::Stored);
                unpacked_bytes = unpacked.map(|record| record.length).sum();
            });
        }
        CachedResource {
            folder,
            url: about.as_ref().map(|about| about.shown()),
            size: about.as_ref().map_or(0, |about| about.size),
            version: about.and_then(|about| about.version),
            stored_bytes,
            unpacked_bytes,
            disk_bytes: cached.bytes,
            used: cached.used,
        }
    }

    fn verified(&self, cached: &CachedFolder) -> VerifiedResource {
        let folder = cached.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = read_about(&cached.path).map_or(folder, |about| about.shown());
        let mut verified = VerifiedResource { name, ..VerifiedResource::default() };
        let Some(entry) = self.entry(cached) else {
            return VerifiedResource { is_unknown: true, ..verified };
        };
        let mut records: Vec<_> = entry.with_index(|index| index.records().collect());
        records.sort_by_key(|record| record.place);
        verified.checked = records.len() as u64;
        verified.damaged_records = entry.damaged_records();
        let mut rest = records.as_slice();
        while !rest.is_empty() {
            let mut together = 0;
            let fits = |record: &&super::record::Record| {
                together += record.bytes;
                together <= CHECK_BYTES
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (now, later) = rest.split_at(count);
            rest = later;
            verified.damaged_blocks += entry.read(now.to_vec()).damaged().len() as u64;
            verified.bytes += now.iter().map(|record| record.bytes).sum::<u64>();
        }
        verified
    }
}
