//! Turns a path or URL into bytes: a source to read, a sink to write, a file to add to, or a list of the
//! entries of a folder. No other code asks whether a location is a path or which protocol a URL has, and no
//! other code accesses the disk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::counted::open_by;
use crate::fetch::read_all;
use crate::for_people::is_shown;
use crate::local::{self, LocalLines, LocalSink, LocalSource, LocalUpdate};
use crate::located::located;
use crate::location::{is_remote, is_url, local};
use crate::protocols::protocol;
use crate::{EntryKind, Error, FolderEntry, OpenOptions, Result, Sink, Source, Staging, Stop};

/// Opens a path or URL for reading.
///
/// # Errors
/// `Unsupported` for a URL of a scheme that this build does not know; `NotFound`; `IsADirectory`;
/// `InvalidInput` for a pipe or a device, and for a URL as it is shown to people; an error of the system.
pub fn open(location: impl AsRef<Path>) -> Result<Arc<dyn Source>> {
    open_with(location, &OpenOptions::default())
}

/// Opens a path or URL for reading, by options.
///
/// # Errors
/// `NotFound` and other errors of the system or of the server; `Unsupported` for a scheme that this build does not
/// know; `InvalidInput` for a pipe or a device, and for a URL as it is shown to people.
pub fn open_with(location: impl AsRef<Path>, options: &OpenOptions) -> Result<Arc<dyn Source>> {
    let location = location.as_ref();
    let Some((protocol, url)) = protocol(location) else {
        let path = local(location, "open")?;
        return open_by(options, || {
            Ok(Arc::new(LocalSource::open_as(location.display().to_string(), path)?))
        });
    };
    if is_shown(url) {
        let why = "its query is left out, because this text is for people: give the whole URL";
        return Err(Error::new(url, "open", io::Error::new(io::ErrorKind::InvalidInput, why)));
    }
    let (by, owned) = (options.clone(), url.to_owned());
    let open = move || {
        open_by(&by, || {
            let all = by.clone();
            until(by.stop(), &owned, "open", move |url| protocol.open(url, &all))
        })
    };
    let source = match options.cache.cache()? {
        Some(cache) => {
            let server = protocol.server(url)?;
            cache.open_source(url, server.as_deref(), options, Box::new(open))?
        }
        None => open()?,
    };
    Ok(located(source, location))
}

/// Starts to write the file at a path or URL. With `force`, an existing file is replaced on the commit. Without
/// `force` it is an error.
///
/// # Errors
/// `Unsupported` for a URL of a scheme that this build does not know; `AlreadyExists` without `force`;
/// `IsADirectory`; `InvalidInput` for another path that is not a regular file; an error of the system.
pub fn create(location: impl AsRef<Path>, force: bool) -> Result<Box<dyn Sink>> {
    let location = location.as_ref();
    if let Some((protocol, url)) = protocol(location) {
        return protocol.create(url, force);
    }
    let path = local(location, "create")?;
    Ok(Box::new(LocalSink::create(path, force)?))
}

/// Starts to write the file at a path or URL, as [`create`] does. The commit gives the complete file to the
/// [`Staging`], where it can be read and checked before it is published under its name.
///
/// # Errors
/// `Unsupported` for a URL of a scheme that this build does not know; `AlreadyExists` without `force`; an error of the
/// system or of the server.
pub fn stage(location: impl AsRef<Path>, force: bool) -> Result<(Box<dyn Sink>, Staging)> {
    let location = location.as_ref();
    if let Some((protocol, url)) = protocol(location) {
        return protocol.stage(url, force);
    }
    let path = local(location, "create")?;
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
    /// Returns the sink. The old content ends at byte `end`, and bytes after it may be overwritten. If the sink
    /// is dropped without a commit, the added bytes are removed, as long as nothing was written into the old
    /// content.
    pub fn into_sink(self, end: u64) -> Box<dyn Sink> {
        Box::new(self.sink.keep(end))
    }
}

/// Opens a file to add to it, and locks it against other programs that lock it.
///
/// # Errors
/// `Unsupported` for a URL of a scheme that this build does not know; `IsADirectory`; `InvalidInput` for
/// another thing that is not a regular file; `WouldBlock` when another program has locked it; an error of the
/// system.
pub fn update(location: impl AsRef<Path>) -> Result<Update> {
    let sink = LocalUpdate::open(local(location.as_ref(), "open for writing")?)?;
    let source = open_by(&OpenOptions::default(), || Ok(Arc::new(sink.source()?)))?;
    Ok(Update { source, sink })
}

/// Reads all bytes at a path or URL. A path may also be a pipe.
///
/// # Errors
/// `NotFound` and other errors of the system or of the server; `Unsupported` for a scheme that this build does not know.
pub fn read(location: impl AsRef<Path>) -> Result<Vec<u8>> {
    let location = location.as_ref();
    if is_remote(location) {
        let source = open(location);
        return read_source(&source.map_err(|error| Error { action: "read".to_owned(), ..error })?);
    }
    std::fs::read(local(location, "read")?)
        .map_err(|error| Error::new(location.display().to_string(), "read", error))
}

/// Writes a whole small file. An existing file is replaced when the new one is complete.
///
/// # Errors
/// `Unsupported` for a URL of a scheme that this build does not know; an error of the system or of the server.
pub fn write(location: impl AsRef<Path>, content: &[u8]) -> Result<()> {
    let written = create(location, true).and_then(|mut sink| {
        sink.write_at(0, content)?;
        sink.commit()
    });
    written.map_err(|error| Error { action: "write".to_owned(), ..error })
}

/// A text file that gets more lines; see [`lines`].
#[derive(Debug)]
pub struct Lines(LinesAt);

#[derive(Debug)]
enum LinesAt {
    Here(LocalLines),
    /// A file at a URL, where nothing can be added: its name and its content.
    There(PathBuf, String),
}

impl Lines {
    /// Adds a line, which has no end of line. A line that was only written in part does not touch the next one.
    ///
    /// # Errors
    /// The file cannot be written, for example on a full disk; at a URL also what the server refuses.
    pub fn add(&mut self, line: &str) -> Result<()> {
        match &mut self.0 {
            LinesAt::Here(file) => file.add(line),
            LinesAt::There(location, content) => {
                content.push_str(line);
                content.push('\n');
                write(&*location, content.as_bytes())
            }
        }
    }
}

/// Opens a text file to add lines to it, and returns its content. It is made if it does not exist. At a URL, each line
/// writes the whole file again.
///
/// # Errors
/// The file cannot be read or opened for writing: the kind comes from the system or from the answer of the server.
pub fn lines(location: impl AsRef<Path>) -> Result<(Lines, String)> {
    let location = location.as_ref();
    let text = |content: &[u8]| String::from_utf8_lossy(content).into_owned();
    if !is_remote(location) {
        let (file, content) = LocalLines::open(&local(location, "open for writing")?)?;
        return Ok((Lines(LinesAt::Here(file)), text(&content)));
    }
    let content = if exists(location) { text(&read(location)?) } else { String::new() };
    Ok((Lines(LinesAt::There(location.to_owned(), content.clone())), content))
}

/// Returns the kind of what a path or URL names. Returns `None` if nothing is there.
///
/// # Errors
/// `Unsupported` for a URL of a scheme that this build does not know or that cannot tell; an error of the
/// system.
pub fn kind(location: impl AsRef<Path>) -> Result<Option<EntryKind>> {
    let location = location.as_ref();
    if let Some((protocol, url)) = protocol(location) {
        return until(Stop::of_process(), url, "find", move |url| protocol.kind(url));
    }
    local::kind(&local(location, "find")?)
        .map_err(|error| Error::new(location.display().to_string(), "find", error))
}

/// Returns whether something is at a path or URL, as far as this can be found out.
pub fn exists(location: impl AsRef<Path>) -> bool {
    kind(location).is_ok_and(|kind| kind.is_some())
}

/// Returns the entries of a folder, in no order.
///
/// # Errors
/// `NotFound` if there is no such folder; `NotADirectory` if it is something else; `Unsupported` for a URL of a
/// scheme that this build does not know or that cannot list folders; an error of the system.
pub fn list(folder: impl AsRef<Path>) -> Result<Vec<FolderEntry>> {
    let (folder, action) = (folder.as_ref(), "list the folder");
    if let Some((protocol, url)) = protocol(folder) {
        return until(Stop::of_process(), url, action, move |url| protocol.list(url));
    }
    local::list(&local(folder, action)?)
        .map_err(|error| Error::new(folder.display().to_string(), action, error))
}

/// Makes a folder and those above it, if they do not exist. At a URL, folders come with their files.
///
/// # Errors
/// `NotADirectory` or `AlreadyExists` if a file has the name; an error of the system.
pub fn make_folder(folder: impl AsRef<Path>) -> Result<()> {
    let (folder, action) = (folder.as_ref(), "make the folder");
    if is_remote(folder) {
        return Ok(());
    }
    std::fs::create_dir_all(local(folder, action)?)
        .map_err(|error| Error::new(folder.display().to_string(), action, error))
}

/// Returns whether both locations lead to the same resource, also through links.
pub fn is_same(a: impl AsRef<Path>, b: impl AsRef<Path>) -> bool {
    let known = identity(a);
    known.is_some() && known == identity(b)
}

/// Returns a text that all locations of one resource have in common: links lead to the same file. `None` for a local file
/// that is not there.
pub fn identity(location: impl AsRef<Path>) -> Option<String> {
    let location = location.as_ref();
    match local(location, "open") {
        Ok(path) => local_identity(&path),
        Err(_) => location.to_str().filter(|_| is_url(location)).map(str::to_owned),
    }
}

/// Runs `work`, which waits for the server of a URL, until `stop` is given.
fn until<T: Send + 'static>(
    stop: Option<Stop>,
    url: &str,
    action: &str,
    work: impl FnOnce(&str) -> Result<T> + Send + 'static,
) -> Result<T> {
    let Some(stop) = stop else { return work(url) };
    let owned = url.to_owned();
    let done = stop.wait_for(move || work(&owned));
    done.unwrap_or_else(|error| Err(Error::new(url, action, error)))
}

fn read_source(source: &Arc<dyn Source>) -> Result<Vec<u8>> {
    let all = read_all(source, std::slice::from_ref(&(0..source.size())))?;
    Ok(all.into_iter().flatten().collect())
}

#[cfg(unix)]
fn local_identity(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().ok()?;
    Some(format!("{}:{}", metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn local_identity(path: &Path) -> Option<String> {
    Some(path.canonicalize().ok()?.display().to_string())
}
