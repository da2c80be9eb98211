//! The door to bytes: from a path or URL to a source to read, a sink to write, or a file to add to. No
//! other code knows which kinds of sources and sinks there are.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::http::{self, HttpOptions};
use crate::local::{LocalSink, LocalSource, LocalUpdate, Staging};
use crate::{Error, Result, Sink, Source};

/// How a resource is opened, where the defaults and the environment do not fit.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// How HTTP(S) and S3 are spoken; as the environment says where this is `None`.
    pub http: Option<HttpOptions>,
}

/// Opens a path or URL for reading.
///
/// # Errors
/// `Unsupported` for a URL of a scheme that this build does not know; `NotFound`, `IsADirectory`,
/// `InvalidInput` for another thing that is no regular file, and the system's.
pub fn open(location: impl AsRef<Path>) -> Result<Arc<dyn Source>> {
    open_with(location, &OpenOptions::default())
}

/// Opens a path or URL for reading, in a stated way.
///
/// # Errors
/// As [`open`].
pub fn open_with(location: impl AsRef<Path>, options: &OpenOptions) -> Result<Arc<dyn Source>> {
    let location = location.as_ref();
    if let Some(source) = http::open(location, options.http.as_ref()) {
        return source;
    }
    #[cfg(feature = "testing")]
    if let Some(url) = location.to_str()
        && scheme(url).is_some_and(|(scheme, _)| scheme == crate::testing::SCHEME)
    {
        return crate::testing::served(url);
    }
    let path = local(location, "open")?;
    Ok(Arc::new(LocalSource::open_as(location.display().to_string(), path)?))
}

/// Starts to write what will be at a path or URL. What is there is replaced on the commit with `force`,
/// and refused without.
///
/// # Errors
/// `Unsupported` for a URL of a scheme that this build does not know; `AlreadyExists` without `force`,
/// `IsADirectory`, `InvalidInput` for another path that is not a regular file, and the system's.
pub fn create(location: impl AsRef<Path>, force: bool) -> Result<Box<dyn Sink>> {
    let path = local(location.as_ref(), "create")?;
    Ok(Box::new(LocalSink::create(path, force)?))
}

/// As [`create`], but a commit leaves the complete file with the [`Staging`], where it can be read and
/// checked before it is published under its name.
///
/// # Errors
/// As [`create`].
pub fn stage(location: impl AsRef<Path>, force: bool) -> Result<(Box<dyn Sink>, Staging)> {
    let path = local(location.as_ref(), "create")?;
    let (sink, staging) = LocalSink::staged(path, force)?;
    Ok((Box::new(sink), staging))
}

/// A file that is changed in place: its old content, and the sink that adds to it.
pub struct Update {
    /// The file as it is now.
    pub source: Arc<dyn Source>,
    sink: LocalUpdate,
}

impl Update {
    /// The sink. The old content ends at byte `end`: what lies behind may be overwritten. Dropping the sink
    /// without a commit cuts off what was added, as long as nothing was written into the old content.
    pub fn into_sink(self, end: u64) -> Box<dyn Sink> {
        Box::new(self.sink.keep(end))
    }
}

/// Opens a file to add to it, locked against others that lock it.
///
/// # Errors
/// `Unsupported` for a URL of a scheme that this build does not know; `IsADirectory`, `InvalidInput` for
/// another thing that is no regular file, `WouldBlock` when another program has locked it, and the system's.
pub fn update(location: impl AsRef<Path>) -> Result<Update> {
    let sink = LocalUpdate::open(local(location.as_ref(), "open for writing")?)?;
    Ok(Update { source: Arc::new(sink.source()?), sink })
}

/// Do both locations lead to the same resource, also by links?
pub fn is_same(a: impl AsRef<Path>, b: impl AsRef<Path>) -> bool {
    let real = |location: &Path| local(location, "open").ok()?.canonicalize().ok();
    match (real(a.as_ref()), real(b.as_ref())) {
        (Some(a), Some(b)) => a == b || same_inode(&a, &b),
        _ => false,
    }
}

/// What `name` means that is written in the file at `location`: names that are not absolute count from the
/// folder of that file.
pub fn beside(location: &str, name: &str) -> PathBuf {
    if scheme(name).is_some() {
        return PathBuf::from(name);
    }
    let name = name.strip_prefix("file:").unwrap_or(name);
    Path::new(location).parent().unwrap_or(Path::new("")).join(name)
}

/// The local path that a location names.
fn local(location: &Path, action: &str) -> Result<PathBuf> {
    let Some((scheme, rest)) = location.to_str().and_then(scheme) else {
        // ROOT's short form.
        let short = location.to_str().and_then(|location| location.strip_prefix("file:"));
        return Ok(short.filter(|_| !location.exists()).map_or(location, Path::new).to_owned());
    };
    let refused = |kind, why| {
        Err(Error::new(location.display().to_string(), action, io::Error::new(kind, why)))
    };
    if !scheme.eq_ignore_ascii_case("file") {
        let why = format!(
            "this build of nyssa knows paths and file:// URLs, not {scheme}://; copy the file first"
        );
        return refused(io::ErrorKind::Unsupported, why);
    }
    let host = rest.find('/').map_or(rest, |slash| &rest[..slash]);
    if !host.is_empty() && host != "localhost" {
        let why = format!("a file:// URL names a file of this machine, not of {host}");
        return refused(io::ErrorKind::Unsupported, why);
    }
    let path = &rest[host.len()..];
    // ROOT writes names into URLs as they are, others with %20 for a space.
    match decoded(path).filter(|_| !Path::new(path).exists()) {
        Some(decoded) => Ok(decoded.into()),
        None => Ok(path.into()),
    }
}

/// The scheme of a URL, and what is behind `://`.
pub(crate) fn scheme(location: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = location.split_once("://")?;
    let mut chars = scheme.chars();
    let is_scheme = chars.next().is_some_and(|first| first.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some((scheme, rest))
}

/// The path of a URL without percent signs; `None` where it is no text then.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        let code = more.get(..2).filter(|_| first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            None => {
                bytes.push(first);
                rest = more;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(unix)]
fn same_inode(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (a.metadata(), b.metadata()) {
        (Ok(a), Ok(b)) => a.dev() == b.dev() && a.ino() == b.ino(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn same_inode(_: &Path, _: &Path) -> bool {
    false
}
