//! Reads and writes files that Python knows: file objects, the file systems of fsspec, and XRootD's own client.
//!
//! The objects of `nyssa.files.bridge` do it. Python runs only while they are called; all threads of a job wait
//! without it.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use nyssa_io::{
    Bridge, Cost, EntryKind, Error, FolderEntry, Limits, LocalSink, NETWORK_OVER_READ, Result,
    Sink, Source, Upload, check_range, closed, shown,
};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyIsADirectoryError, PyNotADirectoryError,
    PyNotImplementedError, PyPermissionError, PyTimeoutError,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

/// The number of bytes that are handed to Python at once.
const CHUNK_BYTES: u64 = 8 << 20;
/// The maximum number of ranges in one call. A remote file reads them at the same time.
const MAX_RANGES: usize = 1000;
/// The maximum number of calls for a remote file at the same time.
const CONCURRENCY: usize = 2;
/// The cost of reading a remote file of which nothing is known yet. Most ranges are a request each.
const FAR: Cost = Cost {
    latency: Duration::from_millis(20),
    range: Duration::from_millis(1),
    bandwidth: 50_000_000,
};

/// A file that an object of Python reads.
pub(crate) struct PythonSource {
    name: String,
    location: PathBuf,
    size: u64,
    is_far: bool,
    ranges: Py<PyAny>,
    closed: AtomicBool,
}

impl PythonSource {
    /// Opens the file of a `nyssa.files.bridge.Ranges`.
    pub(crate) fn new(ranges: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name: String = ranges.getattr("name")?.extract()?;
        Ok(Self {
            name: shown(&name),
            location: name.into(),
            size: ranges.getattr("size")?.extract()?,
            is_far: ranges.getattr("is_far")?.extract()?,
            ranges: ranges.clone().unbind(),
            closed: AtomicBool::new(false),
        })
    }
}

impl Source for PythonSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn location(&self) -> &Path {
        &self.location
    }

    /// Returns the URL of a file of fsspec. The name of a file object may mean something else.
    fn origin(&self) -> Option<&Path> {
        nyssa_io::is_url(&self.location).then_some(&self.location)
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn limits(&self) -> Limits {
        match self.is_far {
            true => Limits {
                max_ranges: MAX_RANGES,
                max_range_bytes: CHUNK_BYTES,
                concurrency: CONCURRENCY,
                cost: FAR,
                over_read: NETWORK_OVER_READ,
                ..Limits::NONE
            },
            false => Limits::NONE,
        }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.check_open()?;
        ranges.iter().try_for_each(|range| check_range(&self.name, self.size, range))?;
        let wanted: Vec<(u64, u64)> = ranges.iter().map(|range| (range.start, range.end)).collect();
        let read = |py: Python<'_>| self.ranges.bind(py).call_method1("read", (wanted,))?.extract();
        let answers: Vec<PyBackedBytes> =
            attached(read).map_err(|error| Error::new(&self.name, "read", error))?;
        let fits = |(range, bytes): (&Range<u64>, &PyBackedBytes)| {
            range.end - range.start == bytes.len() as u64
        };
        if answers.len() != ranges.len() || !ranges.iter().zip(&answers).all(fits) {
            let reason =
                "it returned a wrong number of bytes; was it truncated after it was opened?";
            let error = io::Error::new(io::ErrorKind::UnexpectedEof, reason);
            return Err(Error::new(&self.name, "read", error));
        }
        Ok(answers.into_iter().map(Bytes::from_owner).collect())
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    fn check_open(&self) -> Result<()> {
        if !self.closed.load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(closed(&self.name))
    }
}

/// A complete file that an object of Python takes: a `nyssa.files.bridge.Output`.
pub(crate) struct PythonUpload {
    name: String,
    output: Py<PyAny>,
}

impl PythonUpload {
    pub(crate) fn new(output: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { name: output.getattr("name")?.extract()?, output: output.clone().unbind() })
    }

    pub(crate) fn name(&self) -> &String {
        &self.name
    }

    /// Returns a sink for it. What is written is kept in a file on this machine until it is complete.
    ///
    /// # Errors
    /// The error of the system if there is no place for temporary files.
    pub(crate) fn into_sink(self) -> Result<Box<dyn Sink>> {
        Ok(Box::new(LocalSink::upload(self.name.clone(), Box::new(self))?))
    }

    fn send(&self, file: &dyn Source) -> io::Result<()> {
        let mut start = 0;
        while start < file.size() {
            let end = file.size().min(start + CHUNK_BYTES);
            let chunk = file.read_range(start..end).map_err(|error| error.source)?;
            attached(|py| {
                let bytes = PyBytes::new(py, &chunk);
                self.output.bind(py).call_method1("write", (bytes,)).map(drop)
            })?;
            start = end;
        }
        attached(|py| self.output.bind(py).call_method0("finish").map(drop))
    }
}

impl Upload for PythonUpload {
    fn upload(self: Box<Self>, file: &dyn Source) -> io::Result<()> {
        let sent = self.send(file);
        if sent.is_err() {
            // The first error matters.
            let _ = attached(|py| self.output.bind(py).call_method0("discard").map(drop));
        }
        sent
    }
}

/// The functions of `nyssa.files.bridge` for URLs: fsspec opens URLs of schemes that nyssa does not know, and XRootD's
/// own client opens URLs of XRootD.
struct Urls;

impl Bridge for Urls {
    fn open(&self, url: &str) -> Result<Arc<dyn Source>> {
        let open = |py: Python<'_>| PythonSource::new(&call(py, "open_url", (url,))?);
        let source = attached(open).map_err(|error| Error::new(url, "open", error))?;
        Ok(Arc::new(source))
    }

    fn create(&self, url: &str, force: bool) -> Result<Box<dyn Upload>> {
        let create = |py: Python<'_>| PythonUpload::new(&call(py, "create_url", (url, force))?);
        let upload = attached(create).map_err(|error| Error::new(url, "create", error))?;
        Ok(Box::new(upload))
    }

    fn kind(&self, url: &str) -> Result<Option<EntryKind>> {
        let kind = |py: Python<'_>| call(py, "kind", (url,))?.extract::<Option<bool>>();
        let is_folder = attached(kind).map_err(|error| Error::new(url, "find", error))?;
        Ok(is_folder.map(entry_kind))
    }

    fn list(&self, url: &str) -> Result<Vec<FolderEntry>> {
        let list = |py: Python<'_>| call(py, "entries", (url,))?.extract::<Vec<(String, bool)>>();
        let entries = attached(list).map_err(|error| Error::new(url, "list the folder", error))?;
        let entry = |(name, folder): (String, bool)| FolderEntry {
            name: name.into(),
            kind: entry_kind(folder),
        };
        Ok(entries.into_iter().map(entry).collect())
    }
}

/// Lets nyssa ask Python about URLs that it cannot open itself.
pub(crate) fn install() {
    nyssa_io::set_bridge(Box::new(Urls));
}

fn entry_kind(is_folder: bool) -> EntryKind {
    if is_folder { EntryKind::Folder } else { EntryKind::File }
}

/// Calls a function of `nyssa.files.bridge`.
fn call<'py>(
    py: Python<'py>,
    function: &str,
    arguments: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import("nyssa.files.bridge")?.getattr(function)?.call1(arguments)
}

/// Runs Python; its exceptions become errors of the system. Nothing runs while Python ends.
fn attached<T>(work: impl FnOnce(Python<'_>) -> PyResult<T>) -> io::Result<T> {
    let run = |py: Python<'_>| work(py).map_err(|error| system_error(py, &error));
    let ended = || io::Error::other("Python has ended");
    Python::try_attach(run).unwrap_or_else(|| Err(ended()))
}

/// Returns the exception as an error of the system, by the class that is nearest.
fn system_error(py: Python<'_>, error: &PyErr) -> io::Error {
    let kind = if error.is_instance_of::<PyFileNotFoundError>(py) {
        io::ErrorKind::NotFound
    } else if error.is_instance_of::<PyPermissionError>(py) {
        io::ErrorKind::PermissionDenied
    } else if error.is_instance_of::<PyFileExistsError>(py) {
        io::ErrorKind::AlreadyExists
    } else if error.is_instance_of::<PyIsADirectoryError>(py) {
        io::ErrorKind::IsADirectory
    } else if error.is_instance_of::<PyNotADirectoryError>(py) {
        io::ErrorKind::NotADirectory
    } else if error.is_instance_of::<PyTimeoutError>(py) {
        io::ErrorKind::TimedOut
    } else if error.is_instance_of::<PyNotImplementedError>(py) {
        io::ErrorKind::Unsupported
    } else {
        io::ErrorKind::Other
    };
    // Messages of nyssa are shown as they are; messages of other errors with the name of their class.
    let text = error.value(py).to_string();
    let is_plain = error.value(py).hasattr("is_plain").unwrap_or(false);
    let text = match kind {
        io::ErrorKind::Unsupported | io::ErrorKind::AlreadyExists => text,
        _ if is_plain => text,
        _ => error.to_string(),
    };
    io::Error::new(kind, text)
}
