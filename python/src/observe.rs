//! Shows to Python what this process does: its reads, its time and its memory.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use nyssa_io::{IoStats, OpenOptions, trace};
use nyssa_observe::ProfileReport;
use nyssa_root::{Error, Result, process};
use pyo3::prelude::*;

use crate::errors::to_python;
use crate::report::json;

/// Returns what this process has opened and read, as JSON.
#[pyfunction]
pub(crate) fn io_stats(py: Python<'_>) -> PyResult<String> {
    result(py, || json(&IoStats::of_process().counts()))
}

/// Returns what was opened and read by some options, as JSON.
pub(crate) fn io_stats_of(py: Python<'_>, options: &[OpenOptions]) -> PyResult<String> {
    let counts = options.iter().map(|options| options.stats.counts());
    let counts = counts.reduce(|all, other| all.plus(&other));
    result(py, || json(&counts.unwrap_or_default()))
}

/// Gives memory that was freed back to the system.
#[pyfunction]
pub(crate) fn release_memory(py: Python<'_>) {
    py.detach(nyssa_root::arena::release_memory);
}

/// Returns the lines of the table of counts in JSON, as the command line prints them.
#[pyfunction]
pub(crate) fn io_stats_lines(py: Python<'_>, counts: &str) -> PyResult<Vec<String>> {
    let why = "these counts have not the form of the counters";
    let counts = serde_json::from_str(counts);
    let counts = counts.map_err(|error| Error::invalid_argument(why).with_source(error));
    result(py, || Ok(nyssa_cli::io_stats_lines(&counts?)))
}

/// Returns what the recording in a file shows, as JSON: its summary, and the marks of its drawing.
#[pyfunction]
pub(crate) fn trace_summary(py: Python<'_>, path: PathBuf) -> PyResult<(String, String)> {
    result(py, || {
        let trace = trace::read(path)?;
        let summary = trace.summary();
        Ok((json(&summary)?, json(&trace.marks(&summary))?))
    })
}

/// Begins to record all opens and reads of this process in a file.
#[pyfunction]
pub(crate) fn record(py: Python<'_>, path: PathBuf) -> PyResult<Recording> {
    Running::start(py, || process::record(&path)).map(Recording)
}

/// A recording of the opens and reads of this process.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Recording(Running<nyssa_observe::Recording>);

#[pymethods]
impl Recording {
    /// Ends the recording.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.0.finish(py, "recording", |recording| Ok(recording.finish()?))
    }
}

/// A running monitor.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Monitor(Running<nyssa_observe::Monitor>);

#[pymethods]
impl Monitor {
    /// Starts a monitor that writes to `path` each `interval` seconds.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, interval: f64) -> PyResult<Self> {
        let start = || process::monitor(&path, nyssa_observe::interval(interval)?);
        Running::start(py, start).map(Self)
    }

    /// Ends the monitor, and returns the summary as JSON.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        self.0.finish(py, "monitor", |monitor| json(&monitor.finish()?))
    }
}

/// A running profiler.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Profiler(Running<nyssa_observe::Profiler>);

#[pymethods]
impl Profiler {
    /// Starts a profiler.
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        Running::start(py, || Ok(nyssa_observe::Profiler::start()?)).map(Self)
    }

    /// Ends the profiler, and returns what it has measured.
    fn finish(&self, py: Python<'_>) -> PyResult<Profile> {
        self.0.finish(py, "profiler", |profiler| Ok(Profile(profiler.finish())))
    }
}

/// What a profiler has measured.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Profile(ProfileReport);

#[pymethods]
impl Profile {
    /// Returns the sums as JSON.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        result(py, || json(&self.0))
    }

    /// Returns the tables that the command line prints.
    fn table(&self) -> String {
        nyssa_cli::profile_table(&self.0)
    }

    /// Returns the content of the page.
    fn html(&self) -> String {
        nyssa_cli::profile_body(&self.0)
    }

    /// Returns the page.
    fn page(&self) -> String {
        nyssa_cli::profile_page(&self.0)
    }

    /// Returns trace events as JSON.
    fn perfetto(&self, py: Python<'_>) -> PyResult<String> {
        result(py, || Ok(self.0.to_perfetto()?))
    }
}

/// An observation that runs until it is finished, which is possible once.
struct Running<T>(Mutex<Option<T>>);

impl<T: Send> Running<T> {
    fn start(py: Python<'_>, start: impl FnOnce() -> Result<T> + Send) -> PyResult<Self> {
        Ok(Self(Mutex::new(Some(result(py, start)?))))
    }

    fn finish<R: Send>(
        &self,
        py: Python<'_>,
        name: &str,
        finish: impl FnOnce(T) -> Result<R> + Send,
    ) -> PyResult<R> {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ended = || Error::invalid_argument(format!("the {name} has ended"));
        result(py, || finish(running.ok_or_else(ended)?))
    }
}

/// Runs `work` while other threads of Python run.
fn result<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(work).map_err(|error| to_python(py, &error))
}
