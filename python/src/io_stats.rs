//! Shows to Python what was opened and read, and records it.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use nyssa_io::{IoCounts, IoStats, OpenOptions, trace};
use nyssa_root::{Error, process};
use pyo3::prelude::*;

use crate::errors::to_python;
use crate::report::json;

/// Returns what this process has opened and read, as JSON.
#[pyfunction]
pub fn io_stats(py: Python<'_>) -> PyResult<String> {
    shown(py, &IoStats::of_process().counts())
}

/// Returns what was opened and read by some options, as JSON.
pub fn of_options(py: Python<'_>, options: &[OpenOptions]) -> PyResult<String> {
    let counts = options.iter().map(|options| options.stats.counts());
    let counts = counts.reduce(|all, other| all.plus(&other));
    shown(py, &counts.unwrap_or_default())
}

/// Returns the lines of the table of counts in JSON, as the command line prints them.
#[pyfunction]
pub fn io_stats_lines(py: Python<'_>, counts: &str) -> PyResult<Vec<String>> {
    let counts = serde_json::from_str(counts).map_err(|error| {
        let what = "these counts have not the form of the counters";
        to_python(py, &Error::invalid_argument(what).with_source(error))
    })?;
    Ok(nyssa_cli::io_stats_lines(&counts))
}

fn shown(py: Python<'_>, counts: &IoCounts) -> PyResult<String> {
    json(counts).map_err(|error| to_python(py, &error))
}

/// A recording of the opens and reads of this process.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Recording(Mutex<Option<nyssa_observe::Recording>>);

/// Begins to record all opens and reads of this process in a file.
#[pyfunction]
pub fn record(py: Python<'_>, path: PathBuf) -> PyResult<Recording> {
    let recording = process::record(&path).map_err(|error| to_python(py, &error))?;
    Ok(Recording(Mutex::new(Some(recording))))
}

/// Returns what the recording in a file shows, as JSON: its summary, and the marks of its drawing.
#[pyfunction]
pub fn trace_summary(py: Python<'_>, path: PathBuf) -> PyResult<(String, String)> {
    let shown = py.detach(|| {
        let trace = trace::read(path)?;
        let summary = trace.summary();
        Ok((json(&summary)?, json(&trace.marks(&summary))?))
    });
    shown.map_err(|error: nyssa_root::Error| to_python(py, &error))
}

#[pymethods]
impl Recording {
    /// Ends the recording.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let recording = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let finished = recording.map_or(Ok(()), nyssa_observe::Recording::finish);
        finished.map_err(|error| to_python(py, &error.into()))
    }
}
